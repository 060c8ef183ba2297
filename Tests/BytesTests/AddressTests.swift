/// Addresses as text and as networks.

import Addresses
import TestSupport
import Testing

@Suite struct AddressTests {
    @Test(
        "writes IPv6 as RFC 5952 says, and reads it",
        arguments: [
            (UInt64(0x2001_0db8_0000_0000), UInt64(1), "2001:db8::1"),
            (0, 0, "::"),
            (0, 1, "::1"),
            (0xfe80_0000_0000_0000, 0, "fe80::"),
            // One group of zeros is not shortened (section 4.2.2), the longest run is (4.2.3), the first of equals.
            (0x2001_0db8_0000_0001, 0x0001_0001_0001_0001, "2001:db8:0:1:1:1:1:1"),
            (0x2001_0000_0000_0001, 0x0000_0000_0000_0001, "2001:0:0:1::1"),
            (0x2001_0db8_0000_0000, 0x0001_0000_0000_0001, "2001:db8::1:0:0:1"),
            (0x2001_0db8_aaaa_bbbb, 0xcccc_dddd_eeee_aaaa, "2001:db8:aaaa:bbbb:cccc:dddd:eeee:aaaa"),
            (0x2001_0db8_0000_0000, 0x0000_0000_0002_0000, "2001:db8::2:0"),
            (0x0001_0000_0000_0000, 0, "1::"),
            (0, 0xc000_0000_0000, "::c000:0:0"),
        ])
    func writesIPv6(high: UInt64, low: UInt64, text: String) {
        let address = IPAddress(high: high, low: low)
        #expect(address.description == text)
        #expect(IPAddress(parsing: text) == address)
    }

    @Test(
        "reads every form of RFC 4291",
        arguments: [
            ("2001:DB8:0:0:8:800:200C:417A", "2001:db8::8:800:200c:417a"),
            ("FF01:0:0:0:0:0:0:101", "ff01::101"),
            ("0:0:0:0:0:0:13.1.68.3", "::d01:4403"),
            ("::FFFF:129.144.52.38", "129.144.52.38"),
            ("64:ff9b::192.0.2.33", "64:ff9b::c000:221"),
            ("1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"),
            ("::2:3:4:5:6:7:8", "0:2:3:4:5:6:7:8"),
            ("0001:0002::", "1:2::"),
            ("255.255.255.255", "255.255.255.255"),
            ("0.0.0.0", "0.0.0.0"),
        ])
    func reads(text: String, canonical: String) {
        #expect(IPAddress(parsing: text)?.description == canonical)
    }

    @Test(
        "refuses what is not an address",
        arguments: [
            "", " ", "1", "1.2.3", "1.2.3.4.5", "1.2.3.256", "1.2.3.", ".1.2.3", "1..2.3", "01.2.3.4", "1.2.3.04",
            "1.2.3.4 ", " 1.2.3.4", "+1.2.3.4", "0x1.2.3.4", "1.2.3.0004", "1.2.3.-4", "1.2.3.4/8", "1,2,3,4",
            ":", ":::", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7:8::", "::1::", "1:2:3:4:5:6:7:8:",
            ":1:2:3:4:5:6:7:8", "12345::", "g::", "::1%eth0", "[::1]", "1:2:3:4:5:6:7:1.2.3.4", "::1.2.3", "1.2.3.4::",
            "::1.2.3.4:5", "1::2:::3", "::01.2.3.4", "fe80:::1", "١.2.3.4",
        ])
    func refuses(text: String) {
        #expect(IPAddress(parsing: text) == nil)
    }

    @Test("reads what it writes, for any address")
    func readsWhatItWrites() {
        var random = SeededGenerator(seed: 3)
        for _ in 0..<5000 {
            // Zero groups are frequent, so that all kinds of shortening come up.
            var words: [UInt64] = []
            for _ in 0..<8 { words.append(random.chance(0.5) ? 0 : random.next() >> 48) }
            let address = IPAddress(
                high: words[0] << 48 | words[1] << 32 | words[2] << 16 | words[3],
                low: words[4] << 48 | words[5] << 32 | words[6] << 16 | words[7])
            #expect(IPAddress(parsing: address.description) == address)
            let end = SocketAddress(address, UInt16(truncatingIfNeeded: random.next()))
            #expect(SocketAddress(parsing: end.description) == end)
        }
    }

