/// Any bytes as what a client says to our own proxies, SOCKS5 and HTTP, whole and in pieces, with and without a login.

import Bytes
import Inbound
import Wire

private let now = Instant(nanoseconds: 1_000_000_000)
private let login = SOCKS5Login(user: Array("u".utf8), password: Array("p".utf8))

func fuzzInbound(_ input: [UInt8]) {
    guard input.count > 1 else { return }
    let bytes = Array(input.dropFirst())
    let size = Int(input[0] >> 2) % 40 + 1
    let isOpen = input[0] & 2 == 0
    let isSOCKS = input[0] & 1 == 0
    let talk = { (size: Int) in
        isSOCKS ? socks(bytes, by: size, isOpen: isOpen) : http(bytes, by: size, isOpen: isOpen)
    }
    let (whole, pieces) = (talk(bytes.count), talk(size))
    precondition(whole.act == pieces.act && whole.target == pieces.target, "pieces are judged otherwise")
    precondition(whole.said == pieces.said && whole.stream == pieces.stream, "pieces are answered otherwise")
}

/// What became of a conversation.
private struct End {
    var act = "unfinished"
    var target: Target?
    var stream: [UInt8] = []
    var said: [UInt8] = []
}

private func socks(_ bytes: [UInt8], by size: Int, isOpen: Bool) -> End {
    var session = SOCKS5Session(expecting: isOpen ? [] : [login], now: now)
    var end = End()
    for start in stride(from: 0, to: bytes.count, by: size) {
        let piece = bytes.span.extracting(start..<min(bytes.count, start + size))
        switch session.receive(piece, output: &end.said) {
        case .needsMore: continue
        case .connect(let target, let leftover):
            precondition(leftover.lowerBound >= 0 && leftover.upperBound == piece.count, "a stream without its end")
            precondition(target.port > 0 && session.deadline == .never, "nobody can be asked")
            precondition(isOpen || end.said.contains(1), "somebody gets past without a login")
            (end.act, end.target, end.stream) = ("connect", target, Array(bytes[(start + leftover.lowerBound)...]))
            session.opened(output: &end.said)
            return end
        case .close(let reason):
            precondition(!reason.isEmpty, "an end without a reason")
            end.act = "close"
            return end
        }
    }
    precondition(session.deadline != .never, "a client that may wait for ever")
    return end
}

private func http(_ bytes: [UInt8], by size: Int, isOpen: Bool) -> End {
    guard let credentials = BasicCredentials(user: "u", password: "p") else { preconditionFailure("no credentials") }
    var session = HTTPProxySession(expecting: isOpen ? [] : [credentials], now: now)
    var end = End()
    for start in stride(from: 0, to: bytes.count, by: size) {
        let piece = bytes.span.extracting(start..<min(bytes.count, start + size))
        switch session.receive(piece, output: &end.said) {
        case .needsMore: continue
        case .connect(let target, let leftover):
            precondition(leftover.upperBound == piece.count && target.port > 0, "a stream without its end")
            (end.act, end.target, end.stream) = ("connect", target, Array(bytes[(start + leftover.lowerBound)...]))
            return end
        case .forward(let target, let request, let leftover):
            precondition(leftover.upperBound == piece.count && target.port > 0, "a stream without its end")
            (end.act, end.target) = ("forward", target)
            end.stream = request + bytes[(start + leftover.lowerBound)...]
            precondition(end.stream.count <= bytes.count, "more than was said")
            return end
        case .close(let reason):
            precondition(!reason.isEmpty && !end.said.isEmpty, "an end without an answer")
            // A head may be refused under another name before it is whole.
            (end.act, end.said) = ("close", [])
            return end
        }
    }
    return end
}
