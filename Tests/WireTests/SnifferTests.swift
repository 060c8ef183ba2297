/// Names in the first octets of a stream, in whatever pieces they come.

import TestSupport
import Testing
import Wire

@Suite struct SnifferTests {
    /// The ClientHello that OpenSSL 3 sends for `shop.example.test` over TLS 1.3.
    private static let hello = hex(
        """
        16030100f6010000f20303763d86aa1934570a06fa0bb0f19484b685d0b0b7337ff8298373eb8b2c3e78b920c12b25043c40d7b59c
        c54f2805179ec360127d9266e57a25162989b2e69e0f02000813021303130100ff010000a100000016001400001173686f702e6578
        616d706c652e74657374000b000403000102000a00160014001d0017001e0019001801000101010201030104002300000016000000
        170000000d001e001c040305030603080708080809080a080b080408050806040105010601002b0003020304002d00020101003300
        260024001d00204dd035177b604ecc7549b691e936acdbc4fac978d2fa87958e719c70f5679641
        """)

    /// What a sniffer says after each piece of `size` octets, the repetitions left out.
    private func outcomes(_ stream: [UInt8], in size: Int, limit: Int = Sniffer.defaultLimit) -> [Sniffer.Outcome] {
        var sniffer = Sniffer(limit: limit)
        var outcomes: [Sniffer.Outcome] = []
        for start in stride(from: 0, to: stream.count, by: size) {
            let outcome = sniffer.take(stream.span.extracting(start..<min(start + size, stream.count)))
            if outcomes.last != outcome { outcomes.append(outcome) }
        }
        #expect(sniffer.count == stream.count)
        return outcomes
    }

    /// The end of it, which must be the same in single octets, in odd pieces and at once.
    private func outcome(
        _ stream: [UInt8], sourceLocation: SourceLocation = #_sourceLocation
    ) -> Sniffer.Outcome? {
        let whole = outcomes(stream, in: max(1, stream.count)).last
        for size in [1, 7, 100] {
            let pieces = outcomes(stream, in: size)
            #expect(pieces.last == whole, "in pieces of \(size)", sourceLocation: sourceLocation)
            #expect(pieces.dropLast().allSatisfy { $0 == .needsMore }, sourceLocation: sourceLocation)
        }
        return whole
    }

    private func outcome(_ text: String, sourceLocation: SourceLocation = #_sourceLocation) -> Sniffer.Outcome? {
        outcome(Array(text.utf8), sourceLocation: sourceLocation)
    }

    /// Puts an extension in front of all others of a ClientHello in one record (RFC 8446, section 4.1.2).
    private func adding(_ type: UInt16, _ body: [UInt8], to hello: [UInt8]) -> [UInt8] {
        let place = 90
        func word(_ value: Int) -> [UInt8] { [UInt8(value >> 8), UInt8(value & 0xff)] }
        var result = hello
        result.insert(contentsOf: word(Int(type)) + word(body.count) + body, at: place)
        result.replaceSubrange(place - 2..<place, with: word(result.count - place))
        result.replaceSubrange(7..<9, with: word(result.count - 9))
        result.replaceSubrange(3..<5, with: word(result.count - 5))
        return result
    }

    /// The same ClientHello in records of `size` octets (RFC 8446, section 5.1).
    private func inRecords(_ hello: [UInt8], of size: Int) -> [UInt8] {
        let message = Array(hello[5...])
        return stride(from: 0, to: message.count, by: size).flatMap { start in
            let piece = message[start..<min(start + size, message.count)]
            return [0x16, 3, 1, UInt8(piece.count >> 8), UInt8(piece.count & 0xff)] + piece
        }
    }

    // MARK: TLS

    @Test func aClientHelloNamesItsServer() {
        #expect(outcome(Self.hello) == .name("shop.example.test", .sni))
        #expect(outcome(Self.hello + [UInt8](repeating: 0x17, count: 40)) == .name("shop.example.test", .sni))
    }

    @Test func nothingIsSaidBeforeTheHelloIsWhole() {
        #expect(outcomes(Array(Self.hello.dropLast()), in: 1) == [.needsMore])
    }

