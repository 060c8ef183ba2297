/// Lease files as three servers write them, and as nobody should.

import Addresses
import TestSupport
import Testing

@testable import Devices

@Suite struct LeaseFileTests {
    private static func parse(_ text: String) -> LeaseFile { LeaseFile.parse(Array(text.utf8).span) }

    /// The second line is as dnsmasq 2.90 wrote it for a client without an identifier.
    @Test("reads what dnsmasq writes, DHCPv6 left out")
    func dnsmasq() {
        let file = Self.parse(
            """
            1790000000 3c:28:6d:00:00:01 10.9.0.23 Pixel-7 01:3c:28:6d:00:00:01
            1790000100 3c:28:6d:00:00:02 10.9.0.24 * *
            0 3c:28:6d:00:00:03 10.9.0.25 tv ff:9f:6e:85:24:00:02:00:00:ab:11:4d
            duid 00:01:00:01:2c:8f:3b:0f:02:42:0a:09:00:01
            1790000200 8093542 2001:db8:9::23 Pixel-7 00:01:00:01:2c:8f:3b:10:3c:28:6d:00:00:01
            1790000200 T8093543 2001:db8:9::24 * 00:03:00:01:3c:28:6d:00:00:01

            """)
        #expect(file.format == .dnsmasq)
        #expect(
            file.leases == [
                lease("10.9.0.23", 1, "Pixel-7", until: 1_790_000_000),
                lease("10.9.0.24", 2, nil, until: 1_790_000_100),
                lease("10.9.0.25", 3, "tv"),
            ])
        #expect(file.skipped == 0)
    }

    /// The layout is that of dhcpd.leases(5); the seconds are date(1)'s: `date -ud '2026-09-21 14:13:20' +%s`.
    @Test("reads what ISC dhcpd writes: the last word about an address counts")
    func dhcpd() {
        let file = Self.parse(
            #"""
            # The format of this file is documented in the dhcpd.leases(5) manual page.
            # This lease file was written by isc-dhcp-4.4.3-P1

            # authoring-byte-order entry is generated, DO NOT DELETE
            authoring-byte-order little-endian;

            server-duid "\000\001\000\001,\217;\017\002B\012\011\000\001";

            lease 10.9.0.23 {
              starts 1 2026/09/21 13:13:20;
              ends 1 2026/09/21 13:43:20;
              cltt 1 2026/09/21 13:13:20;
              binding state active;
              next binding state free;
              rewind binding state free;
              hardware ethernet 3c:28:6d:00:00:01;
              uid "\001<(m\000\000\001";
              client-hostname "Old name";
            }
            lease 10.9.0.24 {
              starts epoch 1789996400; # Mon Sep 21 13:13:20 2026
              ends epoch 1790000000; # Mon Sep 21 14:13:20 2026
              binding state active;
              hardware ethernet 3c:28:6d:00:00:02;
              client-hostname "TV \"large\"";
            }
            host fixed {
              dynamic;
              hardware ethernet 3c:28:6d:00:00:08;
              fixed-address 10.9.0.80;
            }
            lease 10.9.0.25 {
              starts 1 2026/09/21 13:13:20;
              ends never;
              binding state active;
              hardware ethernet 3c:28:6d:00:00:03;
            }
            lease 10.9.0.26 {
              ends 1 2026/09/21 14:13:20;
              binding state active;
              hardware ethernet 3c:28:6d:00:00:04;
            }
            lease 10.9.0.23 {
              starts 1 2026/09/21 13:43:20;
              ends 1 2026/09/21 14:13:20;
              binding state active;
              hardware ethernet 3c:28:6d:00:00:01;
              client-hostname "Pixel 7";
            }
            lease 10.9.0.26 {
              ends 1 2026/09/21 14:00:00;
              binding state free;
              hardware ethernet 3c:28:6d:00:00:04;
            }

            """#)
        #expect(file.format == .dhcpd)
        #expect(
            file.leases == [
                lease("10.9.0.23", 1, "Pixel 7", until: 1_790_000_000),
                lease("10.9.0.24", 2, nil, until: 1_790_000_000),
                lease("10.9.0.25", 3, nil),
            ])
        #expect(file.skipped == 0)
    }

    @Test("reads what Kea writes: the last word about an address counts")
    func kea() {
        let file = Self.parse(
            """
            address,hwaddr,client_id,valid_lifetime,expire,subnet_id,fqdn_fwd,fqdn_rev,hostname,state,user_context,pool_id
            10.9.0.23,3c:28:6d:00:00:01,01:3c:28:6d:00:00:01,3600,1789999000,1,0,0,old,0,,0
            10.9.0.23,3c:28:6d:00:00:01,01:3c:28:6d:00:00:01,3600,1790000000,1,0,0,pixel-7,0,{ "ISC": 1 },0
            10.9.0.24,3c:28:6d:00:00:02,,4294967295,1790000000,1,0,0,,0,,0
            10.9.0.25,3c:28:6d:00:00:03,,3600,1790000000,1,0,0,tv,0,,0
            10.9.0.25,3c:28:6d:00:00:03,,0,1790000000,1,0,0,tv,0,,0
            10.9.0.26,,01:02,3600,1790000000,1,0,0,no-mac,0,,0
            10.9.0.27,3c:28:6d:00:00:04,,3600,1790000000,1,0,0,declined,1,,0

            """)
        #expect(file.format == .kea)
        #expect(
            file.leases == [
                lease("10.9.0.23", 1, "pixel-7", until: 1_790_000_000), lease("10.9.0.24", 2, nil),
            ])
        #expect(file.skipped == 0)
    }

    @Test(
        "days of the calendar are the seconds that date(1) says",
        arguments: [
            ("1970/01/01 00:00:00", 0), ("2000/02/29 23:59:59", 951_868_799), ("2026/09/21 14:13:20", 1_790_000_000),
            ("2100/03/01 00:00:00", 4_107_542_400),
        ])
    func dates(text: String, second: Int64) {
        let file = Self.parse(
            "lease 10.9.0.23 {\n  ends 0 \(text);\n  hardware ethernet 3c:28:6d:00:00:01;\n}\n")
        #expect(file.leases.first?.expires == second)
    }

    @Test(
        "what is no lease is left out and counted",
        arguments: [
            "1790000000 3c:28:6d:00:00:01 10.9.0.23",
            "1790000000 3c:28:6d:00:00:01 10.9.0.23 a b c",
            "-1 3c:28:6d:00:00:01 10.9.0.23 a *",
            "9999999999999999 3c:28:6d:00:00:01 10.9.0.23 a *",
            "1790000000 3c:28:6d:00:00 10.9.0.23 a *",
            "1790000000 01:28:6d:00:00:01 10.9.0.23 a *",
            "1790000000 00:00:00:00:00:00 10.9.0.23 a *",
            "1790000000 06-3c:28:6d:00:00:01 10.9.0.23 a *",
            "1790000000 3c:28:6d:00:00:01 10.9.0.256 a *",
            "1790000000 3c:28:6d:00:00:01 224.0.0.1 a *",
            "1790000000 3c:28:6d:00:00:01 127.0.0.1 a *",
            "1790000000 3c:28:6d:00:00:01 10.9.0.23 ä *",
            "1790000000 3c:28:6d:00:00:01 10.9.0.23 a\u{1b}[2J *",
            "1790000000 3c:28:6d:00:00:01 10.9.0.23 " + String(repeating: "a", count: 256) + " *",
            "1790000000 3c:28:6d:00:00:01 10.9.0.23 a " + String(repeating: "0", count: 2000),
            "whatever",
        ])
    func badLines(line: String) {
        let good = "1790000000 3c:28:6d:00:00:02 10.9.0.24 tv *\n"
        let file = Self.parse(good + line + "\n" + good.replacing("10.9.0.24", with: "10.9.0.25"))
        #expect(file.skipped == 1)
        #expect(file.leases.map { "\($0.address)" } == ["10.9.0.24", "10.9.0.25"])
    }

    @Test(
        "what is no lease of dhcpd's or Kea's is left out and counted",
        arguments: [
            "lease 10.9.0 {\n  hardware ethernet 3c:28:6d:00:00:01;\n}\n",
            "lease 10.9.0.23 {\n  hardware ethernet 3c:28;\n}\n",
            "lease 10.9.0.23 {\n  ends 1 2026/13/01 00:00:00;\n  hardware ethernet 3c:28:6d:00:00:01;\n}\n",
            "lease 10.9.0.23 {\n  ends 1 2026-01-01 00:00:00;\n  hardware ethernet 3c:28:6d:00:00:01;\n}\n",
            "lease 10.9.0.23 {\n  hardware ethernet 3c:28:6d:00:00:01\n}\n",
            "lease 10.9.0.23 {\n  hardware ethernet 3c:28:6d:00:00:01;\n",
            "address,hwaddr,valid_lifetime,expire,hostname,state\n10.9.0.23,3c:28:6d:00:00:01,x,1790000000,a,0\n",
            "address,hwaddr,valid_lifetime,expire,hostname,state\n10.9.0.23,nonsense,1,1790000000,a,0\n",
            "address,hwaddr,valid_lifetime,expire,hostname,state\n10.9.0.23\n",
            "address,expire\n10.9.0.23,1790000000\n",
        ])
    func badBlocks(text: String) {
        let file = Self.parse(text)
        #expect(file.skipped == 1)
        #expect(file.leases.isEmpty)
    }

    @Test("a last line without an end is still being written")
    func unfinished() {
        let file = Self.parse("1790000000 3c:28:6d:00:00:02 10.9.0.24 tv *\n1790000000 3c:28:6d:00:00:01 10.9.0.2")
        #expect(file.leases.count == 1)
        #expect(file.skipped == 0)
        #expect(Self.parse("") == Self.parse("\n"))
    }

    @Test func aFileOfAnySizeYieldsABoundedList() {
        var text = ""
        for number in 0..<9000 {
            text += "0 3c:28:6d:00:\(10 + number / 256):\(10 + number % 90) 10.\(number / 256).1.\(number % 256) a *\n"
        }
        let file = Self.parse(text)
        #expect(file.leases.count == LeaseFile.leaseLimit)
        #expect(file.skipped == 9000 - LeaseFile.leaseLimit)
    }

    @Test("any damage leaves leases that make sense", arguments: LongRun.seeds(20, long: 1000))
    func mutations(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let samples = [
            "1790000000 3c:28:6d:00:00:01 10.9.0.23 Pixel-7 *\n", "lease 10.9.0.23 {\n  ends epoch 1; # x\n",
            "  hardware ethernet 3c:28:6d:00:00:01;\n  client-hostname \"a\";\n}\n",
            "address,hwaddr,valid_lifetime,expire,hostname,state\n", "10.9.0.23,3c:28:6d:00:00:01,1,1790000000,a,0\n",
        ]
        for _ in 0..<200 {
            var bytes: [UInt8] = []
            for _ in 0..<random.number(1..<8) { bytes += Array(samples[random.number(0..<samples.count)].utf8) }
            for _ in 0..<random.number(0..<4) { bytes[random.number(0..<bytes.count)] = UInt8(random.number(0..<256)) }
            let file = LeaseFile.parse(bytes.span)
            for lease in file.leases {
                #expect(!lease.mac.isGroup && !lease.address.isMulticast, "seed \(seed)")
                #expect(lease.hostName?.utf8.allSatisfy { 0x20...0x7e ~= $0 } != false, "seed \(seed)")
            }
        }
    }
}
