/// What the proxy does with streams: first words of a server, half-closed ends, and silence.

import Addresses
import Bytes
import LinuxIO
import Wire

extension LintRun {
    /// What is waited for inside a tunnel that stands.
    private static let patience = Interval.seconds(3)

    /// A tunnel to a port of this machine, which is neither 80 nor 443; it is kept, to be left alone.
    mutating func tryOwnOrigin() throws(SystemCallError) {
        if let address = try ownAddress() { quietOrigin = LintOrigin(on: address, mark: plan.mark) }
        guard quietOrigin != nil else {
            note(.otherPort, .unknown, "this machine can't listen on the address that the proxy sees")
            return
        }
        let target = quietOrigin.value.target
        let asked = "CONNECT \(target), a port of this machine"
        let tunnel = try Self.askForOwn(&quietOrigin, way)
        guard tunnel.reply == .open else {
            note(.otherPort, .odd, "\(asked): \(tunnel.reply.words)", tunnel.took)
            report.notes.append(
                "other ports than 443 and 80 may not pass this proxy: a rule DST-PORT can send them direct")
            return
        }
        guard quietOrigin.value.line != nil else {
            note(.otherPort, .odd, "\(asked): it says yes, and nobody comes; it, or a firewall, keeps it from here")
            return
        }
        note(.otherPort, .good, "\(asked): it comes", tunnel.took)
        let wasGlued = !tunnel.leftover.isEmpty
        var heard = tunnel.leftover
        quiet = consume tunnel
        quietSince = Clock.now()
        let missing = LintOrigin.banner.count - heard.count
        if missing > 0 { heard += try quiet.value.line.value.read(missing, until: Clock.now() + Self.patience) }
        if heard == LintOrigin.banner {
            note(.firstOctets, .good, "a server that speaks first is heard\(wasGlued ? ", glued to the yes" : "")")
        } else {
            let words = HTTPErrorText.clean(Array(heard.prefix(40)))
            note(
                .firstOctets, .bad, "a server that speaks first is not heard: \"\(words)\" arrives instead of its words"
            )
        }
    }

    /// The address that the proxy knows this machine by.
    private func ownAddress() throws(SystemCallError) -> IPAddress? {
        let line = try LintLine.open(to: way.address, mark: plan.mark, until: Clock.now() + plan.timeout)
        return line.socket.localAddress?.address
    }

    /// Asks for a tunnel to our own origin, and waits for it to arrive there.
    private static func askForOwn(
        _ origin: inout LintOrigin?, _ way: LintTunnel.Way
    ) throws(SystemCallError) -> LintTunnel {
        let tunnel = try LintTunnel.ask(for: origin.value.target, way, origin: &origin)
        guard tunnel.reply == .open, origin.value.line == nil else { return tunnel }
        let place = try LintLine.wait(
            for: [(origin.value.descriptor, .readable)], until: Clock.now() + Self.patience)
        if place != nil { origin.value.accept() }
        return tunnel
    }

    // MARK: Half-close

    /// A client that has said everything still wants to hear the answer.
    mutating func tryHalfClose() throws(SystemCallError) {
        guard quiet != nil, let address = try ownAddress() else { return try tryHalfCloseAtSite() }
        var origin = LintOrigin(on: address, mark: plan.mark)
        guard origin != nil else { return }
        let tunnel = try Self.askForOwn(&origin, way)
        guard tunnel.reply == .open, origin.value.line != nil else { return }
        let deadline = Clock.now() + Self.patience
        var heard = tunnel.leftover
        while heard.count < LintOrigin.banner.count,
            case .octets(let more) = try tunnel.line.value.read(until: deadline)
        {
            heard += more
        }
        _ = try tunnel.line.value.send(Array("question".utf8), until: deadline)
        tunnel.line.value.socket.shutdownSend()
        let question = try origin.value.line.value.read(8, until: deadline)
        let end = try origin.value.line.value.read(until: deadline)
        _ = try origin.value.line.value.send(Array("answer".utf8), until: deadline)
        origin.value.line.value.socket.shutdownSend()
        let answer = try tunnel.line.value.read(6, until: Clock.now() + Self.patience)
        judgeHalfClose(
            isHeard: answer == Array("answer".utf8), isPassedOn: end == .end && question == Array("question".utf8))
    }

    private mutating func judgeHalfClose(isHeard: Bool, isPassedOn: Bool) {
        findings.endsAtHalfClose = !isHeard
        switch (isHeard, isPassedOn) {
        case (true, true): note(.halfClose, .good, "one end may close and still hear the other")
        case (true, false): note(.halfClose, .odd, "the other end does not learn that one end has closed")
        case (false, _): note(.halfClose, .odd, "the tunnel ends when one end closes, and the answer is lost")
        }
    }

    /// Where no tunnel comes here: a ClientHello and an end behind it, which a site answers all the same.
    private mutating func tryHalfCloseAtSite() throws(SystemCallError) {
        guard findings.issuer != nil else {
            note(.halfClose, .unknown, "no tunnel to try it in")
            return
        }
        let tunnel = try LintTunnel.ask(for: Target(host: plan.site, port: 443), way, origin: &noOrigin)
        let deadline = Clock.now() + plan.timeout
        guard tunnel.reply == .open, try tunnel.line.value.send(Self.hello(to: plan.site), until: deadline) else {
            note(.halfClose, .unknown, "the site is not there any more")
            return
        }
        tunnel.line.value.socket.shutdownSend()
        guard case .certificate = try Self.flight(tunnel.line.value, until: deadline) else {
            return judgeHalfClose(isHeard: false, isPassedOn: false)
        }
        judgeHalfClose(isHeard: true, isPassedOn: true)
    }

    // MARK: Silence

    /// How long a tunnel lives in which nobody speaks.
    mutating func tryIdle() throws(SystemCallError) {
        guard plan.idle > .zero else { return }
        let isOwn = quiet != nil
        if !isOwn {
            let tunnel = try LintTunnel.ask(for: Target(host: plan.site, port: 443), way, origin: &noOrigin)
            guard tunnel.reply == .open else {
                note(.idle, .unknown, "no tunnel to leave alone")
                return
            }
            quiet = consume tunnel
            quietSince = Clock.now()
        }
        let outcome = try quiet.value.line.value.read(until: quietSince + plan.idle)
        let time = (Clock.now() - quietSince).milliseconds
        let seconds = "\((outcome == .silent ? time : time + 999) / 1000) s"
        guard outcome == .silent else {
            let words =
                isOwn ? "a silent tunnel is closed within \(seconds)" : "closed within \(seconds), by it or by the site"
            note(.idle, isOwn ? .odd : .unknown, words)
            return
        }
        guard isOwn else {
            note(.idle, .good, "a silent tunnel is open after \(seconds)")
            return
        }
        let deadline = Clock.now() + Self.patience
        _ = try quietOrigin.value.line.value.send([0x2e], until: deadline)
        let isAlive = try quiet.value.line.value.read(1, until: deadline) == [0x2e]
        note(
            .idle, isAlive ? .good : .bad,
            isAlive
                ? "a silent tunnel carries on after \(seconds)"
                : "after \(seconds) a silent tunnel carries nothing any more")
    }
}
