/// The readers of conversations are total, and how a stream is cut changes nothing that they make of it.

import TestSupport
import Testing
import Wire

@Suite struct ConversationTotalityTests {
    private static let replies = [
        "HTTP/1.1 200 Connection established\r\nProxy-Agent: whistle\r\n\r\nabc",
        "\r\nHTTP/1.0 407 A\nProxy-Authenticate: Digest realm=\"a, b\",\r\n nonce=x, Basic\r\nContent-Length: 12\r\n\r\n",
        "HTTP/1.1 403 No\r\nTransfer-Encoding: chunked\r\nConnection: close\r\nContent-Type: text/html\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 Nothing\r\n\r\nHTTP/1.1 101 Go\r\n\r\n",
    ]
    private static let requests = [
        "GET /a HTTP/1.1\r\nHost: www.example.test\r\n\r\nPOST /b HTTP/1.1\r\nHost: www.example.test\r\nContent-Length: 3\r\n\r\nabc",
        "PUT http://www.example.test/c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3;a=b\r\nabc\r\n0\r\nT: u\r\n\r\n",
        "HEAD / HTTP/1.0\r\nConnection: close, x\r\nProxy-Connection: y\r\n\r\nOPTIONS * HTTP/1.1\r\nHost: www.example.test\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: www.example.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n\u{1}\u{2}\u{3}",
    ]

    /// One of the texts, or two, with a few octets changed.
    private func mutant(of texts: [String], _ random: inout SeededGenerator) -> [UInt8] {
        var bytes = Array(texts[random.number(0..<texts.count)].utf8)
        if random.chance(0.3) { bytes += Array(texts[random.number(0..<texts.count)].utf8) }
        let special: [UInt8] = [0, 9, 10, 13, 32, 44, 48, 58, 59, 61, 64, 102, 127, 255]
        for _ in 0..<random.number(0..<4) {
            let index = random.number(0..<bytes.count)
            switch random.number(0..<4) {
            case 0: bytes[index] = special[random.number(0..<special.count)]
            case 1: bytes.insert(special[random.number(0..<special.count)], at: index)
            case 2: bytes.remove(at: index)
            default: bytes[index] = UInt8(truncatingIfNeeded: random.next())
            }
            if bytes.isEmpty { bytes = [0] }
        }
        return bytes
    }

    /// Cuts bytes into pieces of random lengths.
    private func cut(_ bytes: [UInt8], _ random: inout SeededGenerator) -> [[UInt8]] {
        var pieces: [[UInt8]] = []
        var start = 0
        while start < bytes.count {
            let end = min(bytes.count, start + random.number(1..<40))
            pieces.append(Array(bytes[start..<end]))
            start = end
        }
        return pieces
    }

    /// The head of a reply and where it ends, or the error.
    private func readReply(_ pieces: [[UInt8]]) -> (head: HTTPReplyHead?, end: Int, error: HTTPError?) {
        var reader = HTTPReplyReader()
        var gone = 0
        for piece in pieces {
            do throws(HTTPError) {
                if let end = try reader.read(piece.span) { return (reader.head, gone + end, nil) }
            } catch {
                return (nil, 0, error)
            }
            gone += piece.count
        }
        return (nil, gone, nil)
    }

    /// What goes upstream, and whether it ended in an error.
    private func forwardAll(_ pieces: [[UInt8]], as form: HTTPForward.Form) -> (output: [UInt8], error: HTTPError?) {
        var forward = HTTPForward(to: Target(host: .name("www.example.test"), port: 80), as: form)
        var output: [UInt8] = []
        for piece in pieces {
            do throws(HTTPError) {
                let taken = try forward.rewrite(piece.span, into: &output)
                if taken < piece.count { return (output, nil) }
            } catch {
                return (output, error)
            }
        }
        return (output, nil)
    }

    @Test("a reply is the same however it is cut", arguments: 0..<4)
    func replies(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        for round in 0..<LongRun.rounds(2000, long: 300_000) {
            let bytes = mutant(of: Self.replies, &random)
            let whole = readReply([bytes])
            let pieces = readReply(cut(bytes, &random))
            // A failure may show earlier or later, but not in one way of cutting alone.
            let same = whole.error == nil ? whole.head == pieces.head && whole.end == pieces.end : pieces.error != nil
            guard same, whole.end <= bytes.count else {
                Issue.record("seed \(seed), round \(round)")
                return
            }
        }
    }

    @Test("a forwarded connection is the same however it is cut", arguments: 0..<4)
    func requests(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed) + 100)
        for round in 0..<LongRun.rounds(1500, long: 200_000) {
            let bytes = mutant(of: Self.requests, &random)
            let whole = forwardAll([bytes], as: .absolute)
            let pieces = forwardAll(cut(bytes, &random), as: .absolute)
            guard whole.error == nil ? pieces.error == nil && pieces.output == whole.output : pieces.error != nil else {
                Issue.record("seed \(seed), round \(round)")
                return
            }
        }
    }

    @Test("what goes upstream reads there as what was meant here", arguments: 0..<4)
    func smuggling(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed) + 200)
        for round in 0..<LongRun.rounds(1500, long: 200_000) {
            let first = forwardAll([mutant(of: Self.requests, &random)], as: .absolute)
            if first.error != nil { continue }
            let second = forwardAll([first.output], as: .absolute)
            let third = forwardAll([second.output], as: .absolute)
            guard second.error == nil, third.error == nil, third.output == second.output else {
                Issue.record("seed \(seed), round \(round)")
                return
            }
        }
    }

    @Test("answers are watched whatever they are", arguments: 0..<4)
    func observing(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed) + 300)
        for _ in 0..<LongRun.rounds(1500, long: 200_000) {
            var forward = HTTPForward(to: Target(host: .name("www.example.test"), port: 80), as: .absolute)
            var output: [UInt8] = []
            _ = try? forward.rewrite(mutant(of: Self.requests, &random).span, into: &output)
            for piece in cut(mutant(of: Self.replies, &random), &random) { forward.observe(piece.span) }
            _ = HTTPChallenge(mutant(of: Self.replies, &random))
            var text = HTTPErrorText()
            text.append(mutant(of: Self.replies, &random).span)
            #expect(text.text(of: HTTPReplyHead()).count <= HTTPErrorText.maximumLength)
        }
    }

    @Test("SOCKS5, TLS and hosts are read whatever they are", arguments: 0..<4)
    func others(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed) + 400)
        for _ in 0..<LongRun.rounds(3000, long: 400_000) {
            var bytes = random.bytes(random.number(0..<40))
            for index in bytes.indices where random.chance(0.6) { bytes[index] %= 6 }
            _ = try? SOCKS5Greeting.parse(bytes.span)
            _ = try? SOCKS5Login.parse(bytes.span)
            if let (message, length) = try? SOCKS5Message.parse(bytes.span) {
                #expect(length <= bytes.count)
                if case .name(let name)? = message.host { #expect(name.utf8.allSatisfy { $0 > 0x2c && $0 < 0x7b }) }
            }
            if !bytes.isEmpty, random.chance(0.7) { bytes[0] = 22 }
            _ = TLSClientHello.serverName(in: bytes.span)
            var watch = TLSRefusalWatch()
            watch.client(bytes.span)
            watch.server([22].span)
            watch.client(random.bytes(random.number(0..<60)).span)
            _ = watch.clientRefused
            _ = Target.parse(bytes.span, defaultPort: 80)
        }
    }
}
