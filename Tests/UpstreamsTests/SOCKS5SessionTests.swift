/// Clients of the SOCKS5 inbound.

import Bytes
import Inbound
import TestSupport
import Testing
import Wire

@Suite struct SOCKS5SessionTests {
    private static let now = Instant(nanoseconds: 0)
    private static let login = SOCKS5Login(user: Array("qa".utf8), password: Array("pw".utf8))

    /// What a session answers to bytes in pieces of `size`, and what it wants in the end.
    private func play(
        _ text: String, login: SOCKS5Login? = nil, by size: Int = .max
    ) -> (answer: [UInt8], action: SOCKS5Session.Action) {
        var session = SOCKS5Session(expecting: login.map { [$0] } ?? [], now: Self.now)
        var answer: [UInt8] = []
        var action = SOCKS5Session.Action.needsMore
        let bytes = hex(text)
        var start = 0
        while start < bytes.count, action == .needsMore {
            let piece = Array(bytes[start..<min(start + min(size, bytes.count), bytes.count)])
            action = session.receive(piece.span, output: &answer)
            start += piece.count
        }
        return (answer, action)
    }

    private func target(_ action: SOCKS5Session.Action) -> String? {
        if case .connect(let target, _) = action { return "\(target)" }
        return nil
    }

    private func isClose(_ action: SOCKS5Session.Action) -> Bool {
        if case .close = action { return true }
        return false
    }

    @Test("B060, B064: a request in any pieces names its target", arguments: [1, 2, 3, 7, .max])
    func fragments(size: Int) {
        for (text, expected) in [
            ("050100" + "05010001c633640a01bb", "198.51.100.10:443"),
            ("0503000102" + "0501000420010db800000000000000000000000101bb", "[2001:db8::1]:443"),
            ("050100" + "05010003086578612e7465737401bb", "exa.test:443"),
        ] {
            let result = play(text, by: size)
            #expect(result.answer == hex("0500"))
            #expect(target(result.action) == expected)
        }
    }

    @Test("B040: the three spellings of an IPv6 target are one")
    func addresses() {
        for request in [
            "0501000420010db800000000000000000000000101bb", "050100030b323030313a6462383a3a3101bb",
            "050100030d5b323030313a6462383a3a315d01bb",
        ] {
            #expect(target(play("050100" + request).action) == "[2001:db8::1]:443")
        }
    }

    @Test("early data behind the request stays the client's")
    func earlyData() {
        let result = play("050100" + "05010001c633640a01bb" + "160301")
        guard case .connect(_, let leftover) = result.action else {
            Issue.record("no target")
            return
        }
        #expect(leftover == 13..<16)
    }

    @Test("B062: BIND, UDP ASSOCIATE and unknown commands are answered with 07", arguments: ["02", "03", "05", "f0"])
    func commands(command: String) {
        let result = play("050100" + "05\(command)0001000000000000")
        #expect(result.answer == hex("0500" + "05070001000000000000"))
        #expect(isClose(result.action))
    }

    @Test func answersUnknownAddressTypes() {
        let result = play("050100" + "05010002")
        #expect(result.answer == hex("0500" + "05080001000000000000"))
        #expect(isClose(result.action))
    }

    @Test("B065: nobody gets past the login")
    func loginIsWanted() {
        let none = play("050100", login: Self.login)
        #expect(none.answer == hex("05ff"))
        #expect(isClose(none.action))
        let skipped = play("05020002" + "05010001c633640a01bb", login: Self.login)
        #expect(skipped.answer == hex("0502"))
        #expect(isClose(skipped.action))
    }

    @Test("B067: the login has a version of its own", arguments: [1, .max])
    func login(size: Int) {
        let right = play("050102" + "01027161027077" + "05010001c633640a01bb", login: Self.login, by: size)
        #expect(right.answer == hex("0502" + "0100"))
        #expect(target(right.action) == "198.51.100.10:443")
        for wrong in ["01027161027078", "01027162027077", "01000000", "0102716100"] {
            let result = play("050102" + wrong, login: Self.login, by: size)
            #expect(result.answer.prefix(3) == [5, 2, 1])
            #expect(result.answer.last != 0)
            #expect(isClose(result.action))
        }
    }

