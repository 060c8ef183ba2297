/// The client of the control socket against a server that keeps to a script, and one that keeps to nothing.

import Bytes
import LinuxIO
import TestSupport
import Testing

@testable import Control

private func client(_ server: ScriptedControl) -> ControlClient { ControlClient(socket: server.socket) }

/// Asks `GET /v1/status` of a server with one answer.
private func ask(
    _ answer: String, limit: Int = 1 << 20, within time: Interval = .seconds(5)
) throws -> ControlReply {
    let server = try ScriptedControl("{\"answers\":[\(answer)]}")
    var client = client(server)
    client.limit = limit
    return try client.ask("GET", "/v1/status", body: nil, within: time)
}

struct ControlClientTests {
    @Test("a request arrives as it was sent, and its answer comes back")
    func plain() throws {
        let server = try ScriptedControl(
            #"{"answers":[{"to":"PUT /v1/profiles/qa","status":201,"json":{"revision":3}}]}"#)
        let reply = try client(server).ask("PUT", "/v1/profiles/qa?confirm=60", body: Array("{\r\n}".utf8))
        #expect(reply == ControlReply(status: 201, body: Array(#"{"revision": 3}"#.utf8)))
        #expect(reply.isSuccess)
        #expect(
            try server.requests() == [
                .init(method: "PUT", target: "/v1/profiles/qa?confirm=60", type: "application/json", body: "{\r\n}")
            ])
    }

