/// Any bytes as a DNS message: as a query, as an answer to its own question, and as a stream.

import Bytes
import Wire

func fuzzDNS(_ bytes: [UInt8]) {
    if let query = try? DNSQuery.parse(bytes.span) { answer(bytes, query) }
    if let end = try? DNSName.end(in: bytes.span, at: DNSHeader.length), end + 4 <= bytes.count {
        handOn(bytes, questionEnd: end + 4)
    }
    let whole = messages(bytes, by: max(bytes.count, 1))
    precondition(whole == messages(bytes, by: 1 + Int(bytes.first ?? 0) % 40), "pieces are other messages")
}

/// The messages of a stream that comes in pieces; nothing of it is lost.
private func messages(_ bytes: [UInt8], by size: Int) -> [[UInt8]] {
    var stream = DNSStream()
    var found: [[UInt8]] = []
    for start in stride(from: 0, to: bytes.count, by: size) {
        stream.append(bytes.span.extracting(start..<min(bytes.count, start + size)))
        while let message = stream.next() { found.append(message) }
    }
    precondition(found.reduce(0) { $0 + $1.count + 2 } + stream.count == bytes.count, "octets of a stream are lost")
    return found
}

/// What we answer can be read as an answer to that question.
private func answer(_ bytes: [UInt8], _ query: DNSQuery) {
    precondition(query.questionEnd <= bytes.count, "a question leaves its message")
    var name: [UInt8] = []
    precondition(DNSName.write(query.name, into: &name), "the text of a name is none")
    precondition(name.count + 4 == query.question.count, "the text of a name is another name")
    var writer = DNSWriter()
    writer.begin(answering: bytes.span, query, .nameError)
    writer.addAuthority(seconds: 1, isOfParent: true)
    writer.finish(query.edns)
    guard (try? DNSAnswer.parse(writer.bytes.span, to: bytes.span.extracting(query.question))) != nil else {
        preconditionFailure("a broken answer")
    }
}

/// What a resolver said is still whole when it was handed on.
private func handOn(_ bytes: [UInt8], questionEnd: Int) {
    let question = bytes.span.extracting(DNSHeader.length..<questionEnd)
    guard let answer = try? DNSAnswer.parse(bytes.span, to: question), answer.questionEnd == questionEnd else { return }
    precondition(answer.byteCount <= bytes.count, "an answer grows")
    _ = answer.addresses
    var asked: [UInt8] = [0, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 1]
    asked.append(copying: question)
    asked += [0, 0, 41, 4, 208, 0, 0, 0, 0, 0, 0]
    guard let query = try? DNSQuery.parse(asked.span) else { preconditionFailure("a question that cannot be asked") }
    var output: [UInt8] = []
    answer.write(answering: asked.span, query, age: 1, maximumTTL: 60, limit: 65_535, into: &output)
    guard (try? DNSAnswer.parse(output.span, to: question)) != nil else {
        preconditionFailure("an answer is not handed on")
    }
}
