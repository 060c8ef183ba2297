/// The verbs of the companion: they come through the line as they are, and nothing else does.

import Bytes
import LinuxIO
import TestSupport
import Testing

@testable import Network

@Suite struct SystemVerbTests {
    private static let verbs: [SystemVerb] = [
        .batch(["route replace default dev starship0 table 10801 metric 100"], isIPv4: true, isForced: false),
        .batch([], isIPv4: false, isForced: true),
        .load(FirewallText.removal), .load(""),
        .list(.ruleset, withElements: false), .list(.insistsIPv6, withElements: true),
        .legacy(.ip6tablesLegacy), .connections, .setting("net/ipv4/ip_forward", value: "1"),
    ]

    @Test("reads what it writes")
    func messages() {
        for verb in Self.verbs { #expect(SystemVerb(reading: verb.message) == verb) }
    }

    @Test("a message that is cut, lengthened or of no known kind is none; only a batch may end after any line")
    func damaged() {
        for verb in Self.verbs {
            #expect(SystemVerb(reading: verb.message + [0]) == nil)
            for length in 0..<verb.message.count {
                let cut = SystemVerb(reading: Array(verb.message.prefix(length)))
                if case .batch = verb, case .batch(let lines, _, _)? = cut {
                    #expect(lines.isEmpty)
                } else {
                    #expect(cut == nil)
                }
            }
        }
        for kind in UInt8(7)...255 { #expect(SystemVerb(reading: [kind, 0, 0, 0, 0]) == nil) }
        #expect(SystemVerb(reading: [3, 9, 0]) == nil, "no such part")
        #expect(SystemVerb(reading: [1, 2, 0]) == nil, "no such flag")
        #expect(SystemVerb(reading: [2, 0xff, 0xff, 0xff, 0xff]) == nil, "a length beyond the end")
    }

    @Test("random octets never trap, and never become a verb that is carried out but is not sound")
    func random() {
        var generator = SeededGenerator(seed: 0x51_7a)
        for _ in 0..<20_000 {
            let count = Int.random(in: 0..<40, using: &generator)
            var bytes = (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
            if !bytes.isEmpty { bytes[0] %= 8 }
            if let verb = SystemVerb(reading: bytes) { #expect(SystemVerb(reading: verb.message) == verb) }
        }
    }

    @Test(
        "every line that a plan leads to is sound, and so is its inverse",
        arguments: [(NetworkPlan.Setup.gateway, NetworkPlan.Capture.all), (.gateway, .names), (.host, .all)])
    func ours(setup: NetworkPlan.Setup, capture: NetworkPlan.Capture) {
        var plan = Machines.plan(setup, [NetworkPlan.LAN("lan", .names), NetworkPlan.LAN("wlan0", capture)])
        plan.dnsPort = 10053
        plan.pagePort = 10080
        plan.refusesEncryptedDNS = true
        let machine = Machines.twoArms()
        let script = NetworkScript(plan, on: machine)
        let changes = NetworkChanges(from: machine, to: script)
        let all = changes.preparation + changes.rules + changes.removal
        #expect(all.count > 10)
        for change in all {
            for line in [change.line, change.inverse] {
                #expect(SystemVerb.batch([line], isIPv4: change.isIPv4, isForced: false).isSound, "\(line)")
            }
        }
        #expect(SystemVerb.load(script.firewall).isSound, "\(script.firewall)")
        #expect(SystemVerb.load(FirewallText.removal + script.firewall).isSound)
        #expect(SystemVerb.load(FirewallText.forgetting).isSound)
        let now = Instant(nanoseconds: 0)
        let lent = [NetworkPlan.Lent(device: plan.addresses[0], address: plan.addresses[0], until: now + .seconds(60))]
        #expect(SystemVerb.load(script.firewall + FirewallText.lending(lent, now: now)).isSound)
        #expect(!script.settings.isEmpty)
        for setting in script.settings {
            for name in [setting.name] + setting.along.keys {
                #expect(SystemVerb.setting(name, value: setting.value).isSound, "\(name)")
            }
        }
        for table in NetworkNames.tables {
            #expect(SystemVerb.batch(["route flush table \(table)"], isIPv4: true, isForced: true).isSound)
        }
    }

    @Test(
        "lines of ip(8) that run a program, load one, or are about others' things are refused",
        arguments: [
            "netns exec space /bin/sh", "netns add space", "vrf exec red /bin/sh", "monitor all",
            "link set dev eth0 xdp object /tmp/x.o", "link set dev eth0 mtu 1500 up netns 1", "link add x type dummy",
            "link del lan", "link set dev eth0 mtu x up", "route add default via 10.0.0.1 dev eth0",
            "route add default dev eth0 table 254", "route flush table 254", "route flush table all",
            "route replace default dev starship0 table 254 metric 100 proto 198",
            "route replace 0.0.0.0/0 dev starship0 table 254 metric 100 proto 198",
            "route del 10.0.0.0/8 dev eth0 table 254 metric 100", "route del 10.0.0.0/8 table 254 metric 0 proto 3",
            "route replace 10.0.0.0/8 dev starship0 table 10800 metric 100 proto 2",
            "route add default encap bpf out obj /tmp/x.o table 10800", "route replace default table 10800 metric x",
            "route replace default table", "route get 10.0.0.1", "rule flush", "rule add priority 100 lookup 10800",
            "rule add from 10.0.0.0/8 lookup 10800", "rule add priority 10800 exec sh",
            "address add 10.0.0.1/32 dev lo label x", "address flush dev lo", "address add host dev lo",
            "", "-batch /etc/shadow", "route replace default table 10800\nnetns exec a sh",
            "route replace default table 10800 # x", "route replace \"default\" table 10800", "rule add", "exec",
        ])
    func refusedLines(line: String) {
        #expect(!SystemVerb.batch([line], isIPv4: true, isForced: false).isSound)
        let good = "route flush table 10800"
        #expect(!SystemVerb.batch([good, line], isIPv4: true, isForced: false).isSound)
    }

    @Test(
        "texts of nft(8) that read a file, or are about others' tables, are refused",
        arguments: [
            "include \"/etc/shadow\"\n", "table inet starship {\n\tinclude \"/etc/shadow\"\n}\n",
            "table inet starship { chain a { include \"/etc/shadow\"; } }\n", "flush ruleset\n",
            "table inet starship\nflush ruleset\n", "table inet starship; flush ruleset\n", "table ip filter {\n}\n",
            "delete table ip filter\n", "delete table inet starship2\n", "table inet starship {\n}\n}\n",
            "table inet starship {\n", "add rule inet filter input drop\n", "define x = 1\n",
            "table inet starship { chain a { iifname \"a\nb\" } }\n", "table inet starship \\\n{ }\n",
            "# nothing\n", "table inet $x\n", "@load\n", "table inet starship }\n{\n",
        ])
    func refusedTexts(text: String) { #expect(!SystemVerb.load(text).isSound) }

    @Test("an interface may be called as a word of nft(8), in its quotes")
    func quoted() {
        #expect(SystemVerb.load("table inet starship {\n\tchain a {\n\t\tiifname \"include\" drop\n\t}\n}\n").isSound)
        #expect(SystemVerb.load("table inet starship {\n\tchain a {\n\t\tiifname \"a#$\" drop\n\t}\n}\n").isSound)
    }

    @Test(
        "settings that are not ours are refused, and so is what is no number",
        arguments: [
            ("kernel/core_pattern", "1"), ("net/ipv4/conf/../../../kernel/core_pattern", "1"),
            ("net/ipv4/conf/../rp_filter", "1"), ("net/ipv4/conf/./rp_filter", "1"),
            ("net/ipv4/conf//rp_filter", "1"), ("net/ipv4/conf/lan/rp_filter/", "1"), ("/net/ipv4/ip_forward", "1"),
            ("net/ipv4/conf/lan/log_martians", "1"), ("net/ipv4/tcp_rmem", "1"), ("net/ipv6/conf/lan/rp_filter", "1"),
            ("net/ipv4/conf/an-interface-too-long/rp_filter", "1"), ("", "1"),
            ("net/ipv4/ip_forward", "|/bin/sh"), ("net/ipv4/ip_forward", ""), ("net/ipv4/ip_forward", "1 2"),
            ("net/ipv4/ip_forward", "12345678901"), ("net/ipv4/ip_forward", "-"), ("net/ipv4/ip_forward", "1\n"),
        ])
    func refusedSettings(name: String, value: String) {
        #expect(!SystemVerb.setting(name, value: value).isSound)
    }

    @Test("an interface's name may hold dots")
    func dots() { #expect(SystemVerb.setting("net/ipv4/conf/eth0.7/rp_filter", value: "-1").isSound) }

    @Test("the companion refuses what is not sound, and what is no verb")
    func answers() throws {
        for request in [
            [], [9], SystemVerb.setting("kernel/core_pattern", value: "1").message,
            SystemVerb.load("flush ruleset\n").message,
            SystemVerb.batch(["netns exec a sh"], isIPv4: true, isForced: true).message,
        ] {
            #expect(throws: SystemCallError("do what is no verb of ours", errno: .notPermitted)) {
                try SystemAnswer.read(SystemTools.answer(request))
            }
        }
    }

    @Test("outcomes and failures come back as they were")
    func outcomes() throws {
        let outcome = Tool.Outcome(status: 255, output: "päng\n", errors: "")
        #expect(try SystemAnswer.read(SystemAnswer.message(outcome)) == outcome)
        for subject in ["ip", nil] {
            let failure = SystemCallError("run", subject, errno: .noSuchFile)
            #expect(throws: failure) { try SystemAnswer.read(SystemAnswer.message(failure)) }
        }
        for bytes in [[], [0], [0, 0, 0, 0, 0], [1, 0, 0, 0, 1], [5, 0, 0, 0, 0, 0, 0, 0, 0]] as [[UInt8]] {
            #expect(throws: SystemCallError("ask the companion", errno: .invalidArgument)) {
                try SystemAnswer.read(bytes)
            }
        }
    }
}
