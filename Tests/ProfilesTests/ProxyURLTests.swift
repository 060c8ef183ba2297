/// Proxy URLs, and credentials wherever they are written.

import Addresses
import Profiles
import Testing

/// The user and password of a URL as Basic sends them.
func basic(url: String) throws(ProxyURLError) -> String? {
    guard let source = try ProxyURL.parse(url).upstream.credentials, case .given(let password) = source.password else {
        return nil
    }
    return Credentials(user: source.user, password: password).basic.revealed
}

struct ProxyURLTests {
    @Test(
        "reads hosts, ports and names",
        arguments: [
            ("http://proxy.example:8080", "http", "proxy.example:8080", nil),
            ("HTTP://Proxy.Example:8080/", "http", "proxy.example:8080", nil),
            ("socks5://192.0.2.1:1080", "socks5", "192.0.2.1:1080", nil), ("socks5h://h:1", "socks5", "h:1", nil),
            ("http://[2001:db8::1]:3128", "http", "[2001:db8::1]:3128", nil), ("  http://h:1\n", "http", "h:1", nil),
            ("http://u@h:65535#QA%20lab", "http", "h:65535", "QA lab"), ("http://h:1/#", "http", "h:1", nil),
        ])
    func reads(text: String, type: String, server: String, name: String?) throws {
        let url = try ProxyURL.parse(text)
        #expect(url.upstream.type.rawValue == type)
        #expect(url.upstream.server?.description == server)
        #expect(url.name == name)
    }

    @Test(
        "B050, B054: user and password are cut at the first colon, then decoded once",
        arguments: [
            ("http://user%40corp:p%40ss%3Aw%2Frd@127.0.0.1:8888", "Basic dXNlckBjb3JwOnBAc3M6dy9yZA=="),
            ("http://u:100%2525@127.0.0.1:8888", "Basic dToxMDAlMjU="), ("http://u:p:w@h:1", "Basic dTpwOnc="),
            ("http://u:p%C3%A4ss@h:1", "Basic dTpww6Rzcw=="), ("http://u:päss@h:1", "Basic dTpww6Rzcw=="),
            ("http://u:e17$%40%23b&E&@h:1", "Basic dTplMTckQCNiJkUm"), ("http://u@h:1", "Basic dTo="),
            ("http://u:@h:1", "Basic dTo="),
        ])
    func credentials(url: String, header: String) throws {
        #expect(try basic(url: url) == header)
    }

    @Test(
        "B054: separate fields are taken literally",
        arguments: [
            ("u", "p:w", "Basic dTpwOnc="), ("u", "e17$@#b&E&", "Basic dTplMTckQCNiJkUm"),
            ("u", "100%25", "Basic dToxMDAlMjU="),
            ("u", "päss", "Basic dTpww6Rzcw=="),
        ])
    func literal(user: String, password: String, header: String) throws {
        let file = Array((password + "\n").utf8)
        let credentials = Credentials(user: user, password: try Secret.parse(file: file.span))
        #expect(credentials.basic.revealed == header)
    }

    @Test("B054: a user with a colon is refused where Basic would cut it, and nowhere else")
    func colon() throws {
        let error = refusal(minimal(upstream: "user: 'a:b', passwordFile: 'p'"))
        #expect(error?.path == "profiles[0].upstream.user")
        #expect(throws: ProxyURLError.colonInUser) { try ProxyURL.parse("http://a%3Ab:c@h:1") }
        #expect(try ProxyURL.parse("socks5://a%3Ab:c@h:1").upstream.credentials?.user == "a:b")
        #expect(refusal(minimal("http: { users: [{ name: 'a:b', passwordFile: 'p' }] }"))?.path == "http.users[0].name")
    }

