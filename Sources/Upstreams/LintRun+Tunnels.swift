/// What the proxy says to requests: to a web site's ports, and to a host that does not exist.

import Bytes
import Health
import LinuxIO
import Wire

extension LintRun {
    /// Judges the answer for port 443, looks at its form, and at the certificate behind it.
    mutating func judgeFirst(_ tunnel: inout LintTunnel, _ site: Target) throws(SystemCallError) {
        switch tunnel.reply {
        case .open:
            note(.port443, .good, "CONNECT \(site): yes", tunnel.took)
            try judgeFraming(&tunnel)
            try look(&tunnel, site)
        default:
            let isOrigins = isAboutOrigin(tunnel.reply)
            let hint = isOrigins ? "; name a site behind it: --site HOST" : ""
            note(.port443, isOrigins ? .unknown : .bad, "CONNECT \(site): \(tunnel.reply.words)\(hint)", tunnel.took)
        }
    }

    /// Whether a no is about who is behind the proxy.
    func isAboutOrigin(_ reply: LintReply) -> Bool {
        let failure: DialFailure
        switch reply {
        case .refused(let status, let text): failure = .refused(status: status, text: text)
        case .socksRefused(let code): failure = .socksRefused(code: code)
        default: return false
        }
        if case .originFailing = Cause(failure) { return true }
        return false
    }

    /// The head of a yes: what RFC 9110, section 9.3.6 says of it, and whether anything is glued to it that nobody
    /// behind it has sent.
    private mutating func judgeFraming(_ tunnel: inout LintTunnel) throws(SystemCallError) {
        guard !way.isSOCKS else { return }
        // A server behind port 443 never speaks first.
        if tunnel.leftover.isEmpty,
            case .octets(let more) = try tunnel.line.value.read(until: Clock.now() + .milliseconds(150))
        {
            tunnel.leftover = more
        }
        let head = LintHead(tunnel.head)
        var oddities = head.oddities
        guard tunnel.leftover.isEmpty else {
            let words = HTTPErrorText.clean(Array(tunnel.leftover.prefix(40)))
            note(.framing, .bad, "\(tunnel.leftover.count) octets behind its yes that no server has sent: \"\(words)\"")
            return
        }
        if tunnel.head.count > 4096 { oddities.append("a head of \(tunnel.head.count) octets") }
        let line = HTTPErrorText.clean(Array(tunnel.head.prefix { $0 != 0x0a }))
        note(.framing, oddities.isEmpty ? .good : .odd, ([line] + oddities).joined(separator: "; "))
    }

    /// Whose certificate the site has, seen through the proxy.
    private mutating func look(_ tunnel: inout LintTunnel, _ site: Target) throws(SystemCallError) {
        let deadline = Clock.now() + plan.timeout
        guard try tunnel.line.value.send(Self.hello(to: site.host), until: deadline) else {
            note(.certificate, .unknown, "the tunnel is closed at once")
            return
        }
        switch try Self.flight(tunnel.line.value, until: deadline) {
        case .certificate(let names):
            findings.issuer = names.issuer
            note(.certificate, .good, "\(site.host)'s is signed by \(names.issuer)")
        case .failure(let words):
            note(.certificate, .unknown, words)
        }
    }

    static func hello(to host: Host) -> [UInt8] {
        var random = SystemRandom()
        var hello: [UInt8] = []
        TLSServerFlight.writeHello(
            to: host, random: (random.next(), random.next(), random.next(), random.next()), into: &hello)
        return hello
    }

    static func flight(
        _ line: borrowing LintLine, until deadline: Instant
    ) throws(SystemCallError) -> TLSServerFlight.Outcome {
        var flight = TLSServerFlight()
        while true {
            switch try line.read(until: deadline) {
            case .octets(let octets):
                if let outcome = flight.receive(octets.span) { return outcome }
            case .end: return .failure("the tunnel is closed without a certificate")
            case .silent: return .failure("nothing comes back through the tunnel")
            }
        }
    }

