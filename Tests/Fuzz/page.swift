/// Any bytes as what a browser sends, whole and in pieces, and as the form or the query of each address of the page.
///
/// The first octet says how long the pieces are; where the second is below 192, it says where the rest goes to.

import Addresses
import Bytes
import Page

@testable import Control

private let now = Instant(nanoseconds: 1_000_000_000)
private let here = IPAddress(v4: 0x0a09_0001)
private let client = SocketAddress(IPAddress(v4: 0x0a09_0020), 40_000)
private let doors = PageGuard(addresses: [here], checks: [IPAddress(v4: 0x0a09_0002)], port: 80)

private let queries = [
    "/", "/a", "/requests", "/learn", "/l", "/check", "/check/ipv6", "/check.png", "/ca.crt", "/lab",
]

func fuzzPage(_ input: [UInt8]) {
    guard input.count > 2 else { return }
    var bytes = Array(input.dropFirst(2))
    let place = Int(input[1])
    if place < 96 {
        let action = PageAction.allCases[place % PageAction.allCases.count]
        let form = Array(bytes.prefix(PageGuard.bodyLimit))
        let head = """
            POST /\(action.rawValue) HTTP/1.1\r\nHost: starship.internal\r\nOrigin: http://starship.internal\r
            Content-Type: application/x-www-form-urlencoded\r\nContent-Length: \(form.count)\r\n\r\n
            """
        bytes = Array(head.utf8) + form
        let asked = ask(bytes, by: bytes.count).visits
        precondition(asked.count == 1 && asked[0].body == form, "a form that is not what was sent")
        precondition((try? doors.check(asked[0].head)) == .page, "a form of ours that is refused")
        checkForm(form)
    } else if place < 192 {
        // What no request line can carry would only end it.
        let query = bytes.filter { 0x21...0x7e ~= $0 }
        let line = "GET \(queries[place % queries.count])?\(String(decoding: query, as: UTF8.self)) HTTP/1.1"
        bytes = Array("\(line)\r\nHost: 10.9.0.1\r\n\r\n".utf8)
    }
    let whole = ask(bytes, by: bytes.count)
    let pieces = ask(bytes, by: Int(input[0]) % 40 + 1)
    precondition(whole.visits == pieces.visits, "pieces are other visits")
    precondition(whole.output == pieces.output && whole.isOver == pieces.isOver, "pieces are answered otherwise")
    for visit in whole.visits { check(visit) }
}

/// Who visits in a stream that comes in pieces, and what is said when every answer is the same.
private func ask(_ bytes: [UInt8], by size: Int) -> (visits: [PageVisit], output: [UInt8], isOver: Bool) {
    var session = PageSession(client: client, local: here, now: now)
    var (visits, output): ([PageVisit], [UInt8]) = ([], [])
    var position = 0
    while position < bytes.count, !session.isOver {
        let next = min(bytes.count, position + size)
        var visit = session.receive(bytes.span.extracting(position..<next), now: now)
        position = next
        // What came behind a visit waits for its answer.
        var rounds = 0
        while visit != nil || !session.output.isEmpty {
            rounds += 1
            precondition(rounds <= bytes.count + 2, "a conversation stands still")
            if let visited = visit {
                visits.append(visited)
                session.answer(.line("so it is", status: 200), now: now)
            }
            output += session.output
            session.sent(session.output.count, now: now)
            visit = session.next()
        }
    }
    return (visits, output, session.isOver)
}

/// The guard and the reader say yes, or no with a status; nothing but a form of our own changes anything.
private func check(_ visit: PageVisit) {
    precondition(visit.body.count <= PageGuard.bodyLimit, "over a bound")
    do throws(PageRefusal) {
        let place = try doors.check(visit.head)
        if case .check(let label) = place {
            let isName = !label.isEmpty && !label.contains(".")
            precondition(isName || IPAddress(parsing: label) != nil, "no host of a check")
        }
        let request = try PageRequest(method: visit.head.method, target: visit.target, body: visit.body)
        if case .change = request {
            precondition(visit.head.method == "POST" && place == .page, "a change without a form")
            precondition(visit.head.origin?.hasPrefix("http://") == true, "a form of somebody else")
        }
    } catch {
        precondition((400...503).contains(error.status), "a refusal that is none")
        let answer = error.line
        precondition(!answer.body.isEmpty && answer.body.count < 1024, "a refusal of no length, or without end")
        precondition(!answer.fields.contains { $0.value.utf8.contains { $0 < 0x20 } }, "a field that ends its line")
    }
}

/// What is read of a form is what a browser writes of it (WHATWG URL, section 5.2).
private func checkForm(_ octets: [UInt8]) {
    guard let form = try? PageForm(parsing: octets.span) else { return }
    var names: [String] = []
    for pair in octets.split(separator: UInt8(ascii: "&")) {
        guard let name = decoded(pair.prefix { $0 != UInt8(ascii: "=") }) else {
            preconditionFailure("a form that no browser writes")
        }
        if !names.contains(name) { names.append(name) }
    }
    let pairs = names.flatMap { name in form.list(name).map { (name, $0) } }
    let written = pairs.map { "\(encoded($0.0))=\(encoded($0.1))" }.joined(separator: "&")
    guard written.utf8.count <= PageGuard.bodyLimit else { return }
    guard let again = try? PageForm(parsing: Array(written.utf8).span) else { preconditionFailure("no form") }
    for name in names { precondition(again.list(name) == form.list(name), "written and read as others") }
}

private func decoded(_ octets: ArraySlice<UInt8>) -> String? {
    var bytes: [UInt8] = []
    var rest = octets
    while let octet = rest.popFirst() {
        if octet == UInt8(ascii: "%") {
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            guard let value = UInt8(digits, radix: 16) else { return nil }
            bytes.append(value)
            rest = rest.dropFirst(2)
        } else {
            bytes.append(octet == UInt8(ascii: "+") ? 0x20 : octet)
        }
    }
    return String(validating: bytes, as: UTF8.self)
}

private func encoded(_ text: String) -> String {
    text.utf8.map { octet in
        switch octet {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: String(UnicodeScalar(octet))
        case 0x20: "+"
        default: "%" + (octet < 16 ? "0" : "") + String(octet, radix: 16, uppercase: true)
        }
    }.joined()
}