    @Test("any of several logins gets in, and no mixture of them")
    func logins() {
        let other = SOCKS5Login(user: Array("ci".utf8), password: Array("xy".utf8))
        for (login, status) in [("01027161027077", 0), ("01026369027879", 0), ("01027161027879", 1)] {
            var session = SOCKS5Session(expecting: [Self.login, other], now: Self.now)
            var answer: [UInt8] = []
            _ = session.receive(hex("050102" + login).span, output: &answer)
            #expect(answer == [5, 2, 1, UInt8(status)])
        }
    }

    @Test("B067: without a login configured a client that offers only one is turned away")
    func noLogin() {
        #expect(play("050102").answer == hex("05ff"))
        #expect(play("0500").answer == hex("05ff"))
    }

    @Test("B069: replies have ten octets")
    func replies() {
        for code: UInt8 in [1, 2, 4, 5] {
            var session = SOCKS5Session(expecting: [], now: Self.now)
            var output: [UInt8] = []
            session.failed(code: code, output: &output)
            #expect(output == [5, code, 0, 1, 0, 0, 0, 0, 0, 0])
        }
        var session = SOCKS5Session(expecting: [], now: Self.now)
        var output: [UInt8] = []
        session.opened(output: &output)
        #expect(output == hex("05000001000000000000"))
    }

    @Test("B071: an empty name, a label of 255 octets and port 0 are refused; 253 octets pass")
    func edges() {
        for request in [
            "050100030001bb", "05010003ff" + String(repeating: "61", count: 255) + "01bb",
            "05010003086578612e746573740000",
        ] {
            let result = play("050100" + request)
            #expect(result.answer.count == 12 && result.answer[3] != 0)
            #expect(isClose(result.action))
        }
        let label = String(repeating: "61", count: 61) + "2e"
        let longest = "05010003fd" + label + label + label + label + "6162636465" + "01bb"
        let name = [String](repeating: String(repeating: "a", count: 61), count: 4).joined(separator: ".") + ".abcde"
        #expect(target(play("050100" + longest, by: 1).action) == name + ":443")
    }

    @Test(
        "B210: a name that could become more than a name is refused",
        arguments: [
            "0c6576696c0d0a582d413a2031", "0a6576696c002e74657374", "0a657620696c2e74657374", "086123622e74657374",
            "087540622e74657374", "08612f622e74657374", "0780812e74657374", "05613a343433", "0b2530642530612e74657374",
        ])
    func injection(name: String) {
        let result = play("050100" + "05010003" + name + "0050")
        #expect(result.answer == hex("0500" + "05010001000000000000"))
        #expect(isClose(result.action))
    }

    @Test(
        "B214: loopback in odd spellings does not become a name",
        arguments: ["053132372e31", "0a32313330373036343333", "06307837662e31"])
    func oddLoopback(name: String) {
        let result = play("050100" + "05010003" + name + "0016")
        #expect(result.answer == hex("0500" + "05010001000000000000"))
    }

    @Test(
        "other protocols are closed without an answer", arguments: ["0401001607f0000100", "474554202f", "1603010200"])
    func otherProtocols(text: String) {
        let result = play(text)
        #expect(result.answer.isEmpty)
        #expect(isClose(result.action))
    }

    @Test func hasADeadlineUntilTheRequest() {
        var session = SOCKS5Session(expecting: [], now: Self.now)
        #expect(session.deadline == Self.now + .seconds(10))
        var output: [UInt8] = []
        _ = session.receive(hex("05010005010001c633640a01bb").span, output: &output)
        #expect(session.deadline == .never)
    }

    @Test("no bytes make it fail", arguments: 0..<64)
    func fuzz(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var session = SOCKS5Session(expecting: seed % 2 == 0 ? [] : [Self.login], now: Self.now)
        var output: [UInt8] = []
        for _ in 0..<200 {
            let first = Bool.random(using: &generator) ? [UInt8(5)] : []
            let rest = (0..<Int.random(in: 0...20, using: &generator)).map { _ in
                UInt8.random(in: 0...5, using: &generator)
            }
            _ = session.receive((first + rest).span, output: &output)
        }
    }
}