    /// How plain http goes: with CONNECT to port 80, or in absolute form.
    mutating func tryPort80() throws(SystemCallError) {
        let site = Target(host: plan.site, port: 80)
        let tunnel = try LintTunnel.ask(for: site, way, origin: &noOrigin)
        findings.voices += tunnel.head.prefix(8192)
        guard case .refused(let status, _) = tunnel.reply, status == 403 || status == 405 else {
            let isOrigins = isAboutOrigin(tunnel.reply)
            note(
                .port80, tunnel.reply == .open ? .good : isOrigins ? .unknown : .bad,
                "CONNECT \(site): \(tunnel.reply.words)", tunnel.took)
            return
        }
        findings.refusesPort80 = true
        let answer = try fetch("GET http://\(site.host)/ HTTP/1.1\r\nHost: \(site.host)\r\n", withCredentials: true)
        let head = LintHead(answer)
        findings.takesAbsoluteForm = head.status.map { $0 != 403 && $0 != 405 && $0 != 407 } ?? false
        note(
            .port80, findings.takesAbsoluteForm ? .odd : .bad,
            "CONNECT \(site): \(tunnel.reply.words); in absolute form: "
                + (head.status.map { "status \($0)" } ?? "no answer"), tunnel.took)
    }

    /// Sends a request on a connection of its own, and returns the beginning of the answer.
    func fetch(_ head: String, withCredentials: Bool) throws(SystemCallError) -> [UInt8] {
        let deadline = Clock.now() + plan.timeout
        guard let line = try? LintLine.open(to: way.address, mark: plan.mark, until: deadline) else { return [] }
        var request = Array((head + "Accept: */*\r\nConnection: close\r\n").utf8)
        if withCredentials { way.credentials?.writeProxyAuthorization(into: &request) }
        request += [0x0d, 0x0a]
        guard try line.send(request, until: deadline) else { return [] }
        var answer: [UInt8] = []
        var limit = deadline
        while answer.count < 16384, case .octets(let more) = try line.read(until: limit) {
            answer += more
            // The page behind the head is waited for a moment, because it may name the program.
            if limit == deadline, LintHead(answer).isComplete {
                limit = min(deadline, Clock.now() + .milliseconds(300))
            }
        }
        return answer
    }

    /// What it says of a host that does not exist (RFC 6761, section 6.4).
    mutating func tryUnknownHost() throws(SystemCallError) {
        let target = Target(host: .name("no-such-host.invalid"), port: 443)
        let tunnel = try LintTunnel.ask(for: target, way, origin: &noOrigin)
        findings.voices += tunnel.head.prefix(8192)
        let slow = tunnel.took > .seconds(3) ? ", after a long time" : ""
        switch tunnel.reply {
        case .open:
            findings.saysYesToAnything = true
            note(.unknownHost, .odd, "it says yes before it knows the host: a yes is no proof of anything", tunnel.took)
        case .refused, .socksRefused:
            note(.unknownHost, slow.isEmpty ? .good : .odd, tunnel.reply.words + slow, tunnel.took)
        case .closed: note(.unknownHost, .odd, "it closes without a word", tunnel.took)
        default: note(.unknownHost, .odd, tunnel.reply.words, tunnel.took)
        }
    }

    /// What it shows to a browser that takes it for a web server: its name, as a rule.
    mutating func hearPage() throws(SystemCallError) {
        guard !way.isSOCKS else { return }
        findings.voices += try fetch("GET / HTTP/1.1\r\nHost: \(plan.server)\r\n", withCredentials: false)
    }
}

/// The head of an answer, looked at for its form.
struct LintHead {
    private let lines: [String]
    private let hasBareLineFeeds: Bool
    /// Whether the empty line behind it is there.
    private(set) var isComplete = false

    init(_ octets: [UInt8]) {
        let text = String(decoding: octets, as: UTF8.self)
        let head = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
        var lines: [String] = []
        // What stands behind the last line feed is no line yet.
        for line in head.dropLast() {
            let line = String(String.UnicodeScalarView(line.last == "\r" ? line.dropLast() : line))
            if line.isEmpty, !lines.isEmpty {
                isComplete = true
                break
            }
            if !line.isEmpty { lines.append(line) }
        }
        self.lines = lines
        hasBareLineFeeds = head.first?.last != "\r"
    }

    /// The status of the first line.
    var status: Int? {
        guard let words = lines.first?.split(separator: " "), words.count > 1, words[0].hasPrefix("HTTP/") else {
            return nil
        }
        return Int(words[1])
    }

    /// What a strict reader of a yes would stumble over; the gateway doesn't.
    var oddities: [String] {
        var found: [String] = []
        if hasBareLineFeeds { found.append("lines end with a bare line feed") }
        let names = lines.dropFirst().map { $0.prefix { $0 != ":" }.lowercased() }
        for name in ["content-length", "transfer-encoding"] where names.contains(name) {
            found.append("\(name) on a yes, where it means nothing (RFC 9110, section 9.3.6)")
        }
        if lines.dropFirst().contains(where: { !$0.contains(":") }) { found.append("a line that is no field") }
        return found
    }
}
