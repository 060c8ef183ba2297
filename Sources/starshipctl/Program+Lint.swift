/// `lint`: the one command that speaks with a proxy itself.

import Bytes
import Commands
import LinuxIO
import Profiles
import Upstreams
import Wire

extension Program {
    /// Tries a proxy out and shows its marks.
    func lint(_ order: LintOrder) throws(Failure) -> Int32 {
        var plan = LintPlan(Wire.Target(host: Self.host(order.server.host), port: order.server.port))
        plan.user = order.user
        if let file = order.passwordFile { plan.password = try password(file) }
        if let site = order.site { plan.site = Self.host(site) }
        plan.idle = order.idle
        plan.timeout = order.timeout
        // Past the tunnel, where there is one: with the mark that the daemon's sockets bear.
        if Socket.mayMark() { plan.mark = NetworkOptions().mark.value }
        let report: LintReport
        do throws(SystemCallError) {
            report = try Lint.run(plan)
        } catch {
            throw Failure("\(error)")
        }
        let sheet = Self.sheet(report, order.server)
        let rendered = sheet.rendered(style)
        print(invocation.isJSON ? sheet.json.text + "\n" : rendered.text)
        return rendered.exitCode
    }

    private func password(_ file: String) throws(Failure) -> String {
        let octets: [UInt8]
        do throws(FileError) {
            octets = try SmallFile.readSecret(file)
        } catch {
            throw Failure("\(error)")
        }
        do throws(SecretError) {
            return try Secret.parse(file: octets.span).revealed
        } catch {
            throw Failure("\(file): \(error)")
        }
    }

    private static func host(_ host: Profiles.Upstream.Host) -> Wire.Host {
        switch host {
        case .address(let address): .address(address)
        case .name(let name): .name(name)
        }
    }

    private static func sheet(_ report: LintReport, _ server: Profiles.Upstream.Server) -> LintSheet {
        var sheet = LintSheet(server: server)
        sheet.type = report.type
        sheet.kind = report.kind.rawValue
        sheet.grade = mark(report.grade)
        sheet.rows = report.checks.map { check in
            LintSheet.Row(
                check.name.rawValue, mark(check.verdict), check.words,
                milliseconds: check.took.map { Int($0.milliseconds) })
        }
        sheet.settings = report.settings.map { setting in
            let value: JSON =
                switch setting.value {
                case .text(let text): .string(text)
                case .flag(let flag): .boolean(flag)
                }
            return LintSheet.Setting(
                setting.key, value, reason: setting.reason, isUpstreams: setting.isUpstreams)
        }
        sheet.notes = report.notes
        return sheet
    }

    private static func mark(_ verdict: LintCheck.Verdict) -> LintSheet.Mark {
        switch verdict {
        case .good: .good
        case .odd: .odd
        case .bad: .bad
        case .unknown: .unknown
        }
    }
}
