/// Any bytes as the answer to a probe, whole and in pieces. The first octet says how long the pieces are, the second
/// what is expected; up to the first `|` stands the text that is looked for.

import Bytes
import Wire

@testable import Upstreams

private let password = "sesame"
private let token = "dTpzZXNhbWU="
private let secret = BasicCredentials(user: "u", password: password)

func fuzzPageAnswer(_ input: [UInt8]) {
    guard input.count > 2 else { return }
    let bytes = Array(input.dropFirst(2))
    let size = Int(input[0]) % 40 + 1
    let wish = input[1]
    let bar = bytes.firstIndex(of: UInt8(ascii: "|")) ?? 0
    let pattern = String(decoding: bytes[..<min(bar, 64)], as: UTF8.self)
    let answer = Array(bytes[bar...].dropFirst())
    var page = ProbePage(Target(host: .name("a.example"), port: 80))
    if wish & 1 != 0 { page.body = pattern }
    if wish & 2 != 0 { page.statuses = [204, 304, 404, 502] }
    page.keepsBody = wish & 4 != 0
    let isClosed = wish & 8 == 0
    let whole = judge(page, answer, by: max(answer.count, 1), isClosed: isClosed)
    precondition(whole == judge(page, answer, by: size, isClosed: isClosed), "pieces are judged otherwise")
    // The longest ones take long, so few inputs have them.
    if wish >= 0xf0 { goOnWithoutEnd(page, answer) }
    look(for: pattern, in: Array(answer.prefix(256)), by: size)
}

/// The verdict, at the latest when the answer ends; pieces may be refused under another name.
private func judge(_ page: ProbePage, _ answer: [UInt8], by size: Int, isClosed: Bool) -> PageVerdict? {
    var reader = PageReader(page, hiding: secret)
    var position = 0
    while position < answer.count {
        let next = min(answer.count, position + size)
        if let verdict = reader.receive(answer.span.extracting(position..<next)) { return checked(verdict) }
        position = next
    }
    checkWords(reader.words)
    precondition(reader.body.count <= PageReader.longestBody, "more is kept than is looked at")
    return reader.end(isClosed: isClosed).map(checked)
}

private func checked(_ verdict: PageVerdict) -> PageVerdict {
    switch verdict {
    case .right, .wantsLogin: break
    case .wrong(let words): checkWords(words)
    case .failing(let status, let text):
        precondition((100...999).contains(status))
        checkWords(text)
    case .malformed(let words):
        precondition(!words.isEmpty, "a refusal without words")
        return .malformed("")
    }
    return verdict
}

/// Words are a short line in which nobody finds the password again; a pattern, which is quoted, may be anything.
private func checkWords(_ words: String) {
    precondition(words.unicodeScalars.count < 500, "words without end")
    guard !words.contains("without the text") else { return }
    precondition(!words.unicodeScalars.contains { $0.properties.generalCategory == .control }, "words that are no line")
    for secret in [password, token] {
        let octets = words.utf8.split(separator: secret.utf8, maxSplits: 1, omittingEmptySubsequences: false)
        precondition(octets.count == 1, "the password is shown")
    }
}

/// Whatever stands in front, a stream without line ends comes to its verdict.
private func goOnWithoutEnd(_ page: ProbePage, _ answer: [UInt8]) {
    var reader = PageReader(page, hiding: secret)
    if reader.receive(answer.span) != nil { return }
    let more = [UInt8](repeating: UInt8(ascii: "x"), count: 16384)
    for _ in 0..<17 where reader.receive(more.span) != nil { return }
    preconditionFailure("no verdict after a quarter of a megabyte")
}

/// A text with wildcards is found where a table of all its beginnings and all those of the body finds it.
private func look(for pattern: String, in body: [UInt8], by size: Int) {
    var whole = BodyPattern(pattern)
    var growing = BodyPattern(pattern)
    let isFound = whole.isFound(in: body)
    var last = growing.isFound(in: [])
    for end in stride(from: size, to: body.count + size, by: size) {
        last = growing.isFound(in: Array(body.prefix(end))) || last
    }
    precondition(isFound == last, "a growing body is judged otherwise")
    // Whether the pattern's octets so far can end at each place of the body, any text being allowed around it.
    var ends = [Bool](repeating: true, count: body.count + 1)
    for octet in pattern.utf8 {
        if octet == UInt8(ascii: "*") {
            for place in body.indices where ends[place] { ends[place + 1] = true }
        } else {
            for place in body.indices.reversed() { ends[place + 1] = ends[place] && body[place] == octet }
            ends[0] = false
        }
    }
    precondition(isFound == ends.contains(true), "found where it is not, or not where it is")
}
