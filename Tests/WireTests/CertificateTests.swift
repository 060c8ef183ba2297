/// Certificates that openssl has made, as openssl shows them, and what is no certificate.

import Bytes
import TestSupport
import Testing

@testable import Wire

@Suite(.enabled(if: Lab.has("openssl"))) struct CertificateTests {
    private static let elliptic = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]

    /// A certificate in PEM, signed by itself.
    private static func certificate(_ arguments: [String], configuration: String? = nil) throws -> [UInt8] {
        let scratch = try Scratch()
        if let configuration { try Scratch.put(Array(configuration.utf8), scratch.path("names")) }
        let made = try Command.run(
            ["openssl", "req", "-x509", "-nodes", "-keyout", "key.pem"] + arguments, in: scratch.directory)
        guard made.status == 0 else { throw LabError(made.errors) }
        return made.output
    }

    /// What openssl says of it; names as RFC 4514 writes them, but in the certificate's order.
    private static func shown(_ certificate: [UInt8], _ option: String, as form: String = "PEM") throws -> String {
        let scratch = try Scratch()
        let names = "esc_2253,esc_ctrl,utf8,sep_comma_plus_space,sname"
        let asked = try Command.run(
            [
                "openssl", "x509", "-inform", form, "-noout", option, "-sha256", "-nameopt", names, "-dateopt",
                "iso_8601",
            ],
            in: scratch.directory, input: certificate)
        guard asked.status == 0 else { throw LabError(asked.errors) }
        let line = String(decoding: asked.output, as: UTF8.self).split(separator: "\n").first ?? ""
        return String(line.drop { $0 != "=" }.dropFirst())
    }

    /// A moment as openssl's iso_8601 writes it.
    private static func moment(_ seconds: Int64) -> String {
        let text = UnixTime(seconds: seconds).description
        return String(text.prefix(19)).replacing("T", with: " ") + "Z"
    }

    private static func expectAsOpenSSL(_ pem: [UInt8], _ location: SourceLocation = #_sourceLocation) throws {
        let read = try Certificate.parse(pem)
        let subject = try shown(pem, "-subject")
        let issuer = try shown(pem, "-issuer")
        let fingerprint = try shown(pem, "-fingerprint")
        let (from, until) = (try shown(pem, "-startdate"), try shown(pem, "-enddate"))
        #expect(read.subject == subject, sourceLocation: location)
        #expect(read.issuer == issuer, sourceLocation: location)
        #expect(read.fingerprint == fingerprint, sourceLocation: location)
        #expect(moment(read.notBefore) == from, sourceLocation: location)
        #expect(moment(read.notAfter) == until, sourceLocation: location)
    }

    @Test(
        "names, days and fingerprint are those that openssl shows",
        arguments: [
            ["-newkey", "rsa:2048", "-days", "30", "-subj", "/CN=mitmproxy/O=mitmproxy"],
            elliptic + ["-days", "3650", "-subj", "/C=DE/ST=Berlin/L=Berlin/O=Lab/OU=QA/CN=Lab authority"],
            // Past 2049 the last second is a GeneralizedTime (RFC 5280, section 4.1.2.5).
            elliptic + ["-days", "14600", "-subj", "/DC=example/DC=lab/UID=7/emailAddress=a@lab.example/SN=S/GN=G"],
            elliptic + ["-subj", "/CN=a\\, \"b\" <c>; d\\\\e+f=g"],
            elliptic + [
                "-subj", "/CN=#7/street=1, Main/title=x/serialNumber=0/1.2.840.99999.7=odd", "-multivalue-rdn",
            ],
            elliptic + ["-utf8", "-subj", "/O=Müller & Söhne/CN=代理 根证书"],
            elliptic + ["-multivalue-rdn", "-subj", "/CN=several+OU=in one/O=step"],
        ])
    func shown(arguments: [String]) throws { try Self.expectAsOpenSSL(try Self.certificate(arguments)) }

    @Test(
        "names in older kinds of strings", arguments: ["MASK:0x2", "MASK:0x4", "MASK:0x800", "MASK:0x2000", "utf8only"])
    func strings(mask: String) throws {
        // Printable, Teletex, BMP, UTF8: a_strex.c tells which bit is which.
        let configuration = """
            [req]
            string_mask = \(mask)
            distinguished_name = names
            utf8 = yes
            [names]
            """
        let name = mask == "MASK:0x2" ? "Lab" : "Prüflabor é"
        try Self.expectAsOpenSSL(
            try Self.certificate(
                Self.elliptic + ["-config", "names", "-utf8", "-subj", "/CN=\(name)"], configuration: configuration))
    }

    @Test("DER is read as PEM is, and PEM is written as openssl writes it")
    func forms() throws {
        let scratch = try Scratch()
        let pem = try Self.certificate(Self.elliptic + ["-subj", "/CN=Lab"])
        let der = try Command.run(["openssl", "x509", "-outform", "DER"], in: scratch.directory, input: pem).output
        let read = try Certificate.parse(der)
        let fromText = try Certificate.parse(pem)
        #expect(read == fromText)
        #expect(read.der == der)
        #expect(read.pem == String(decoding: pem, as: UTF8.self))
        let described = Array("Subject: CN=Lab\r\n".utf8) + pem.flatMap { $0 == 0x0a ? [0x0d, 0x0a] : [$0] }
        #expect(try Certificate.parse(described) == read)
    }

    @Test(
        "an authority is told from a server",
        arguments: [
            ("basicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign,cRLSign", nil),
            ("basicConstraints=CA:TRUE,pathlen:0", nil),
            ("basicConstraints=CA:TRUE\nkeyUsage=decipherOnly,keyCertSign", nil),
            ("basicConstraints=critical,CA:FALSE", "its basicConstraints say that it is no authority's"),
            ("subjectAltName=DNS:web.example", "it has no basicConstraints"),
            (
                "basicConstraints=CA:TRUE\nkeyUsage=digitalSignature",
                "its keyUsage doesn't include signing certificates"
            ),
            ("basicConstraints=CA:TRUE\nkeyUsage=decipherOnly", "its keyUsage doesn't include signing certificates"),
        ] as [(String, String?)])
    func authority(extensions: String, doubt: String?) throws {
        let configuration = "[req]\ndistinguished_name=d\nx509_extensions=e\n[d]\n[e]\n\(extensions)\n"
        let pem = try Self.certificate(
            Self.elliptic + ["-config", "names", "-subj", "/CN=Lab"], configuration: configuration)
        let read = try Certificate.parse(pem)
        #expect(read.authorityDoubt == doubt)
        #expect(read.isAuthority == (doubt == nil))
        guard let doubt else { return try read.checkAuthority(at: read.notBefore) }
        #expect(throws: CertificateError.notAuthority(subject: "CN=Lab", because: doubt)) {
            try read.checkAuthority(at: read.notBefore)
        }
    }

    @Test("a certificate of version 1 is read, and is no authority's")
    func version1() throws {
        let scratch = try Scratch()
        let script = """
            openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout k -out r -subj /CN=old
            openssl x509 -req -in r -signkey k -days 5
            """
        let made = try Command.run(["bash", "-euc", script], in: scratch.directory)
        try Self.expectAsOpenSSL(made.output)
        let doubt = try Certificate.parse(made.output).authorityDoubt
        #expect(doubt == "it has version 1, in which no certificate says what it is for")
    }

    @Test("whoever is over, or not valid yet, is no authority now, and the day is said")
    func days() throws {
        let scratch = try Scratch()
        let script = """
            mkdir new; touch index; echo 01 >serial
            printf '[ca]\\ndefault_ca=c\\n[c]\\ndatabase=index\\nserial=serial\\nnew_certs_dir=new\\ndefault_md=sha256\\n' >c
            printf 'policy=p\\nx509_extensions=e\\n[p]\\ncommonName=supplied\\n[e]\\nbasicConstraints=CA:TRUE\\n' >>c
            openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout k -out r -subj /CN=old
            openssl ca -batch -config c -selfsign -keyfile k -in r -notext -out o.pem \
                -startdate 20190228235959Z -enddate 20200229120000Z 2>/dev/null
            rm -r new; cat o.pem
            """
        let made = try Command.run(["bash", "-euc", script], in: scratch.directory)
        try Self.expectAsOpenSSL(made.output)
        let read = try Certificate.parse(made.output)
        // date -u -d '2020-02-29 12:00:00' +%s
        #expect(read.notAfter == 1_582_977_600)
        try read.checkAuthority(at: 1_582_977_600)
        #expect(throws: CertificateError.over(since: 1_582_977_600)) { try read.checkAuthority(at: 1_582_977_601) }
        // date -u -d '2019-02-28 23:59:59' +%s
        #expect(throws: CertificateError.notYet(from: 1_551_398_399)) { try read.checkAuthority(at: 1_551_398_398) }
        let words = CertificateError.over(since: 1_582_977_600).description
        #expect(words == "found a certificate that is over since 2020-02-29; expected one that is valid")
    }

    @Test(
        "what is no certificate is named",
        arguments: [
            ("", .empty), (" \r\n", .empty), ("\n <!DOCTYPE html><p>hello", .webPage),
            ("not found\n", .text("not found")), ("\u{1}\u{2}", .malformed("its outermost sequence")),
            (
                "-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----",
                .otherText("CERTIFICATE REQUEST")
            ),
            ("-----BEGIN CERTIFICATE-----\nAAAA\n", .malformedText("a block without an end")),
            (
                "-----BEGIN CERTIFICATE-----\nAA*A\n-----END CERTIFICATE-----",
                .malformedText("a character that is not of Base64")
            ),
            ("-----BEGIN CERTIFICATE-----\nAAA\n-----END CERTIFICATE-----", .malformedText("Base64 that is cut short")),
            ("-----BEGIN CERTIFICATE-----\nAAAA\n-----END X-----", .malformedText("a block that ends as another one")),
            (
                "-----BEGIN CERTIFICATE-----\n-----BEGIN CERTIFICATE-----\n",
                .malformedText("a block that begins within another one")
            ),
            ("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----", .malformed("its outermost sequence")),
            ("-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----", .privateKey),
        ] as [(String, CertificateError)])
    func refused(text: String, error: CertificateError) {
        #expect(throws: error) { try Certificate.parse(Array(text.utf8)) }
    }

    @Test("a key beside the certificate, a second certificate and too much of it are refused")
    func besides() throws {
        let scratch = try Scratch()
        let pem = try Self.certificate(Self.elliptic + ["-subj", "/CN=Lab"])
        let key = try Command.run(["openssl", "genpkey", "-algorithm", "ED25519"], in: scratch.directory).output
        #expect(throws: CertificateError.privateKey) { try Certificate.parse(pem + key) }
        #expect(throws: CertificateError.several(2)) { try Certificate.parse(pem + pem) }
        let long = [UInt8](repeating: 0x20, count: Certificate.sizeLimit) + pem
        #expect(throws: CertificateError.tooLong(long.count)) { try Certificate.parse(long) }
    }

    @Test("no certificate that is cut or changed traps, and none that is cut is read")
    func damaged() throws {
        let pem = try Self.certificate(Self.elliptic + ["-subj", "/C=DE/O=Lab/CN=Lab authority", "-days", "14600"])
        let der = try Certificate.parse(pem).der
        for count in 0..<der.count {
            #expect(throws: CertificateError.self) { try Certificate.parse(Array(der[..<count])) }
        }
        var random = SeededGenerator(seed: 6)
        for _ in 0..<LongRun.rounds(2000, long: 200_000) {
            var changed = der
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                changed[Int.random(in: 0..<changed.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            guard let read = try? Certificate.parse(changed) else { continue }
            #expect(read.subject.count <= 400 && read.issuer.count <= 400)
            #expect(read.notBefore < 253_402_300_800)
        }
    }

    @Test("control characters and turned lines do not get into a name")
    func names() throws {
        let pem = try Self.certificate(Self.elliptic + ["-utf8", "-subj", "/CN=a\u{1b}[31mb\u{202e}c"])
        let subject = try Certificate.parse(pem).subject
        #expect(subject == "CN=a [31mb c")
    }
}