    @Test(
        "every other text has an error of its own",
        arguments: [
            ("", ProxyURLError.scheme), ("proxy:8080", .scheme), ("ftp://h:1", .scheme), ("socks4://h:1", .scheme),
            ("http:/h:1", .scheme),
            ("https://h:1", .encryptedProxy), ("http://h", .port), ("http://h:", .port), ("http://h:0", .port),
            ("http://h:65536", .port),
            ("http://h:80a", .port), ("http://h:+80", .port), ("http://:80", .host(hint: nil)),
            ("http://a..b:80", .host(hint: nil)),
            ("http://2001:db8::1:80", .host(hint: "an IPv6 address stands in brackets")),
            ("http://[192.0.2.1]:80", .host(hint: "brackets are for IPv6 addresses")),
            ("http://[::1:80", .host(hint: "brackets are for IPv6 addresses")),
            ("http://8.8.8.256:80", .host(hint: "four numbers up to 255")), ("http://h:1/path", .path),
            ("http://h:1?q", .path),
            ("http://u:p@ss@h:1", .userInfo), ("http://u:p/w@h:1", .userInfo), ("http://u:p#w@h:1", .userInfo),
            ("http://@h:1", .userName),
            ("http://:p@h:1", .userName), ("http://u:%@h:1", .percentEncoding), ("http://u:%4@h:1", .percentEncoding),
            ("http://u:%zz@h:1", .percentEncoding), ("http://u:%ff@h:1", .percentEncoding),
            ("http://u:%0a@h:1", .controlCharacter),
            ("http://u:a b@h:1", .controlCharacter), ("http://h\r\n:1", .controlCharacter), ("socks5://u@h:1", .length),
        ])
    func refuses(text: String, error: ProxyURLError) {
        #expect(throws: error) { try ProxyURL.parse(text) }
    }

    @Test("SOCKS5 takes users and passwords of 255 octets and no more")
    func lengths() throws {
        let longest = String(repeating: "x", count: 255)
        _ = try ProxyURL.parse("socks5://\(longest):\(longest)@h:1")
        #expect(throws: ProxyURLError.length) { try ProxyURL.parse("socks5://\(longest)x:p@h:1") }
        #expect(throws: ProxyURLError.length) { try ProxyURL.parse("socks5://u:\(longest)x@h:1") }
        let tooLong = String(repeating: "x", count: 5000)
        #expect(throws: ProxyURLError.length) { try ProxyURL.parse("http://\(tooLong):1") }
    }
}

struct SecretTests {
    @Test(
        "a password file is one line, with or without its end",
        arguments: [("abc", "abc"), ("abc\n", "abc"), ("abc\r\n", "abc"), ("\u{feff}abc\n", "abc"), (" a b ", " a b ")])
    func reads(file: String, password: String) throws {
        let bytes = Array(file.utf8)
        let secret = try Secret.parse(file: bytes.span)
        #expect(secret.revealed == password)
    }

    @Test(
        "a password file with anything else is refused",
        arguments: [
            ([], SecretError.empty), ([0x0a], .empty), (Array("a\nb\n".utf8), .controlCharacter),
            ([0x61, 0], .controlCharacter),
            ([0x61, 0xff], .encoding), ([UInt8](repeating: 0x61, count: 1025), .tooLong),
            ([UInt8](repeating: 0x61, count: 99999), .tooLong),
        ])
    func refuses(file: [UInt8], error: SecretError) {
        #expect(throws: error) { try Secret.parse(file: file.span) }
    }
}

/// B215: the secret, its Base64 and its percent-encoded form appear nowhere.
struct SecretRedactionTests {
    static let secrets = ["S3cr3t-Zq", "UzNjcjN0LVpx", "S3cr3t%2DZq"]

    static func shows(_ text: String) -> Bool {
        secrets.contains { text.contains($0) }
    }

    @Test("B215: no description, dump or interpolation shows a secret")
    func descriptions() throws {
        let url = try ProxyURL.parse("http://qa:S3cr3t%2DZq@proxy.example:8080")
        let base = try configuration(minimal()).replacingUpstream(by: url.upstream)
        let credentials = Credentials(user: "qa", password: Secret("S3cr3t-Zq"))
        var dumped = ""
        dump(url, to: &dumped)
        dump(base, to: &dumped)
        dump(credentials, to: &dumped)
        dump(credentials.basic, to: &dumped)
        for value in [url, base, credentials, credentials.basic] as [Any] {
            dumped += String(describing: value) + String(reflecting: value) + "\(value)"
        }
        #expect(!Self.shows(dumped))
        #expect(!Self.shows(try base.resolve().summary))
        #expect(try base.resolve().summary.contains("user \"qa\""))
    }

