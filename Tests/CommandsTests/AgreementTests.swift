/// Both ends of the control socket: what the command line asks, the server understands.

import Bytes
import Commands
import Testing

@testable import Control
@testable import LinuxIO

struct AgreementTests {
    /// Reads a request as the server does.
    private func read(_ request: APIRequest) throws -> ControlCall {
        let head =
            "\(request.method) \(request.target) HTTP/1.1\r\nHost: localhost\r\n"
            + (request.body == nil ? "" : "Content-Type: application/json\r\n") + "\r\n"
        let peer = PeerCredentials(user: 0, group: 0, process: 1)
        var parsed = try ControlHead(Array(head.utf8).span, from: .local(peer)).request
        parsed.body = request.body ?? []
        return try ControlCall.read(parsed)
    }

    @Test("the server reads each request that the commands make", arguments: ParsingTests.requests.map(\.line))
    func commands(line: String) throws {
        guard case .ask(let request, _) = try CommandTable.parse(words(line)).command else { return }
        #expect(throws: Never.self) { try read(request) }
    }

    @Test("what is said is what arrives")
    func meaning() throws {
        guard case .ask(let request, _) = try CommandTable.parse(words("use qa --device stb --for 2h --now")).command,
            case .activate(let activation) = try read(request)
        else {
            Issue.record("no activation")
            return
        }
        #expect(activation.profile == "qa")
        #expect(activation.scope == .device("stb"))
        #expect(activation.duration == .time(.hours(2)))
        #expect(activation.manner.drain == .zero)
    }

    @Test("requests of several steps are read too")
    func steps() throws {
        #expect(try read(.status) == .status)
        #expect(try read(.confirm(3)) == .confirm(3))
        #expect(try read(.authority("qa")) == .authority(profile: "qa"))
        #expect(try read(.push(profile: "qa", Array("{}".utf8), confirm: 5)) == .putProfile("qa", confirm: 5))
        #expect(try read(.push(profile: nil, Array("{}".utf8), confirm: nil)) == .putConfiguration(confirm: nil))
        #expect(try read(.device("a/b c")) == .device("a/b c"))
        guard
            case .applyLink(let use) = try read(
                .apply("starship://activate?v=1&profile=qa", .all, overrides: true, check: true))
        else {
            Issue.record("no link")
            return
        }
        #expect(use.scope == .all(override: true))
        #expect(use.isCheck)
    }
}