    @Test("a request without a body says nothing of one")
    func bare() throws {
        let server = try ScriptedControl(#"{"answers":[{"to":"*","status":404,"json":{}}]}"#)
        let reply = try client(server).ask("GET", "/v1/status", body: nil)
        #expect(reply.status == 404)
        #expect(!reply.isSuccess)
        #expect(try server.requests() == [.init(method: "GET", target: "/v1/status", type: nil, body: "")])
    }

    @Test("an answer in single octets, in chunks, after an interim one, or up to the end of the stream is whole")
    func pieces() throws {
        let whole = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
        let octets = whole.map {
            "\"\($0 == "\r" ? "\\r" : $0 == "\n" ? "\\n" : $0 == "\r\n" ? "\\r\\n" : String($0))\""
        }
        let answers = [
            "[\(octets.joined(separator: ","))]",
            #"["HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r", "\n3;x=y\r\nllo\r\n0\r\nA: b\r\n\r\n"]"#,
            #"["HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel", "lo"]"#,
            #"["HTTP/1.0 200 OK\r\n\r\nhello"]"#,
        ]
        for answer in answers {
            let reply = try ask(#"{"to":"*","pause":0.002,"pieces":"# + answer + "}")
            #expect(reply == ControlReply(status: 200, body: Array("hello".utf8)), "\(answer)")
        }
    }

    @Test(
        "an answer that is cut off is no answer",
        arguments: [
            #"[]"#, #"["HTTP/1.1 200 OK\r\nContent-Le"]"#, #"["HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello"]"#,
            #"["HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nhello"]"#,
            #"["HTTP/1.1 100 Continue\r\n\r\n"]"#,
        ])
    func torn(pieces: String) {
        #expect(throws: ControlClientError.self) { try ask(#"{"to":"*","pieces":"# + pieces + "}") }
        do {
            _ = try ask(#"{"to":"*","pieces":"# + pieces + "}")
        } catch {
            #expect("\(error)".hasSuffix("found a part of an answer; expected all of it"))
        }
    }

    @Test(
        "what is no HTTP is named",
        arguments: [
            (#"["SSH-2.0-OpenSSH_9.2\r\n"]"#, "not HTTP"), (#"["{\"status\":1}\n"]"#, "not HTTP"),
            (#"["HTTP/1.1 2000 OK\r\n\r\n"]"#, "malformed status line"),
            (#"["HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n"]"#, "malformed chunk"),
        ])
    func foreign(pieces: String, reason: String) {
        let error = #expect(throws: ControlClientError.self) { try ask(#"{"to":"*","pieces":"# + pieces + "}") }
        #expect("\(error.map { "\($0)" } ?? "")".contains("found no answer of HTTP (\(reason))"))
    }

    @Test("an answer over the limit is given up, with a length and in chunks alike")
    func oversize() {
        for head in ["Content-Length: 1001\\r\\n\\r\\n", "Transfer-Encoding: chunked\\r\\n\\r\\n3e9\\r\\n"] {
            let text = "[\"HTTP/1.1 200 OK\\r\\n\(head)\(String(repeating: "x", count: 1001))\"]"
            let error = #expect(throws: ControlClientError.self) {
                try ask(#"{"to":"*","pieces":"# + text + "}", limit: 1000)
            }
            #expect(error?.isNoDaemon == false)
            #expect("\(error.map { "\($0)" } ?? "")".contains("found an answer of more than"))
        }
    }

    @Test("an answer exactly at the limit is taken")
    func fitting() throws {
        let text = "[\"HTTP/1.1 200 OK\\r\\nContent-Length: 1000\\r\\n\\r\\n\(String(repeating: "x", count: 1000))\"]"
        #expect(try ask(#"{"to":"*","pieces":"# + text + "}", limit: 1000).body.count == 1000)
    }

    @Test("one deadline is over a silent and over a dripping server")
    func deadline() {
        let drip = Array(repeating: "\"H\"", count: 1).joined()
        for answer in [
            #"{"to":"*","pieces":[],"hold":true}"#,
            #"{"to":"*","pause":0.2,"pieces":["HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n",\#(Array(repeating: drip, count: 90).joined(separator: ","))]}"#,
        ] {
            let watch = Stopwatch()
            let error = #expect(throws: ControlClientError.self) { try ask(answer, within: .milliseconds(400)) }
            #expect("\(error.map { "\($0)" } ?? "")".hasSuffix("found no answer in time; expected one"))
            #expect(watch.seconds < 3)
        }
    }

    @Test("a server that answers before it has read everything is heard out")
    func early() throws {
        let server = try ScriptedControl(
            #"{"answers":[{"to":"*","status":413,"json":{"error":{"message":"too large"}},"deaf":true}]}"#)
        let reply = try client(server).ask("PUT", "/v1/config", body: [UInt8](repeating: 0x20, count: 8 << 20))
        #expect(reply.status == 413)
    }

    @Test("no daemon is said with the socket, the kernel's words and what to do")
    func nobody() throws {
        let scratch = try Scratch()
        let missing = ControlClient(socket: scratch.path("no.sock"))
        let error = #expect(throws: ControlClientError.self) { try missing.ask("GET", "/v1/status", body: nil) }
        #expect(error?.isNoDaemon == true)
        let text = error.map { "\($0)" } ?? ""
        #expect(text.hasPrefix("\(scratch.path("no.sock")): found no daemon (No such file or directory)"))
        #expect(text.contains("is starshipd running?"))
        let long = ControlClient(socket: "/" + String(repeating: "x", count: 200))
        #expect(throws: ControlClientError.self) { try long.ask("GET", "/v1/status", body: nil) }
        // A file that is no socket, and a socket that nobody serves any more, are no daemon either.
        try Scratch.put([], scratch.path("file"))
        let file = ControlClient(socket: scratch.path("file"))
        #expect(throws: ControlClientError.noDaemon(socket: file.socket, .connectionRefused, group: "root")) {
            try file.ask("GET", "/v1/status", body: nil)
        }
    }

    @Test("who may not use the socket is told which group may")
    func forbidden() {
        let error = ControlClientError.noDaemon(socket: "/run/s", .accessDenied, group: "starship")
        #expect(
            "\(error)"
                == "/run/s: found a socket that you may not use (Permission denied); expected to be root or in the "
                + "group starship (sudo usermod -aG starship YOU, then log in again)")
        // Nobody is to join root's own group.
        #expect(
            "\(ControlClientError.noDaemon(socket: "/run/s", .accessDenied, group: "root"))".hasSuffix(
                "expected to be root (`control: { group }` in the configuration lets a group in)"))
    }
}