    @Test(
        "B215: no refused configuration repeats a secret",
        arguments: SecretRedactionTests.secrets.flatMap { secret in
            [
                minimal(upstream: "password: '\(secret)'"), minimal(upstream: "password: \(secret)"),
                minimal(upstream: "passwrd: '\(secret)'"),
                "{ profiles: [{ id: 'a', upstream: { type: 'http', host: 'http://qa:\(secret)@proxy:8080', port: 1 } }] }",
                "{ profiles: [{ id: 'a', upstream: { type: 'http', host: 'qa:\(secret)@proxy', port: 1 } }] }",
                "{ profiles: [{ id: 'a', upstream: { type: 'http', host: 'http://qa:\(secret)', port: 1 } }] }",
                "{ profiles: [{ id: 'a', upstream: { type: 'http', host: 'http://qa:x/\(secret)@proxy:8080', port: 1 } }] }",
                "{ profiles: [{ id: 'a', upstream: { type: 'http://qa:\(secret)@h', host: 'h', port: 1 } }] }",
                "{ profiles: [{ id: 'a', upstream: { type: 'http', host: 'h', port: 'http://qa:\(secret)@h:1' } }] }",
                minimal("socks: { listen: 'http://qa:\(secret)@127.0.0.1:1' }"),
                minimal("socks: { allow: ['qa:\(secret)@h'] }"),
                minimal("active: 'http://qa:\(secret)@h'"), minimal("tun: { name: 'http://qa:\(secret)@h' }"),
                "{ profiles: [{ id: 'a', upstream: { type: 'direct' }, domains: ['http://qa:\(secret)@h/'] }] }",
                "{ profiles: [{ id: 'a', upstream: { type: 'direct' }, bypass: ['qa:\(secret)@h'] }] }",
                "{ profiles: [{ id: 'a', upstream: { type: 'direct' }, rules: ['DOMAIN,http://qa:\(secret)@h,PROXY'] }] }",
                "{ profiles: [{ id: 'a', upstream: { type: 'direct' }, rules: ['http://qa:\(secret)@h'] }] }",
                minimal("limits: { dial: 'qa:\(secret)@h' }"), "{ profiles: [ '\(secret)', ", "{ a: '\(secret)\n' }",
                "\(secret)", "{ a: \"\(secret)\\u12\" }",
            ]
        })
    func refusals(text: String) throws {
        let error = try #require(refusal(text))
        #expect(!Self.shows(error.description), "\(error)")
        #expect(!Self.shows(String(reflecting: error)), "\(error)")
    }

    @Test(
        "B215: no refused URL or argument repeats a secret",
        arguments: SecretRedactionTests.secrets.flatMap { secret in
            [
                "http://qa:\(secret)@proxy", "http://qa:\(secret)@pro xy:1", "http://qa:\(secret)@@proxy:1",
                "http://qa:\(secret)", "qa:\(secret)@proxy:1",
                "https://qa:\(secret)@proxy:1", "http://qa:\(secret)%@proxy:1", "http://\(secret):1:2",
                "http://qa:x/\(secret)@proxy:1",
                "http://qa:\(secret)@proxy:1", "http://qa:x@\(secret)/:1",
            ]
        })
    func arguments(url: String) throws {
        if let error = #expect(
            throws: UsageError.self, performing: { try CommandLineOptions.parse(["--config", "c", "--upstream", url]) })
        {
            #expect(!Self.shows(error.description), "\(error)")
        }
        for arguments in [[url], ["--config", "c", url], ["--upstrem=\(url)"], ["--upstrem", url], ["--\(url)"]] {
            if let error = #expect(throws: UsageError.self, performing: { try CommandLineOptions.parse(arguments) }) {
                #expect(!Self.shows(error.description), "\(error)")
            }
        }
    }
}
