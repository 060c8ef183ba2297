/// What the tests of requests have in common.

import Addresses
import Bytes
import LinuxIO
import Testing

@testable import Control

/// When every connection here begins.
let origin = Instant(nanoseconds: 3_600_000_000_000)

/// The client of a session, at the other end of a network that loses nothing.
final class Client {
    private var session: ControlSession

    init() {
        let address = SocketAddress(IPAddress(v4: 0x0a09_0002), 40_000)
        session = ControlSession(source: .remote(address), now: origin)
    }

    var output: [UInt8] { session.output }
    var isOver: Bool { session.isOver }
    var wantsInput: Bool { session.wantsInput }
    var deadline: Instant { session.deadline }

    func send(_ bytes: [UInt8], at time: Interval = .zero) -> ControlRequest? {
        session.receive(bytes.span, now: origin + time)
    }

    func send(_ text: String, at time: Interval = .zero) -> ControlRequest? { send(Array(text.utf8), at: time) }

    func answer(_ text: String, at time: Interval = .zero) {
        session.answer(ControlAnswer(document: text, type: "t/t"), now: origin + time)
    }

    /// Reads so many octets; the next request.
    func read(_ count: Int, at time: Interval = .zero) -> ControlRequest? { session.sent(count, now: origin + time) }

    /// Reads everything that there is: the text, and the next request.
    func readAll(at time: Interval = .zero) -> (text: String, request: ControlRequest?) {
        let text = String(decoding: output, as: UTF8.self)
        return (text, output.isEmpty ? nil : read(output.count, at: time))
    }

    /// Has every request of a text answered with its target; what the client reads.
    func converse(_ pieces: [String]) -> String {
        var text = ""
        for piece in pieces {
            var request = send(piece)
            repeat {
                if let request { answer(request.target) }
                let sent = readAll()
                text += sent.text
                request = sent.request
            } while request != nil || !output.isEmpty
        }
        return text
    }
}

/// A request as it comes off the wire.
func request(_ line: String, _ body: String = "", type: String? = "application/json") throws -> ControlRequest {
    let session = Client()
    var head = "\(line) HTTP/1.1\r\nHost: localhost\r\n"
    if !body.isEmpty { head += "Content-Length: \(body.utf8.count)\r\n" }
    if let type, !body.isEmpty { head += "Content-Type: \(type)\r\n" }
    return try #require(session.send(head + "\r\n" + body), "\(line)")
}

/// What a request asks for.
func call(_ line: String, _ body: String = "", type: String? = "application/json") throws -> ControlCall {
    try ControlCall.read(try request(line, body, type: type))
}

/// Why a request is refused.
func refusal(_ line: String, _ body: String = "", type: String? = "application/json") throws -> ControlError {
    try #require(throws: ControlError.self) { try call(line, body, type: type) }
}

extension Socket {
    /// Everything that has come, and whether the other side has ended the connection.
    func readAll() -> (text: String, isOver: Bool) {
        var bytes: [UInt8] = []
        while true {
            switch read(appendingTo: &bytes, limit: 65_536) {
            case .bytes: continue
            case .wouldBlock: return (String(decoding: bytes, as: UTF8.self), false)
            case .end, .failed: return (String(decoding: bytes, as: UTF8.self), true)
            }
        }
    }
}
