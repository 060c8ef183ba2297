/// One tunnel through a proxy, asked for by hand, with everything that the proxy has said.

import Addresses
import Bytes
import LinuxIO
import Wire

/// What a proxy has answered.
enum LintReply: Equatable {
    case open
    case refused(status: Int, text: String)
    /// 407, with the schemes that it offers.
    case wantsLogin([String])
    case socksRefused(code: UInt8)
    /// SOCKS5: no login that we speak, or ours was rejected.
    case socksLogin(isRejected: Bool)
    case malformed(String)
    case closed
    case silent
    case unreachable(ErrorNumber)

    /// Whether credentials that were shown are wrong: 407 again, or 401 as tinyproxy has it.
    var rejectsLogin: Bool {
        switch self {
        case .wantsLogin, .refused(status: 401, _): true
        case .open, .refused, .socksRefused, .socksLogin, .malformed, .closed, .silent, .unreachable: false
        }
    }

    /// The answer in words.
    var words: String {
        switch self {
        case .open: "it says yes"
        case .refused(let status, let text): "refused with \(status)\(text.isEmpty ? "" : ": \(text)")"
        case .wantsLogin(let schemes): "it wants a login (\(schemes.isEmpty ? "407" : schemes.joined(separator: ", ")))"
        case .socksRefused(let code): "refused: \(DialFailure.words(ofReply: code))"
        case .socksLogin(let isRejected): isRejected ? "it rejects the login" : "it wants another login"
        case .malformed(let what): "its answer is \(what)"
        case .closed: "it closes without an answer"
        case .silent: "it doesn't answer"
        case .unreachable(let reason): "no connection: \(reason)"
        }
    }
}

/// A request for a tunnel, its answer, and the tunnel if there is one.
struct LintTunnel: ~Copyable {
    var reply: LintReply
    var took = Interval.zero
    /// What came before the tunnel's own octets.
    var head: [UInt8] = []
    /// What came glued to that.
    var leftover: [UInt8] = []
    var line: LintLine?

    private init(_ reply: LintReply) { self.reply = reply }

    /// What is needed to ask.
    struct Way {
        var address: SocketAddress
        var isSOCKS = false
        var credentials: BasicCredentials?
        var login: SOCKS5Login?
        var mark: UInt32?
        var timeout: Interval
    }

    /// Asks for a tunnel; a connection that comes to `origin` meanwhile is taken and greeted.
    static func ask(
        for target: Target, _ way: Way, origin: inout LintOrigin?
    ) throws(SystemCallError) -> LintTunnel {
        let start = Clock.now()
        let deadline = start + way.timeout
        let line: LintLine
        do throws(SystemCallError) {
            line = try LintLine.open(to: way.address, mark: way.mark, until: deadline)
        } catch {
            return LintTunnel(.unreachable(error.errno))
        }
        var tunnel = LintTunnel(.silent)
        if way.isSOCKS {
            try tunnel.askSOCKS(target, way, line, origin: &origin, until: deadline)
        } else {
            try tunnel.askHTTP(target, way, line, origin: &origin, until: deadline)
        }
        tunnel.took = Clock.now() - start
        tunnel.line = consume line
        return tunnel
    }

    private mutating func askHTTP(
        _ target: Target, _ way: Way, _ line: borrowing LintLine, origin: inout LintOrigin?, until deadline: Instant
    ) throws(SystemCallError) {
        var request: [UInt8] = []
        ConnectDialogue.writeRequest(
            to: target, identifying: nil, credentials: way.credentials, into: &request)
        guard try line.send(request, until: deadline) else {
            reply = .closed
            return
        }
        var dialogue = ConnectDialogue()
        var limit = deadline
        while true {
            let outcome = try Self.read(line, origin: &origin, until: limit)
            switch outcome {
            case .octets(let octets):
                let step = dialogue.receive(octets.span)
                if dialogue.refusal != nil, limit == deadline {
                    limit = min(deadline, Clock.now() + .milliseconds(500))
                }
                if take(step, octets, way) { return }
            case .end, .silent:
                let isEnd = outcome == .end
                if let step = dialogue.end() { _ = take(step, [], way) } else { reply = isEnd ? .closed : .silent }
                return
            }
        }
    }

    /// Takes a step of the dialogue; false when it needs more.
    private mutating func take(_ step: ConnectDialogue.Step, _ octets: [UInt8], _ way: Way) -> Bool {
        switch step {
        case .needsMore:
            head += octets
            return false
        case .open(let range):
            head += octets[..<range.lowerBound]
            leftover = Array(octets[range])
            reply = .open
        case .refused(let status, let text):
            head += octets
            reply = .refused(status: status, text: way.credentials?.redacted(from: text) ?? text)
        case .challenged(let challenge, _, _):
            head += octets
            reply = .wantsLogin(challenge.schemes)
        case .failed(let error):
            head += octets
            reply = .malformed(error.description)
        }
        return true
    }

    private mutating func askSOCKS(
        _ target: Target, _ way: Way, _ line: borrowing LintLine, origin: inout LintOrigin?, until deadline: Instant
    ) throws(SystemCallError) {
        var dialogue = SOCKS5Dialogue(to: target, login: way.login)
        var output: [UInt8] = []
        dialogue.writeGreeting(into: &output)
        while true {
            guard try line.send(output, until: deadline) else { break }
            output = []
            let outcome = try Self.read(line, origin: &origin, until: deadline)
            guard case .octets(let octets) = outcome else {
                reply = outcome == .end ? .closed : .silent
                return
            }
            switch dialogue.receive(octets.span, output: &output) {
            case .needsMore, .send: head += octets
            case .open(let range):
                leftover = Array(octets[range])
                reply = .open
                return
            case .refused(let code):
                reply = .socksRefused(code: code)
                return
            case .noMethod, .loginRejected:
                reply = .socksLogin(isRejected: way.login != nil)
                return
            case .failed(let error):
                reply = .malformed(error.description)
                return
            }
        }
        reply = .closed
    }

    /// Waits for the proxy's octets, and for a connection to the origin meanwhile.
    private static func read(
        _ line: borrowing LintLine, origin: inout LintOrigin?, until deadline: Instant
    ) throws(SystemCallError) -> LintLine.Outcome {
        while true {
            var descriptors: [(number: CInt, interest: Interest)] = [(line.socket.descriptor.number, .reading)]
            if origin != nil, origin.value.line == nil { descriptors.append((origin.value.descriptor, .readable)) }
            switch try LintLine.wait(for: descriptors, until: deadline) {
            case 0: return try line.read(until: deadline)
            case nil: return .silent
            default: origin.value.accept()
            }
        }
    }
}
