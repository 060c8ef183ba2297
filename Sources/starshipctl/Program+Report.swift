/// `report`: everything that helps whoever looks into a bug, in one text without secrets.

import Bytes
import Commands
import Control
import Digest
import Doctor
import LinuxIO
import Profiles

extension Program {
    func report(_ order: DoctorOrder) throws(Failure) -> Int32 {
        let examination = examine(order)
        var report = BugReport()
        let file = ConfigurationLook(examination.sight.setup.file)
        for configuration in [file.configuration, examination.configuration].compactMap(\.self) {
            report.secrets += Secrets.of(configuration, besides: examination.sight.setup.file)
        }
        if order.isAnonymous { report.names = Self.names(examination) }
        report.add("about", about(examination, order))
        report.add("doctor", Self.sheet(Diagnosis(of: examination.sight)).rendered(Style(isColoured: false)).text)
        report.add("configuration: \(examination.sight.setup.file)", document: file.bytes)
        for answer in examination.answers { report.add(answer.title, document: answer.body) }
        for (title, program, arguments) in Self.tools { report.add(title, Self.output(program, arguments)) }
        report.add("last events", lastEvents(examination.client))
        return try write(report.text, order.output)
    }

    private static let tools: [(title: String, program: String, arguments: [String])] = [
        ("interfaces", "ip", ["-d", "link"]), ("addresses", "ip", ["address"]), ("rules", "ip", ["rule"]),
        ("rules, IPv6", "ip", ["-6", "rule"]), ("routes", "ip", ["route", "show", "table", "all"]),
        ("routes, IPv6", "ip", ["-6", "route", "show", "table", "all"]),
        ("firewall", "nft", ["list", "table", "inet", "starship"]),
        (
            "service", "systemctl",
            [
                "show", "starshipd.service",
                "--property=LoadState,ActiveState,SubState,Result,NRestarts,ExecMainStatus,ExecMainCode,UnitFileState",
            ]
        ),
        ("journal", "journalctl", ["-u", "starshipd", "-n", "500", "--no-pager", "-o", "short-iso"]),
    ]

    /// What a tool says, or why it says nothing.
    private static func output(_ program: String, _ arguments: [String]) -> String {
        do throws(SystemCallError) {
            let outcome = try Tool.run(program, arguments, input: "", within: .seconds(10))
            return outcome.status == 0 ? outcome.output : "\(program) ended with \(outcome.status): \(outcome.errors)"
        } catch {
            return "\(error)"
        }
    }

    private func about(_ examination: Examination, _ order: DoctorOrder) -> String {
        let system = (try? SmallFile.read("/etc/os-release", limit: 65_536)).map { String(decoding: $0, as: UTF8.self) }
        let name = system?.split(separator: "\n").first { $0.hasPrefix("PRETTY_NAME=") }?.dropFirst(12) ?? "unknown"
        let time = Clock.unixTime().seconds
        var daemon = "not running"
        if case .running(let running) = examination.sight.daemon { daemon = running.version }
        return """
            starshipctl \(ProgramVersion.text)
            starshipd \(daemon)
            Linux \(examination.sight.kernel.release), \(name)
            \(examination.sight.tools.ip ?? "no ip"); \(examination.sight.tools.nft ?? "no nft")
            seconds since 1970: \(time)
            written by \(examination.sight.tools.isRoot ? "root" : "an ordinary user")

            Passwords, keys and tokens are replaced by \(Redaction.mark)\
            \(order.isAnonymous ? ", names and MACs of devices and public addresses by stand-ins" : ""). Read it before you
            send it: which hosts devices asked for, and the names of proxies, are in it.
            """
    }

    // MARK: Events

    /// The most time that is spent on what the daemon remembers.
    private static let listening = Interval.milliseconds(700)

    private func lastEvents(_ client: ControlClient) -> String {
        guard var stream = try? client.listen(since: "0"), var poller = try? Poller(),
            (try? poller.add(stream.descriptor, token: 0, events: .readable)) != nil
        else { return "no daemon to ask" }
        let deadline = Clock.now() + Self.listening
        var lines: [String] = []
        var events = [PolledEvent.none]
        while poller.wait(into: &events, until: deadline) > 0 {
            guard let taken = try? stream.take() else { break }
            lines += taken.map { "\($0.name) \($0.data)" }
        }
        return lines.suffix(500).joined(separator: "\n")
    }

    // MARK: Names and output

    /// Names of devices and the lab's own: what people gave, and what the DHCP server knows.
    private static func names(_ examination: Examination) -> [String] {
        var names = examination.configuration?.devices.map(\.name) ?? []
        for answer in examination.answers where answer.title == "devices" {
            guard let value = try? JSON5Reader.read(answer.body.span) else { continue }
            for device in Found(value)["devices"].elements {
                names += [device["name"].raw, device["proposal"].raw].compactMap(\.self)
            }
        }
        if let gateway = examination.configuration?.gateway { names.append(gateway) }
        names.append(HostName.current)
        return names
    }

    private func write(_ text: String, _ file: String?) throws(Failure) -> Int32 {
        guard let file else { return print(text) }
        do throws(SystemCallError) {
            try SmallFile.create(file, with: Array(text.utf8), mode: 0o600)
        } catch {
            guard error.errno == .fileExists else { throw Failure("\(error)") }
            throw Failure("\(file): found a file; expected a new name")
        }
        return print("\(file): \(text.utf8.count >> 10) KiB; read it before you send it\n")
    }
}

/// What must not be seen of a configuration: what stands in the files that it names.
private enum Secrets {
    static func of(_ configuration: Configuration, besides path: String) -> [String] {
        var secrets: [String] = []
        for profile in configuration.profiles {
            guard let credentials = profile.upstream.credentials else { continue }
            switch credentials.password {
            case .given(let secret): secrets += forms(credentials.user, secret.revealed)
            case .file(let file): if let text = text(of: file, path) { secrets += forms(credentials.user, text) }
            }
        }
        for user in (configuration.socks?.users ?? []) + (configuration.http?.users ?? []) {
            if let text = text(of: user.passwordFile, path) { secrets += forms(user.name, text) }
        }
        for key in configuration.keys {
            if let text = text(of: key.file, path) { secrets += [text, text.lowercased(), text.uppercased()] }
        }
        return secrets
    }

    /// As it is, and as Basic credentials carry it (RFC 7617, section 2).
    private static func forms(_ user: String, _ password: String) -> [String] {
        let pair = Array("\(user):\(password)".utf8)
        return [password, Base64.standard.encode(pair.span)]
    }

    /// The first line; the daemon takes paths from its configuration's directory, or as they are.
    private static func text(of file: String, _ configuration: String) -> String? {
        for path in [file, ConfigurationLook.path(of: file, besides: configuration)] {
            guard let bytes = try? SmallFile.read(path, limit: 65_536) else { continue }
            let line = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline).first
            if let line, !line.isEmpty { return String(line) }
        }
        return nil
    }
}
