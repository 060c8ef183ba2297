/// Certificates that openssl has made, and the flights they come in.

import Bytes
import TestSupport
import Testing

@testable import Wire

@Suite(.enabled(if: Lab.has("openssl"))) struct TLSServerFlightTests {
    /// A certificate in DER, signed by itself, with the subject that openssl was given.
    private static func certificate(_ subject: String, _ more: [String] = []) throws -> [UInt8] {
        let scratch = try Scratch()
        let command =
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
            + ["-keyout", "key.pem", "-days", "2", "-utf8", "-subj", subject, "-outform", "DER"] + more
        let made = try Command.run(command, in: scratch.directory)
        guard made.status == 0 else { throw LabError(made.errors) }
        return made.output
    }

    @Test(
        "the common name of an issuer, else its organisation, else its unit",
        arguments: [
            ("/O=Lab/OU=QA/CN=Lab authority", "Lab authority"), ("/C=DE/O=Müller GmbH", "Müller GmbH"),
            ("/OU=QA", "QA"), ("/C=DE", "(without a name)"), ("/CN=first/CN=second", "second"),
        ])
    func names(subject: String, name: String) throws {
        let certificate = try Self.certificate(subject)
        let names = CertificateNames.parse(certificate.span)
        #expect(names == CertificateNames(issuer: name, subject: name))
    }

    @Test("an authority's certificate for somebody else has two names")
    func issued() throws {
        let scratch = try Scratch()
        let script = """
            openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout a.key -out a.pem \
                -days 2 -subj '/CN=Lab authority' 2>/dev/null
            openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout s.key -out s.csr \
                -subj '/CN=web.example' 2>/dev/null
            openssl x509 -req -in s.csr -CA a.pem -CAkey a.key -days 2 -outform DER 2>/dev/null
            """
        let made = try Command.run(["bash", "-euc", script], in: scratch.directory)
        let names = CertificateNames.parse(made.output.span)
        #expect(names == CertificateNames(issuer: "Lab authority", subject: "web.example"), "\(made.errors)")
    }

    /// The strings of X.520 that openssl does not write unasked, in one attribute each.
    @Test(
        "names in the older kinds of strings",
        arguments: [
            ("1e08004c006100e4006200", nil), ("1e0600c4006200e9", "Äbé"), ("1c080000004c0001f600", "L😀"),
            ("1403c46265", "Äbe"), ("1303414200", "AB"), ("0c024c0a", "L"), ("020101", "(without a name)"),
        ] as [(String, String?)])
    func strings(value: String, name: String?) {
        let octets = hex(value)
        let attribute = Self.element(0x30, [0x06, 3, 0x55, 4, 3] + octets)
        let rdn = Self.element(0x30, Self.element(0x31, attribute))
        let empty: [UInt8] = [0x30, 0]
        let body = Self.element(0x30, [2, 1, 1] + empty + rdn + empty + rdn)
        let certificate = Self.element(0x30, body)
        let names = CertificateNames.parse(certificate.span)
        #expect(names?.issuer == name)
    }

    private static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        [tag, UInt8(content.count)] + content
    }

    @Test(
        "what is no DER is refused",
        arguments: [
            "", "30", "3080", "30800000", "308100", "30817f", "3082007f", "1f0100", "300201", "30850000000001",
        ])
    func notDER(text: String) {
        let octets = hex(text)
        var range = 0..<octets.count
        #expect(DERElement.next(in: octets.span, &range) == nil)
    }

    /// A ServerHello of TLS 1.2 and a certificate message with one certificate.
    private static func flight(_ certificate: [UInt8]) -> [UInt8] {
        let hello: [UInt8] = [2, 0, 0, 38, 3, 3] + [UInt8](repeating: 7, count: 32) + [0, 0xc0, 0x2b, 0]
        let list = length(certificate.count) + certificate
        return hello + [11] + length(list.count + 3) + length(list.count) + list
    }

    private static func length(_ count: Int) -> [UInt8] {
        [UInt8(count >> 16), UInt8(count >> 8 & 0xff), UInt8(count & 0xff)]
    }

    private static func records(_ handshake: [UInt8], of size: Int) -> [UInt8] {
        stride(from: 0, to: handshake.count, by: size).flatMap { start in
            let piece = handshake[start..<min(start + size, handshake.count)]
            return [22, 3, 3, UInt8(piece.count >> 8), UInt8(piece.count & 0xff)] + piece
        }
    }

    @Test("the certificate is found in records and pieces of any size", arguments: [1, 7, 100, 16384])
    func pieces(size: Int) throws {
        let stream = Self.records(Self.flight(try Self.certificate("/CN=Lab authority")), of: size)
        let wanted = TLSServerFlight.Outcome.certificate(
            CertificateNames(issuer: "Lab authority", subject: "Lab authority"))
        for step in [1, 13, stream.count] {
            var flight = TLSServerFlight()
            var outcome: TLSServerFlight.Outcome?
            for start in stride(from: 0, to: stream.count, by: step) where outcome == nil {
                outcome = flight.receive(stream.span.extracting(start..<min(start + step, stream.count)))
            }
            #expect(outcome == wanted)
        }
    }

    @Test(
        "what comes in its place is named",
        arguments: [
            ([21, 3, 3, 0, 2, 2, 70], "no TLS 1.2 there (TLS alert protocol_version), so no certificate in clear"),
            ([21, 3, 3, 0, 2, 2, 40], "no cipher in common (TLS alert handshake_failure)"),
            ([21, 3, 1, 0, 2, 1, 112], "it doesn't know the host's name (TLS alert unrecognized_name)"),
            ([21, 3, 3, 0, 2, 2, 48], "TLS alert 48"),
            (Array("HTTP/1.1 400 Bad\r\n".utf8), "not TLS: \"HTTP/1.1 400 Bad\""),
            ([22, 3, 3, 0, 0], "a malformed TLS record"), ([20, 3, 3, 0, 1, 1], "encryption before a certificate"),
            ([22, 3, 3, 0, 4, 14, 0, 0, 0], "a handshake without a certificate"),
            ([22, 3, 3, 0, 11, 11, 0, 0, 7, 0, 0, 4, 0, 0, 1, 0], "a certificate that can't be read"),
            ([22, 3, 3, 0, 10, 11, 0, 0, 6, 0, 0, 3, 0, 0, 9], "a malformed certificate message"),
        ] as [([UInt8], String)])
    func failures(octets: [UInt8], words: String) {
        var flight = TLSServerFlight()
        #expect(flight.receive(octets.span) == .failure(words))
    }

    @Test("a server that sends without end is left after 128 KiB")
    func endless() {
        var flight = TLSServerFlight()
        let record: [UInt8] = [22, 3, 3, 0x40, 0] + [UInt8](repeating: 0, count: 16384)
        // A ServerHello of 16 MiB.
        var first = record
        first.replaceSubrange(5..<9, with: [2, 0xff, 0xff, 0xff])
        var outcome = flight.receive(first.span)
        var count = 1
        while outcome == nil, count < 20 {
            outcome = flight.receive(record.span)
            count += 1
        }
        #expect(outcome == .failure("no certificate in the first 128 KiB") && count == 8)
    }

    @Test("our own hello is read as a ClientHello, with the name of the host and none of an address")
    func hello() throws {
        let rows: [(String, TLSServerName)] = [
            ("shop.example.test", .name("shop.example.test")), ("192.0.2.1", TLSServerName.none),
        ]
        for (host, name) in rows {
            var octets: [UInt8] = []
            TLSServerFlight.writeHello(to: try #require(Host.parse(host)), random: (1, 2, 3, 4), into: &octets)
            #expect(TLSClientHello.serverName(in: octets.span) == name)
        }
    }

    @Test("survives mutated flights", arguments: 0..<4)
    func mutations(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let whole = Self.flight(try Self.certificate("/C=DE/O=Lab/CN=Lab authority"))
        for _ in 0..<LongRun.rounds(3000, long: 300_000) {
            var octets = whole
            for _ in 0..<random.number(1..<4) {
                let place = random.number(0..<min(octets.count, 300))
                switch random.number(0..<4) {
                case 0: octets[place] ^= 1 << UInt8(random.number(0..<8))
                case 1: octets[place] = UInt8(truncatingIfNeeded: random.next())
                case 2: octets.removeSubrange(place..<min(place + 3, octets.count))
                default: octets.insert(contentsOf: random.bytes(2), at: place)
                }
            }
            var flight = TLSServerFlight()
            _ = flight.receive(Self.records(octets, of: random.number(1..<2000)).span)
            _ = CertificateNames.parse(octets.span.extracting(min(60, octets.count)..<octets.count))
        }
    }
}
