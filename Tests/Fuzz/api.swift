/// Any bytes as what a client of the API sends, whole and in pieces, and as the body of each of its requests.
///
/// The first octet says how long the pieces are; where the second is below 128, it says which request the rest is the
/// body of.

import Bytes
import LinuxIO
import Profiles

@testable import Control

private let now = Instant(nanoseconds: 1_000_000_000)
private let caller = ControlRequest.Source.local(PeerCredentials(user: 0, group: 0, process: 1))

/// Every request that has a body of its own.
private let requests = [
    "POST /v1/activate", "POST /v1/release", "POST /v1/rollback", "POST /v1/confirm", "POST /v1/links",
    "POST /v1/links/apply", "POST /v1/probe", "POST /v1/capture", "PUT /v1/devices/pixel-7",
    "PUT /v1/devices/pixel-7/lists", "PUT /v1/profiles/qa?confirm=60", "PUT /v1/config", "PUT /v1/peers/lab-2",
    "POST /v1/reload", "POST /v1/devices/pixel-7/learn",
]

func fuzzAPI(_ input: [UInt8]) {
    guard input.count > 2 else { return }
    var bytes = Array(input.dropFirst(2))
    if input[1] < 128 {
        let body = bytes
        let line = requests[Int(input[1]) % requests.count]
        let head = "\(line) HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
        bytes = Array("\(head)Content-Length: \(body.count)\r\n\r\n".utf8) + body
        let asked = ask(bytes, by: bytes.count).requests
        precondition(asked.count == 1 && asked[0].body == body, "a body that is not what was sent")
    }
    let whole = ask(bytes, by: bytes.count)
    let pieces = ask(bytes, by: Int(input[0]) % 40 + 1)
    precondition(whole.requests == pieces.requests, "pieces are other requests")
    precondition(whole.output == pieces.output && whole.isOver == pieces.isOver, "pieces are answered otherwise")
    for request in whole.requests { check(request) }
}

/// What is asked in a stream that comes in pieces, and what is answered when every answer is the same.
private func ask(_ bytes: [UInt8], by size: Int) -> (requests: [ControlRequest], output: [UInt8], isOver: Bool) {
    var session = ControlSession(source: caller, now: now)
    var (requests, output): ([ControlRequest], [UInt8]) = ([], [])
    var position = 0
    while position < bytes.count, !session.isOver {
        let next = min(bytes.count, position + size)
        var request = session.receive(bytes.span.extracting(position..<next), now: now)
        position = next
        // What came behind a request waits for its answer.
        var rounds = 0
        while request != nil || !session.output.isEmpty {
            rounds += 1
            precondition(rounds <= bytes.count + 2, "a conversation stands still")
            if let asked = request {
                requests.append(asked)
                session.answer(ControlAnswer(JSON.object([])), now: now)
            }
            output += session.output
            request = session.sent(session.output.count, now: now)
        }
    }
    return (requests, output, session.isOver)
}

/// A request is a call, or refused in one short line.
private func check(_ request: ControlRequest) {
    precondition(request.body.count <= ControlSession.bodyLimit && request.target.utf8.count <= 8192, "over a bound")
    do throws(ControlError) {
        check(try ControlCall.read(request))
    } catch {
        precondition((400...499).contains(error.status), "a refusal that is nobody's fault")
        let text = error.json.text
        guard let value = try? JSON5Reader.read(Array(text.utf8).span), case .object = value.content else {
            preconditionFailure("a refusal that is no JSON")
        }
        precondition(text.utf8.count < 16_384, "a refusal without end")
        precondition(!text.utf8.contains { $0 < 0x20 || $0 == 0x7f }, "a refusal that is no line")
    }
}

/// What a call promises of its numbers and texts.
private func check(_ call: ControlCall) {
    switch call {
    case .activate(let wish):
        precondition((1...64).contains(wish.profile.utf8.count), "a profile without an id")
        check(wish.manner)
        precondition(wish.confirm.map { (1...3600).contains($0) } ?? true, "a confirmation without end")
        if case .time(let time) = wish.duration {
            precondition(time >= .seconds(60) && time <= .hours(24 * 365), "a time that nobody can wait")
        }
    case .release(_, let manner): check(manner)
    case .applyLink(let use):
        check(use.manner)
        precondition(use.isCheck || use.scope != nil, "a link for nobody")
    case .startCapture(let wish):
        precondition(wish.snap.map { (40...262_144).contains($0) } ?? true, "a length that no capture has")
        precondition(wish.filter.map { $0.utf8.count <= 4096 } ?? true, "a filter without end")
    case .makeLink(let wish):
        if case .proxy(let proxy) = wish.content {
            precondition((1...65_535).contains(proxy.port) && ["http", "socks5"].contains(proxy.type), "no proxy")
        }
    case .probe(let wish): precondition(wish.pages.count <= 32, "pages without end")
    case .flows(let question): precondition((1...10_000).contains(question.limit), "flows without end")
    case .rollBack(let revision), .confirm(let revision): precondition(revision >= 0, "no revision")
    default: break
    }
}

private func check(_ manner: ControlCall.Manner) {
    precondition(manner.drain >= .zero && manner.drain <= .seconds(30), "a switch that never ends")
}
