/// The order in which a proxy is tried, and what ends the trial early.

import Addresses
import Bytes
import LinuxIO
import Wire

/// What was seen, for the advice at the end.
struct LintFindings: Equatable {
    /// What the proxy has said of itself: heads, error pages, its page for browsers.
    var voices: [UInt8] = []
    /// Who has signed the certificate that the site seems to have.
    var issuer: String?
    var isSOCKS = false
    /// CONNECT to port 80 is refused, and whether absolute form is taken in its place.
    var refusesPort80 = false
    var takesAbsoluteForm = false
    var endsAtHalfClose = false
    var saysYesToAnything = false
}

struct LintRun: ~Copyable {
    let plan: LintPlan
    var report: LintReport
    var findings = LintFindings()
    var way: LintTunnel.Way
    /// None where a tunnel has no origin of ours at its end.
    var noOrigin: LintOrigin?
    /// The tunnel that is left alone, its origin, and since when.
    var quiet: LintTunnel?
    var quietOrigin: LintOrigin?
    var quietSince = Instant.never

    init(_ plan: LintPlan) throws(SystemCallError) {
        self.plan = plan
        report = LintReport(server: plan.server)
        way = LintTunnel.Way(
            address: SocketAddress(IPAddress(v4: 0), 0), mark: plan.mark, timeout: plan.timeout)
    }

    mutating func note(_ name: LintCheck.Name, _ verdict: LintCheck.Verdict, _ words: String, _ took: Interval? = nil) {
        report.checks.append(LintCheck(name, verdict, words, took: took))
    }

    /// Tries everything that can be tried.
    mutating func run() throws(SystemCallError) -> LintReport {
        if let address = try reach() {
            way.address = address
            if try enter() {
                try tryPort80()
                try tryOwnOrigin()
                try tryHalfClose()
                try tryUnknownHost()
                try tryIdle()
            }
            try hearPage()
            if report.type != nil {
                let advice = LintAdvice(findings)
                report.kind = advice.kind
                report.settings = advice.settings
                report.notes += advice.notes
            }
        }
        report.checks.sort { Self.place($0.name) < Self.place($1.name) }
        return report
    }

    private static func place(_ name: LintCheck.Name) -> Int {
        LintCheck.Name.allCases.firstIndex(of: name) ?? 0
    }

    // MARK: Getting there

    /// Resolves and connects; returns the address that answered first.
    private mutating func reach() throws(SystemCallError) -> SocketAddress? {
        let addresses = try resolve()
        guard !addresses.isEmpty else { return nil }
        var best: (address: SocketAddress, took: Interval)?
        var failures: [String] = []
        for address in addresses.prefix(4) {
            let place = SocketAddress(address, plan.server.port)
            let start = Clock.now()
            do throws(SystemCallError) {
                _ = try LintLine.open(to: place, mark: plan.mark, until: start + min(plan.timeout, .seconds(5)))
                let took = Clock.now() - start
                if best.map({ took < $0.took }) ?? true { best = (place, took) }
            } catch {
                failures.append("\(place): \(error.errno)")
            }
        }
        guard let best else {
            note(.connect, .bad, failures.joined(separator: "; "))
            return nil
        }
        let others = failures.isEmpty ? "" : "; but \(failures.joined(separator: "; ")): clients that try it first wait"
        note(.connect, failures.isEmpty ? .good : .odd, "\(best.address)\(others)", best.took)
        return best.address
    }

    private mutating func resolve() throws(SystemCallError) -> [IPAddress] {
        guard case .name(let name) = plan.server.host else {
            if case .address(let address) = plan.server.host { return [address] }
            return []
        }
        let start = Clock.now()
        let bell = try WakeUp()
        let resolver = try NameResolver(wakeUp: bell, threads: 1, capacity: 1)
        _ = resolver.resolve(name, ticket: 0)
        _ = bell.wait(atMost: plan.timeout)
        let took = Clock.now() - start
        guard let answer = resolver.nextResult() else {
            note(.name, .bad, "the resolver does not answer", took)
            return []
        }
        switch answer.result {
        case .success(let addresses):
            let isSlow = took > .seconds(1)
            let list = addresses.prefix(4).map(\.description).joined(separator: ", ")
            note(.name, isSlow ? .odd : .good, list + (isSlow ? ", slowly" : ""), took)
            return addresses
        case .failure(let error):
            note(.name, .bad, "\(name): \(error)", took)
            return []
        }
    }

    // MARK: The first tunnel