    @Test func writesAndReadsSocketAddresses() {
        let end = SocketAddress(IPAddress(v4: 0x0102_0304), 80)
        #expect(end.description == "1.2.3.4:80")
        #expect(SocketAddress(parsing: "1.2.3.4:80") == end)
        let end6 = SocketAddress(IPAddress(high: 0x2001_0db8_0000_0000, low: 1), 65535)
        #expect(end6.description == "[2001:db8::1]:65535")
        #expect(SocketAddress(parsing: "[2001:db8::1]:65535") == end6)
        for text in [
            "1.2.3.4", "1.2.3.4:", "1.2.3.4:65536", "1.2.3.4:080", "1.2.3.4:+80", "1.2.3.4: 80", "2001:db8::1:80",
            "[1.2.3.4]:80", "[2001:db8::1]", "[2001:db8::1]80", "[2001:db8::1:80", "2001:db8::1]:80", ":80", "",
        ] {
            #expect(SocketAddress(parsing: text) == nil, "\(text)")
        }
    }

    @Test func knowsSpecialAddresses() throws {
        func address(_ text: String) throws -> IPAddress { try #require(IPAddress(parsing: text)) }
        #expect(try address("127.255.0.1").isLoopback && address("::1").isLoopback)
        #expect(try !address("128.0.0.1").isLoopback && !address("::2").isLoopback)
        #expect(try address("239.255.255.255").isMulticast && address("ff02::1").isMulticast)
        #expect(try !address("240.0.0.0").isMulticast && !address("fe00::").isMulticast)
        #expect(try address("169.254.1.1").isLinkLocal && address("febf::1").isLinkLocal)
        #expect(try !address("169.255.1.1").isLinkLocal && !address("fec0::1").isLinkLocal)
        #expect(try address("0.0.0.0").isUnspecified && address("::").isUnspecified)
        #expect(try address("255.255.255.255").isLimitedBroadcast && !address("255.255.255.254").isLimitedBroadcast)
        #expect(try address("240.0.0.1").isReserved && !address("255.255.255.255").isReserved)
        #expect(try address("1.2.3.4").isIPv4 && !address("::1.2.3.4").isIPv4)
    }

    @Test(
        "reads networks",
        arguments: [
            ("10.0.0.0/8", "10.255.255.255", "11.0.0.0"), ("198.18.0.0/15", "198.19.255.255", "198.20.0.0"),
            ("0.0.0.0/0", "255.255.255.255", "::1"), ("192.0.2.7", "192.0.2.7", "192.0.2.6"),
            ("2001:db8::/32", "2001:db8:ffff::1", "2001:db9::"),
            ("2001:db8::/65", "2001:db8::1", "2001:db8::8000:0:0:0"),
            ("::/0", "ffff::", "1.2.3.4"), ("::1", "::1", "::2"), ("fd00:9::/127", "fd00:9::1", "fd00:9::2"),
        ])
    func readsNetworks(text: String, inside: String, outside: String) throws {
        let prefix = try #require(IPPrefix(parsing: text))
        #expect(prefix.contains(try #require(IPAddress(parsing: inside))))
        #expect(!prefix.contains(try #require(IPAddress(parsing: outside))))
        #expect(IPPrefix(parsing: prefix.description) == prefix)
    }

    @Test(
        "refuses what is not a network",
        arguments: [
            "10.0.0.1/8", "10.0.0.0/33", "2001:db8::/129", "10.0.0.0/", "10.0.0.0/08", "10.0.0.0/+8", "10.0.0.0/-1",
            "/8", "10.0.0.0/8/8", "10.0.0/8", "2001:db8::1/32", "10.0.0.0/1000", "10.0.0.0/8 ",
        ])
    func refusesNetworks(text: String) {
        #expect(IPPrefix(parsing: text) == nil)
    }

    @Test func cutsTheHostBitsOff() throws {
        let prefix = IPPrefix(IPAddress(v4: 0x0a01_0203), length: 12)
        #expect(prefix?.description == "10.0.0.0/12")
        #expect(IPPrefix(IPAddress(v4: 1), length: 33) == nil)
        #expect(IPPrefix(IPAddress(v4: 1), length: -1) == nil)
    }

    @Test(
        "an IPv4 network of more than two addresses has a broadcast address",
        arguments: [
            ("10.9.0.0/24", "10.9.0.255"), ("198.18.0.0/15", "198.19.255.255"), ("0.0.0.0/0", "255.255.255.255"),
            ("192.0.2.4/30", "192.0.2.7"), ("192.0.2.4/31", nil), ("192.0.2.4/32", nil), ("2001:db8::/32", nil),
        ] as [(String, String?)])
    func broadcast(network: String, address: String?) throws {
        let prefix = try #require(IPPrefix(parsing: network))
        #expect(prefix.broadcast == address.flatMap { IPAddress(parsing: $0) })
    }
}
