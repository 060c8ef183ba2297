/// Any bytes as what a proxy says when it is asked for a stream, by CONNECT and by SOCKS5, whole and in pieces: both
/// come to the same, and what belongs to the stream is handed on to the last octet.

import Bytes
import Upstreams
import Wire

private let target = Target(host: .name("a.example"), port: 443)

func fuzzDialogue(_ input: [UInt8]) {
    guard input.count > 1 else { return }
    let bytes = Array(input.dropFirst())
    let size = Int(input[0] >> 1) % 40 + 1
    if input[0] & 1 == 0 {
        let (whole, pieces) = (connect(bytes, by: bytes.count), connect(bytes, by: size))
        precondition(whole == pieces, "pieces are another answer")
    } else {
        for login in [nil, SOCKS5Login(user: Array("u".utf8), password: Array("p".utf8))] {
            let (whole, pieces) = (socks(bytes, login, by: bytes.count), socks(bytes, login, by: size))
            precondition(whole.isSame(as: pieces), "pieces are another answer")
        }
    }
}

/// What a conversation came to, with what is left for the stream.
private struct End: Equatable {
    var step = ""
    var stream: [UInt8] = []
    var sent: [UInt8] = []

    /// Whatever was sent is the same, as far as both went.
    ///
    /// Octets that come glued to a proxy's choice are thrown away, as nobody speaks before he is asked: then pieces say
    /// more than the whole.
    func isSame(as other: End) -> Bool {
        let shorter = min(sent.count, other.sent.count)
        return sent[..<shorter] == other.sent[..<shorter]
    }
}

private func connect(_ bytes: [UInt8], by size: Int) -> End {
    var dialogue = ConnectDialogue()
    var position = 0
    while position < bytes.count {
        let next = min(bytes.count, position + size)
        let piece = bytes.span.extracting(position..<next)
        switch dialogue.receive(piece) {
        case .needsMore: break
        case .open(let leftover):
            precondition(leftover.lowerBound >= 0 && leftover.upperBound == piece.count, "a stream without its end")
            return End(step: "open", stream: Array(bytes[(position + leftover.lowerBound)...]))
        case .refused(let status, let text):
            check(text, status)
            // How much of its page was there when it was left depends on the pieces, and so do the words.
            return End(step: "refused \(status)")
        case .challenged(let challenge, let text, _):
            check(text, 407)
            return End(step: "challenged \(challenge)")
        case .failed: return End(step: "failed")
        }
        position = next
    }
    switch dialogue.end() {
    case .refused(let status, let text)?:
        check(text, status)
        return End(step: "refused \(status)")
    case .challenged(let challenge, let text, let isReusable)?:
        check(text, 407)
        precondition(!isReusable, "a closed connection is used again")
        return End(step: "challenged \(challenge)")
    case nil: return End(step: "unfinished")
    case .needsMore?, .open?, .failed?: preconditionFailure("an end that is none")
    }
}

private func check(_ text: String, _ status: Int) {
    precondition((100...999).contains(status) && !(200...299).contains(status), "a success is refused")
    precondition(text.unicodeScalars.count <= 500, "words without end")
    precondition(!text.unicodeScalars.contains { $0.properties.generalCategory == .control }, "words that are no line")
}

private func socks(_ bytes: [UInt8], _ login: SOCKS5Login?, by size: Int) -> End {
    var dialogue = SOCKS5Dialogue(to: target, login: login)
    var end = End()
    dialogue.writeGreeting(into: &end.sent)
    var position = 0
    while position < bytes.count {
        let next = min(bytes.count, position + size)
        let piece = bytes.span.extracting(position..<next)
        let before = end.sent.count
        let step = dialogue.receive(piece, output: &end.sent)
        position = next
        switch step {
        case .needsMore: precondition(end.sent.count == before, "something is said to nothing")
        case .send: precondition(end.sent.count > before, "nothing is to be sent")
        case .open(let leftover):
            precondition(leftover.lowerBound >= 0 && leftover.upperBound == piece.count, "a stream without its end")
            return end
        case .refused(let code):
            precondition(code != 0, "a success is refused")
            return end
        case .noMethod, .loginRejected, .failed: return end
        }
    }
    return end
}