    /// Asks for the site's port 443 and finds out what the proxy speaks and whether it lets us in.
    private mutating func enter() throws(SystemCallError) -> Bool {
        let site = Target(host: plan.site, port: 443)
        var tunnel = try LintTunnel.ask(for: site, way, origin: &noOrigin)
        if try isSOCKS(tunnel) {
            way.isSOCKS = true
            if let user = plan.user {
                way.login = SOCKS5Login(user: Array(user.utf8), password: Array((plan.password ?? "").utf8))
            }
            tunnel = try LintTunnel.ask(for: site, way, origin: &noOrigin)
        }
        findings.isSOCKS = way.isSOCKS
        findings.voices += tunnel.head.prefix(8192)
        guard try logIn(&tunnel, site) else { return false }
        switch tunnel.reply {
        case .malformed, .closed, .silent:
            guard try !isTLS() else {
                note(.port443, .bad, "it speaks TLS at this port, and the gateway speaks with proxies in clear")
                return false
            }
        case .open, .refused, .socksRefused, .wantsLogin, .socksLogin, .unreachable: break
        }
        switch tunnel.reply {
        case .malformed(let what):
            note(.port443, .bad, "its answer is \(what); an HTTP or SOCKS5 proxy is expected at this port")
            return false
        case .closed, .silent, .unreachable:
            note(.port443, .bad, "CONNECT \(site): \(tunnel.reply.words)", tunnel.took)
            if tunnel.reply == .silent {
                report.notes.append(
                    "Charles asks on its screen whether to let a new client in: look there, then try again")
            }
            return false
        case .open, .refused, .socksRefused, .wantsLogin, .socksLogin: break
        }
        report.type = way.isSOCKS ? "socks5" : "http"
        try judgeFirst(&tunnel, site)
        return true
    }

    /// Whether the port speaks SOCKS5 where an HTTP proxy's answer was no answer.
    private func isSOCKS(_ tunnel: borrowing LintTunnel) throws(SystemCallError) -> Bool {
        switch tunnel.reply {
        case .malformed, .closed, .silent: break
        case .open, .refused, .wantsLogin, .socksRefused, .socksLogin, .unreachable: return false
        }
        guard let line = try? LintLine.open(to: way.address, mark: plan.mark, until: Clock.now() + .seconds(3)) else {
            return false
        }
        guard try line.send([SOCKS5.version, 2, 0, 2], until: Clock.now() + .seconds(1)) else { return false }
        let answer = try line.read(2, until: Clock.now() + .seconds(3))
        return answer.count == 2 && answer[0] == SOCKS5.version && [0, 2, 0xff].contains(answer[1])
    }

    /// Whether the port answers a ClientHello: a proxy behind TLS.
    private func isTLS() throws(SystemCallError) -> Bool {
        let deadline = Clock.now() + min(plan.timeout, .seconds(3))
        guard let line = try? LintLine.open(to: way.address, mark: plan.mark, until: deadline),
            try line.send(Self.hello(to: plan.site), until: deadline)
        else { return false }
        // A record of a handshake or an alert, of TLS.
        let answer = try line.read(2, until: deadline)
        return answer.count >= 2 && [0x15, 0x16].contains(answer[0]) && answer[1] == 3
    }

    /// Shows the credentials once, if the proxy asks for any; false when there is no way in.
    private mutating func logIn(_ tunnel: inout LintTunnel, _ site: Target) throws(SystemCallError) -> Bool {
        if case .socksLogin(let isRejected) = tunnel.reply {
            let hint = isRejected ? "" : "; with a user and a password: --user NAME --password-file FILE"
            note(.login, .bad, tunnel.reply.words + hint)
            return false
        }
        guard case .wantsLogin(let schemes) = tunnel.reply else {
            if way.login != nil { note(.login, .good, "the login is accepted") }
            if !way.isSOCKS, plan.user != nil, tunnel.reply == .open { note(.login, .odd, "none is wanted") }
            return true
        }
        let list = schemes.isEmpty ? "407 without a scheme" : schemes.joined(separator: ", ")
        guard schemes.isEmpty || HTTPChallenge(Array(list.utf8)).offersBasic else {
            note(.login, .bad, "it accepts only \(list), and Basic is what the gateway speaks")
            return false
        }
        guard let user = plan.user, let credentials = BasicCredentials(user: user, password: plan.password ?? "")
        else {
            note(.login, .bad, "it wants one (\(list)): --user NAME --password-file FILE")
            return false
        }
        way.credentials = credentials
        tunnel = try LintTunnel.ask(for: site, way, origin: &noOrigin)
        findings.voices += tunnel.head.prefix(8192)
        if tunnel.reply.rejectsLogin {
            note(.login, .bad, "it rejects the credentials (\(list)); they were shown once and are not shown again")
            return false
        }
        note(.login, .good, "accepted (\(list))")
        return true
    }
}
