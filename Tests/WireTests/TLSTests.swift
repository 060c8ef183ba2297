/// The outside of TLS, with the bytes of OpenSSL 3 (Python's ssl module in memory, a self-signed certificate).

import TestSupport
import Testing
import Wire

@Suite struct TLSTests {
    private static let hello12 = hex(
        """
        16030100b7010000b303037119bb233e172f905078977ed653d073448ff0062b3f67956b995b9af77bdb6700001ec02cc030c02bc02f
        cca9cca8c024c028c023c027009f009e006b006700ff0100006c00000016001400001173686f702e6578616d706c652e74657374000b
        000403000102000a000c000a001d0017001e00190018002300000016000000170000000d002a00280403050306030807080808090
        80a080b080408050806040105010601030303010302040205020602
        """)
    private static let hello13 = hex(
        """
        16030100f6010000f20303763d86aa1934570a06fa0bb0f19484b685d0b0b7337ff8298373eb8b2c3e78b920c12b25043c40d7b59c
        c54f2805179ec360127d9266e57a25162989b2e69e0f02000813021303130100ff010000a100000016001400001173686f702e6578
        616d706c652e74657374000b000403000102000a00160014001d0017001e0019001801000101010201030104002300000016000000
        170000000d001e001c040305030603080708080809080a080b080408050806040105010601002b0003020304002d00020101003300
        260024001d00204dd035177b604ecc7549b691e936acdbc4fac978d2fa87958e719c70f5679641
        """)
    private static let serverHello = hex("160303007a0200007603")
    private static let unknownCA = hex("15030300020230")

    @Test func findsTheName() {
        #expect(TLSClientHello.serverName(in: Self.hello12.span) == .name("shop.example.test"))
        #expect(TLSClientHello.serverName(in: Self.hello13.span) == .name("shop.example.test"))
    }

    @Test func waitsForTheWholeHello() {
        for count in 1..<Self.hello13.count {
            #expect(TLSClientHello.serverName(in: Self.hello13.span.extracting(0..<count)) == .needsMore)
        }
    }

    @Test("finds the name across records (RFC 8446, section 5.1)", arguments: [1, 2, 50, 140])
    func acrossRecords(size: Int) {
        let message = Array(Self.hello13[5...])
        var stream: [UInt8] = []
        for start in stride(from: 0, to: message.count, by: size) {
            let piece = message[start..<min(start + size, message.count)]
            stream += [0x16, 3, 1, UInt8(piece.count >> 8), UInt8(piece.count & 0xff)] + piece
        }
        #expect(TLSClientHello.serverName(in: stream.span) == .name("shop.example.test"))
    }

    @Test func knowsWhatIsNoHello() {
        #expect(TLSClientHello.serverName(in: Array("GET / HTTP/1.1\r\n".utf8).span) == .notTLS)
        #expect(TLSClientHello.serverName(in: hex("1603030005020000010000").span) == .notTLS)
        #expect(TLSClientHello.serverName(in: hex("16030100040100000000").span) == .notTLS)
        var damaged = Self.hello13
        // The length of all extensions leaves the message.
        damaged[86] = 0xff
        #expect(TLSClientHello.serverName(in: damaged.span) == .notTLS)
    }

    @Test("no damage makes the parser leave its bytes")
    func damages() {
        for index in Self.hello12.indices {
            for value: UInt8 in [0, 1, 0x7f, 0xff] {
                var damaged = Self.hello12
                damaged[index] = value
                _ = TLSClientHello.serverName(in: damaged.span)
            }
        }
    }

    /// What the watch says after the pieces, `true` for those of the client.
    private func refused(_ pieces: [(isClient: Bool, bytes: [UInt8])]) -> Bool {
        var watch = TLSRefusalWatch()
        for piece in pieces {
            if piece.isClient { watch.client(piece.bytes.span) } else { watch.server(piece.bytes.span) }
        }
        return watch.clientRefused
    }

    @Test("a client that closes after the server's first flight, with an alert at most, refused the certificate")
    func refuses() {
        let opening = [(true, Self.hello12), (false, Self.serverHello), (false, [UInt8](repeating: 7, count: 3000))]
        #expect(refused(opening))
        #expect(refused(opening + [(true, Self.unknownCA)]))
        #expect(refused(opening + [(true, Array(Self.unknownCA[..<3])), (true, Array(Self.unknownCA[3...]))]))
        // TLS 1.3: a dummy change_cipher_spec and an encrypted alert.
        let encrypted = hex("140303000101" + "1703030013" + String(repeating: "ab", count: 19))
        #expect(refused(opening + [(true, encrypted)]))
    }

    @Test("a client that went on, or had another complaint, did not")
    func accepts() {
        let opening = [(true, Self.hello13), (false, Self.serverHello)]
        // OpenSSL's change_cipher_spec and Finished in TLS 1.3.
        let finished = hex("140303000101" + "1703030045" + String(repeating: "ab", count: 69))
        #expect(!refused(opening + [(true, finished)]))
        // handshake_failure, protocol_version, internal_error.
        for alert in ["15030300020228", "15030300020246", "15030300020250"] {
            #expect(!refused(opening + [(true, hex(alert))]))
        }
        // TLS 1.2: ClientKeyExchange.
        #expect(!refused(opening + [(true, hex("16030300251000002120"))]))
        #expect(!refused([(true, Self.hello13)]))
        #expect(!refused([(true, Array("GET / HTTP/1.1".utf8)), (false, Self.serverHello)]))
        #expect(!refused([(true, Self.hello13), (false, Array("HTTP/1.1 400".utf8))]))
        #expect(!refused([(false, Array("SSH-2.0".utf8)), (true, Self.unknownCA)]))
    }

    @Test("a second ClientHello after a HelloRetryRequest is no refusal and no acceptance")
    func retries() {
        let opening = [(true, Self.hello13), (false, Self.serverHello), (true, Self.hello13)]
        #expect(!refused(opening))
        #expect(refused(opening + [(false, Self.serverHello), (true, Self.unknownCA)]))
    }

    @Test func stopsWatching() {
        var watch = TLSRefusalWatch()
        watch.client(Self.hello13.span)
        watch.server(Self.serverHello.span)
        #expect(watch.isWatching)
        watch.client([UInt8](repeating: 0x17, count: 100).span)
        #expect(!watch.isWatching)
    }
}