    /// X25519MLKEM768 has a share of 1,216 octets (draft-ietf-tls-ecdhe-mlkem): two segments, and several records.
    @Test("a post-quantum ClientHello of 1.9 KB", arguments: [16_000, 1200, 700, 33])
    func postQuantum(recordSize: Int) {
        let share: [UInt8] = [4, 0xc4, 0x11, 0xec, 4, 0xc0] + [UInt8](repeating: 0xa5, count: 1216)
        let long = adding(51, share, to: adding(0xfe0d, [UInt8](repeating: 0x5a, count: 400), to: Self.hello))
        #expect((1850...1950).contains(long.count))
        #expect(outcome(inRecords(long, of: recordSize)) == .name("shop.example.test", .sni))
    }

    /// RFC 9849 (ECH), section 6.1: the outer ClientHello names the provider's public name.
    @Test func ofAnEncryptedHelloTheOuterNameCounts() {
        // outer, HKDF-SHA256 and AES-128-GCM, config 1, 32 octets of key, 160 of payload
        let outer: [UInt8] =
            [0, 0, 1, 0, 1, 1, 0, 32] + [UInt8](repeating: 3, count: 32) + [0, 160]
            + [UInt8](repeating: 9, count: 160)
        #expect(outcome(adding(0xfe0d, outer, to: Self.hello)) == .name("shop.example.test", .sni))
    }

    @Test func capitalsInANameAreFolded() {
        var loud = Self.hello
        let name = loud.indices.first { loud[$0...].starts(with: Array("shop.".utf8)) } ?? 0
        loud.replaceSubrange(name..<name + 4, with: Array("SHoP".utf8))
        #expect(outcome(loud) == .name("shop.example.test", .sni))
    }

    @Test("a ClientHello without a host name has none", arguments: ["shop.example.te\0t", "192.0.2.1........", "a b"])
    func badNames(text: String) {
        var odd = Self.hello
        let name = odd.indices.first { odd[$0...].starts(with: Array("shop.".utf8)) } ?? 0
        let padded = Array(text.utf8) + [UInt8](repeating: 0x20, count: 17)
        odd.replaceSubrange(name..<name + 17, with: padded.prefix(17))
        #expect(outcome(odd) == Sniffer.Outcome.none)
        // The extension's type becomes one that nobody knows.
        var without = Self.hello
        without.replaceSubrange(90..<92, with: [0x7a, 0x7a])
        #expect(outcome(without) == Sniffer.Outcome.none)
    }

    @Test func tlsThatIsNoClientHelloHasNone() {
        #expect(outcome(hex("1603030005020000010000")) == Sniffer.Outcome.none)
        #expect(outcome(hex("160a0a000501")) == Sniffer.Outcome.none)
        #expect(outcome(hex("16fefd0000")) == Sniffer.Outcome.none)
    }

    // MARK: HTTP

    @Test(
        "a request is for its host",
        arguments: [
            ("GET / HTTP/1.1\r\nHost: shop.example.test\r\n\r\n", "shop.example.test"),
            ("GET / HTTP/1.0\r\nUser-Agent: x\r\nhOST:Shop.Example.TEST:8080\r\n", "shop.example.test"),
            ("POST /a?b HTTP/1.1\nHost: \t shop.example.test. \t\n", "shop.example.test"),
            ("\r\nGET / HTTP/1.1\r\nHost: a_b.test:\r\n", "a_b.test"),
            ("GET / HTTP/1.1\r\nCookie: \(String(repeating: "c", count: 4000))\r\nHost: late.test\r\n", "late.test"),
            // RFC 9112, section 3.2.2: the target counts before the field.
            ("GET http://Real.test:81/x HTTP/1.1\r\nHost: other.test\r\n\r\n", "real.test"),
            ("GET HTTPS://user:p@real.test?q HTTP/1.1\r\n", "real.test"),
        ])
    func host(request: String, name: String) {
        #expect(outcome(request) == .name(name, .host))
    }

