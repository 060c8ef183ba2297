/// Any bytes as what a resolver answers, once or several times, and as the file that names resolvers.
///
/// Each piece begins with its length and with what is made right of it: the id, the bit that says answer, the question.

import Addresses
import Bytes
import Wire

@testable import Names

/// The same numbers each time.
private struct Numbers: RandomNumberGenerator {
    var state: UInt64 = 1

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state
    }
}

private let question: [UInt8] = [1, 0x61, 7, 0x65, 0x78, 0x61, 0x6d, 0x70, 0x6c, 0x65, 0, 0, 1, 0, 1]

func fuzzResolver(_ bytes: [UInt8]) {
    readList(bytes)
    let server = SocketAddress(IPAddress(v4: 0xc000_0235), 53)
    var client = ResolverClient(ResolverSettings(servers: [server, SocketAddress(IPAddress(v4: 0xc000_0236), 53)]))
    var numbers = Numbers()
    var now = Instant(nanoseconds: 1_000_000_000)
    let admission = client.ask(
        AnswerKey(name: "a.example", type: .address4), question: question, ticket: 7, now: now, random: &numbers)
    precondition(admission == .asked, "nobody is asked")
    var (open, answers): ([(exchange: UInt64, asked: [UInt8])], Int) = ([], 0)
    var position = 0
    for _ in 0...bytes.count {
        for action in client.takeActions() {
            switch action {
            case .send(let exchange, _, let message), .connect(let exchange, _, let message):
                precondition(message.count <= 512 && (try? DNSQuery.parse(message.span)) != nil, "no question")
                open.append((exchange, message))
            case .close(let exchange): open.removeAll { $0.exchange == exchange }
            case .answer(let tickets, let key, let answer):
                precondition(tickets.allSatisfy { $0 == 7 } && key.name == "a.example", "somebody else's answer")
                answers += tickets.count
                if let answer { check(answer, bytes) }
            case .changed: break
            }
        }
        guard position < bytes.count else { break }
        let end = min(bytes.count, position + 1 + Int(bytes[position]))
        let piece = Array(bytes[position + 1..<end])
        position = end
        guard let asked = open.last else { continue }
        now = now + .milliseconds(Int64(piece.count) * 8)
        client.receive(reply(piece, to: asked.asked).span, for: asked.exchange, now: now, random: &numbers)
        if let deadline = client.nextDeadline(), deadline <= now { client.timeout(now: now, random: &numbers) }
    }
    // In the end nobody waits.
    for _ in 0..<16 {
        guard let deadline = client.nextDeadline() else { break }
        client.timeout(now: deadline, random: &numbers)
    }
    for case .answer(let tickets, _, _) in client.takeActions() { answers += tickets.count }
    precondition(answers == 1 && client.waitingCount == 0, "an answer too many, or none")
}

private func reply(_ piece: [UInt8], to asked: [UInt8]) -> [UInt8] {
    guard let shape = piece.first, shape != 0 else { return Array(piece.dropFirst()) }
    var message = Array(piece.dropFirst())
    if shape & 1 != 0, message.count >= 12 {
        message[0...1] = asked[0...1]
        message[2] |= 0x80
        message[4...5] = [0, 1]
        message.insert(contentsOf: question, at: 12)
    }
    return message
}

/// What is handed on to who asked has come, and answers the question.
private func check(_ answer: DNSAnswer, _ bytes: [UInt8]) {
    precondition(answer.byteCount <= bytes.count + question.count, "an answer that nobody gave")
    precondition(answer.lifetime <= 86_400, "it is kept for ever")
    _ = answer.addresses
}

private func readList(_ bytes: [UInt8]) {
    let list = ResolverList.parse(String(decoding: bytes, as: UTF8.self))
    precondition(Set(list.servers).count == list.servers.count, "a resolver twice")
    precondition(list.servers.allSatisfy { !$0.isUnspecified }, "nobody is asked")
    precondition(list.domains.allSatisfy { !$0.isEmpty }, "a domain without a name")
}
