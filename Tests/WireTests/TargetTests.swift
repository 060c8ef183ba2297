/// Hosts and ports as text: what is one, and what is refused.

import Addresses
import Testing
import Wire

@Suite struct TargetTests {
    @Test(
        "B040: an IPv6 address is written with one pair of brackets, however it was given",
        arguments: ["2001:db8::1", "[2001:db8::1]", "2001:DB8:0:0::1"])
    func bracketsOnce(text: String) throws {
        let host = try #require(Host.parse(text))
        #expect(Target(host: host, port: 443).description == "[2001:db8::1]:443")
    }

    @Test(
        "B210: a name with anything but letters, digits, hyphen, underscore and dots is no host",
        arguments: [
            "evil\r\nX-A: 1", "evil\0.test", "ev il.test", "a#b.test", "u@b.test", "a/b.test", "a:443", "%0d%0a.test",
            "[evil]", "[192.0.2.1]", "fe80::1%eth0", "[2001:db8::1", "2001:db8::1]", "", ".", "a..b", ".a", "[]",
            "é.test",
            "a\u{7f}b", "*.test", "a\tb",
        ])
    func refuses(text: String) {
        #expect(Host.parse(text) == nil)
    }

    @Test("B210: bytes that are no text are no host")
    func refusesBytes() {
        let text: [UInt8] = [0x80, 0x81, 0x2e, 0x74, 0x65, 0x73, 0x74]
        #expect(Host.parse(text.span) == nil)
    }

    @Test(
        "B214: numbers that a resolver would read as an address are no names",
        arguments: ["127.1", "2130706433", "0x7f.1", "0x7f000001", "010.0.0.1", "1.2.3.4.5", "host.1", "256.1.1.1"])
    func refusesNumbers(text: String) {
        #expect(Host.parse(text) == nil)
    }

    @Test(
        "takes the names of the world",
        arguments: [
            "example.test", "a", "my_host", "3com.example", "xn--bcher-kva.example", "0xzz", "1e100.net", "dead.beef",
        ])
    func takesNames(text: String) {
        #expect(Host.parse(text) == .name(text))
    }

    @Test func dropsTheRootDot() {
        #expect(Host.parse("example.test.") == .name("example.test"))
    }

    @Test("B071: a label has 63 octets and a name 253 at most")
    func lengths() {
        let label = String(repeating: "a", count: 63)
        #expect(Host.parse(label) == .name(label))
        #expect(Host.parse(label + "a") == nil)
        let name = [String](repeating: String(repeating: "a", count: 61), count: 4).joined(separator: ".") + ".abcde"
        #expect(name.utf8.count == 253)
        #expect(Host.parse(name) == .name(name))
        #expect(Host.parse(name + "f") == nil)
    }

    @Test func readsAddresses() {
        #expect(Host.parse("192.0.2.1") == .address(IPAddress(v4: 0xc000_0201)))
        #expect(Host.parse("::1") == .address(IPAddress(high: 0, low: 1)))
        // RFC 4291, section 2.5.5.2: the same address as 127.0.0.1, and to be treated like it.
        #expect(Host.parse("::ffff:127.0.0.1") == .address(IPAddress(v4: 0x7f00_0001)))
    }

    @Test(
        "reads host and port",
        arguments: [
            ("example.test:443", "example.test:443"), ("[2001:db8::1]:8080", "[2001:db8::1]:8080"),
            ("192.0.2.1:1", "192.0.2.1:1"), ("example.test", "example.test:80"), ("[::1]", "[::1]:80"),
            ("example.test:", "example.test:80"),
        ])
    func readsPort(text: String, expected: String) {
        #expect(Target.parse(Array(text.utf8).span, defaultPort: 80)?.description == expected)
    }

    @Test(
        "refuses ports that are none",
        arguments: [
            "example.test:0", "example.test:65536", "example.test:x", "2001:db8::1:443", ":443", "a:b:1",
            "example.test:99999999999999999999", "example.test:-1", "[::1]443",
        ])
    func refusesPort(text: String) {
        #expect(Target.parse(Array(text.utf8).span, defaultPort: 80) == nil)
    }

    @Test func wantsAPortWhereNoneIsUsual() {
        #expect(Target.parse(Array("example.test".utf8).span) == nil)
    }
}