    @Test func aHostIsKnownBeforeTheHeadIsWhole() {
        let start = "GET / HTTP/1.1\r\nHost: early.test\r"
        #expect(outcomes(Array(start.utf8), in: 1) == [.needsMore])
        #expect(outcome(start + "\n") == .name("early.test", .host))
    }

    @Test(
        "what has no name has none",
        arguments: [
            // RFC 9113, section 3.4: the client's preface of HTTP/2.
            "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: 192.0.2.1:8080\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: [2001:db8::1]:8080\r\n\r\n",
            "GET http://[2001:db8::1]/ HTTP/1.1\r\nHost: other.test\r\n\r\n",
            "GET / HTTP/1.1\r\nHost:\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: evil.test\u{b}x\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a.test, b.test\r\n\r\n",
            "GET / HTTP/1.0\r\nAccept: */*\r\n\r\n",
            "GET / HTTP/1.1\r\n folded\r\nHost: a.test\r\n\r\n",
            "GET / HTTP/1.1\r\nHost : a.test\r\n\r\n",
            "GET /\r\n",
            "GET / HTTP/1.x\r\nHost: a.test\r\n",
            // The name of where a proxy is to go is not the proxy's.
            "CONNECT shop.test:443 HTTP/1.1\r\nHost: shop.test:443\r\n\r\n",
            "SSH-2.0-OpenSSH_9.9\r\n",
            "EHLO mail.test\r\n",
            "* OK IMAP4rev1 ready\r\n",
            "\u{13}BitTorrent protocol",
            " GET / HTTP/1.1\r\n",
            "GET /\u{1} HTTP/1.1",
            String(repeating: "X", count: 25),
        ])
    func nothing(stream: String) {
        #expect(outcome(stream) == Sniffer.Outcome.none)
    }

    /// A protocol that is neither is known by its first octets, not by its 8,192nd.
    @Test func whatIsNeitherIsKnownAtOnce() {
        #expect(outcomes([0x80], in: 1) == [.none])
        #expect(outcomes([0], in: 1) == [.none])
        #expect(outcomes(Array("PRI * HTTP/2.0\r\n".utf8), in: 1) == [.needsMore, .none])
    }

    // MARK: The bound

    @Test func theBoundIsKept() {
        let endless = "GET /" + String(repeating: "a", count: 9000)
        #expect(outcomes(Array(endless.utf8.prefix(8191)), in: 100) == [.needsMore])
        #expect(outcome(endless) == .tooLong)
        let fields = "GET / HTTP/1.1\r\n" + String(repeating: "X: y\r\n", count: 2000)
        #expect(outcome(fields) == .tooLong)
        // A hello that announces 15,000 octets.
        #expect(outcome([0x16, 3, 1, 0x3a, 0x9c, 1, 0, 0x3a, 0x98] + [UInt8](repeating: 3, count: 9000)) == .tooLong)
        #expect(outcomes(Self.hello, in: 1, limit: Self.hello.count) == [.needsMore, .name("shop.example.test", .sni)])
        #expect(outcomes(Self.hello, in: 1, limit: Self.hello.count - 1) == [.needsMore, .tooLong])
    }

    @Test func whatWasFoundStays() {
        var sniffer = Sniffer()
        sniffer.take(Array("GET / HTTP/1.1\r\nHost: a.test\r\n".utf8).span)
        sniffer.take(Array("Host: b.test\r\n\r\n".utf8).span)
        #expect(sniffer.outcome == .name("a.test", .host))
    }

    @Test("pieces never change what is found", arguments: 0..<8)
    func mutations(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        let seeds = [Self.hello, Array("GET http://a.test/ HTTP/1.1\r\nHost: b.test:80\r\nX: y\r\n\r\n".utf8)]
        for round in 0..<LongRun.rounds(300, long: 20_000) {
            var stream = seeds[random.number(0..<seeds.count)]
            for _ in 0..<random.number(1..<4) {
                stream[random.number(0..<stream.count)] = UInt8(truncatingIfNeeded: random.next())
            }
            let size = random.number(1..<60)
            if outcomes(stream, in: size).last != outcomes(stream, in: stream.count).last {
                Issue.record("seed \(seed), round \(round): pieces of \(size) are judged otherwise")
                return
            }
        }
    }
}
