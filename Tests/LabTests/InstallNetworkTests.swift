/// `scripts/install --dhcp` and `--ap`, and `setup network` of an installed gateway: on a clean Debian, with a card
/// that a phone hangs on.
///
///     device: phone ── own :gateway          (beside the lab's eth0 ── lan)

import Foundation
import TestSupport
import Testing

extension LabTests {
    @Suite(
        "installed with a network of its own",
        .enabled(if: Lab.has("busybox") && Lab.has("dnsmasq")), .unless(CleanTree.obstacle))
    struct InstallNetworkTests {
        let lab: Lab
        let tree: CleanTree
        let before: Set<String>

        init() throws {
            lab = try Lab()
            let link = "ip link add own type veth peer name phone netns \(lab.name)-device && ip link set own up"
            let made = try lab.run(.gateway, ["sh", "-ec", link])
            guard made.status == 0 else { throw LabError(made.errors) }
            let other = try lab.run(.device, ["ip", "link", "set", "phone", "address", "02:00:00:00:00:20", "up"])
            guard other.status == 0 else { throw LabError(other.errors) }
            tree = try CleanTree(lab)
            before = try tree.files()
        }

        private static let upstream = ["--upstream", "http://10.77.0.2:\(Upstream.embedded.port)"]
        private static let files = ["/etc/starship/dhcp/own.conf", "/etc/systemd/network/05-starship-own.network"]

        /// What a phone gets when it asks, and has from then on.
        private func lease() throws -> String {
            let udhcpc = ["busybox", "udhcpc", "-f", "-q", "-n", "-i", "phone", "-t", "4", "-T", "2"]
            let result = try lab.run(
                .device, udhcpc + ["-x", "hostname:pixel-7", "-s", "\(Lab.programs)/leased.sh"], within: 40)
            return String(result.output.split(separator: "\n").first { $0.hasPrefix("leased ") } ?? "\(result.errors)")
        }

        /// The addresses of the card, and whether it is up.
        private func card(_ name: String = "own") throws -> String {
            try tree.output("ip -4 -o address show dev \(name); cat /sys/class/net/\(name)/flags")
        }

        private func setup(_ arguments: String...) throws -> LabProgram.Result {
            try tree.run("sh", "-c", (["/usr/lib/starship/setup", "network"] + arguments).joined(separator: " "))
        }

        /// What is left besides the state that stays when no purge was asked for.
        private func expectNothingLeft(_ network: String, source: SourceLocation = #_sourceLocation) throws {
            #expect(
                CleanTree.paths(try tree.files().symmetricDifference(before), without: []) == [],
                sourceLocation: source)
            #expect(try tree.network() == network, sourceLocation: source)
        }

        @Test(
            "--dhcp: a phone that joins has an address, this router and its DNS, and is carried; removed, nothing is left"
        )
        func serves() throws {
            let origins = try Origins(lab, [.web])
            let proxy = try Upstream.embedded.start(in: lab)
            let (network, card) = (try tree.network(), try card())
            let result = try tree.install(Self.upstream + ["--dhcp", "own"])
            #expect(result.status == 0, "\(result)")
            #expect(result.output.contains("Devices on own get an address from 192.168.50.1/24"), "\(result.output)")
            #expect(Self.files.allSatisfy { file in (try? tree.run("test", "-f", file).status) == 0 })

            let leased = try lease()
            let form = #/leased 192\.168\.50\.(\d+)/24 router 192\.168\.50\.1 dns 192\.168\.50\.1 from 192\.168\.50\.1/#
            let host = leased.wholeMatch(of: form).flatMap { Int($0.1) }
            #expect((50...250).contains(host ?? 0), "\(leased)")
            try LabClient(lab, origins, .tunnel, authority: origins.authority).page(
                "http://web.example/", version: "1.1")
            // DNS is starshipd's: dnsmasq has the port of DHCP alone, on that card or with others that are its own.
            let ports = try tree.output("ss -H -lunp | grep dnsmasq").split(separator: "\n")
            #expect(!ports.isEmpty && ports.allSatisfy { $0.contains(":67 ") }, "\(ports)")
            let dig = ["dig", "+short", "+time=2", "+tries=1", "@192.168.50.1", "web.example"]
            #expect(try lab.run(.device, dig).output.hasPrefix("198."))
            #expect(try tree.output("starshipctl devices").contains("pixel-7"))
            #expect(try tree.run("sh", "-c", "grep -E 'dnsmasq[.]|hostapd' /tmp/systemctl.log").status == 1)

            // Over itself: it is its own server, and no other one.
            let again = try tree.install(["--dhcp", "own"])
            #expect(again.status == 0, "\(again)")
            #expect(try tree.run("systemctl", "is-active", "starship-dhcp.service").status == 0)
            let plain = try tree.install()
            #expect(plain.status == 0 && !plain.output.contains("Devices on own"), "\(plain)")
            #expect(try tree.run("systemctl", "is-active", "starship-dhcp.service").status == 0)

            // A file of the same place that somebody else has written by now stays, and is named.
            try tree.run("sh", "-c", "echo '[Match]' >\(Self.files[1])")
            let removed = try tree.run("/src/scripts/uninstall", "--purge")
            #expect(removed.status == 0 && removed.output.contains("\(Self.files[1]) is not from"), "\(removed)")
            #expect(try tree.run("systemctl", "is-active", "starship-dhcp.service").status == 3)
            #expect(try tree.output("cat \(Self.files[1])") == "[Match]\n")
            try tree.run("sh", "-c", "rm \(Self.files[1]); rmdir -p --ignore-fail-on-non-empty /etc/systemd/network")
            try tree.run("sh", "-c", "ip address flush dev own scope global")
            #expect(try self.card() == card)
            try expectNothingLeft(network)
            withExtendedLifetime(proxy) {}
        }

        @Test("a DHCP server on the link stops it before anything is changed, and is named")
        func rival() throws {
            let (network, card) = (try tree.network(), try card())
            try lab.run(.device, ["ip", "address", "add", "192.168.77.1/24", "dev", "phone"])
            let rival = try lab.start(
                .device,
                [
                    "dnsmasq", "--keep-in-foreground", "--conf-file=/dev/null", "--port=0", "--interface=phone",
                    "--bind-interfaces", "--dhcp-range=192.168.77.100,192.168.77.120,1h", "--no-ping",
                    "--dhcp-leasefile=\(lab.directory.path)/leases", "--user=root", "--pid-file=", "--log-facility=-",
                ])
            try rival.waitFor("DHCP, IP range", within: 10)
            // A plan asks, too, and a card that was down is down again.
            for (arguments, isUp) in [(["--plan"], true), ([], true), ([], false)] {
                if !isUp { try lab.run(.gateway, ["ip", "link", "set", "own", "down"]) }
                let result = try tree.install(Self.upstream + ["--dhcp", "own"] + arguments)
                #expect(result.status == 1 && result.errors.contains("a DHCP server is on own already"), "\(result)")
                let words = try Regex("own: 192\\.168\\.77\\.1 offers 192\\.168\\.77\\.1[0-2][0-9] with router")
                #expect(result.errors.contains(words), "\(result.errors)")
                if !isUp {
                    #expect(try self.card() != card)
                    try lab.run(.gateway, ["ip", "link", "set", "own", "up"])
                }
                #expect(try self.card() == card)
                try expectNothingLeft(network)
            }
        }

        @Test("what can't be a network of its own is refused with the reason, and nothing is changed")
        func refuses() throws {
            let network = try tree.network()
            for (arguments, words) in [
                (["--dhcp", "eth77"], "there is no interface eth77"),
                (["--dhcp", "'a b'"], "expected the name of an interface"),
                (["--dhcp", "lo"], "lo is no Ethernet link"),
                (["--dhcp", "wan"], "own way out"),
                (["--dhcp", "lan"], "lan has the address 10.9.0.1/24 already"),
                (["--dhcp", "own", "--dhcp", "own"], "own stands twice"),
                (["--dhcp", "own", "--ssid", "Lab"], "--ssid names the Wi-Fi of the --ap before it"),
                (["--ssid", "Lab"], "--ssid names the Wi-Fi of the --ap before it"),
                (["--ap", "own", "--ssid", "Lab"], "own has no radio"),
                (["--ap", "own", "--ssid", "''"], "--ssid needs a value"),
                (["--ap", "own", "--ssid", String(repeating: "ü", count: 17)], "34 octets; expected 1 to 32"),
                (["--ap", "own", "--ssid", "\"$(printf 'a\\nwpa=0')\""], "control characters"),
                (["--dhcp", "own", "--lan-address", "10.77.0.9/24"], "10.77.0.0/24, for own, is somewhere else"),
                (["--dhcp", "own", "--lan-address", "192.168.1.1"], "such as 192.168.50.1/24"),
                (["--dhcp", "own", "--lan-address", "192.168.1.99/24"], "1 to 49 or 251 to 254"),
                (["--lan-address", "192.168.1.1/24"], "the network before it"),
            ] {
                let result = try tree.install(arguments)
                #expect(result.status == 1 && result.errors.contains(words), "\(arguments) \(result)")
                #expect(result.errors.hasPrefix("install: "), "\(result.errors)")
            }
            try expectNothingLeft(network)

            // Somebody of this machine gives addresses out on all interfaces.
            let other = try lab.start(
                .gateway,
                [
                    "dnsmasq", "--keep-in-foreground", "--conf-file=/dev/null", "--port=0", "--user=root",
                    "--pid-file=",
                    "--dhcp-range=10.9.0.100,10.9.0.120,1h", "--dhcp-leasefile=\(lab.directory.path)/leases",
                    "--log-facility=-",
                ])
            try other.waitFor("DHCP, IP range", within: 10)
            let taken = try tree.install(["--dhcp", "own"])
            #expect(taken.status == 1 && taken.errors.contains("runs on this machine already"), "\(taken)")
            other.end(.kill)

            try tree.run("sh", "-c", "mkdir -p /etc/starship/dhcp; echo mine >/etc/starship/dhcp/own.conf")
            let foreign = try tree.install(["--dhcp", "own"])
            #expect(foreign.status == 1 && foreign.errors.contains("own.conf is there and not from"), "\(foreign)")
            #expect(try tree.output("cat /etc/starship/dhcp/own.conf") == "mine\n")
            try tree.run("rm", "-r", "/etc/starship")

            // Nobody can be asked at the end of a cable that isn't there.
            try lab.run(.device, ["ip", "link", "set", "phone", "down"])
            let mute = try tree.install(["--dhcp", "own"])
            #expect(mute.status == 1 && mute.errors.contains("own has no link"), "\(mute)")
            #expect(try tree.files() == before)
        }

        @Test("--plan has every file with what will be in it, and each command; and does nothing")
        func plans() throws {
            let network = try tree.network()
            let plan = try tree.install(
                Self.upstream + ["--plan", "--dhcp", "own", "--lan-address", "192.168.73.1/24"])
            #expect(plan.status == 0, "\(plan)")
            try expectNothingLeft(network)
            let lines = plan.output.split(separator: "\n").map { String($0.drop { $0 == " " }) }
            for command in [
                "ip link set dev own up", "ip address replace 192.168.73.1/24 dev own",
                "systemctl restart starship-dhcp.service",
            ] {
                #expect(lines.contains(command), "\(plan.output)")
            }
            #expect(lines.contains { $0.hasPrefix("ip -4 rule add") && $0.contains("iif own") })
            #expect(!plan.output.contains("seems to drop"))
            let firewall =
                "add table inet wall; add chain inet wall in { type filter hook input priority 0; policy drop; }"
            for (rule, isNamed) in [
                (firewall, true), ("add rule inet wall in udp dport 53 accept", true),
                ("add rule inet wall in udp dport { 53, 67 } accept", false),
            ] {
                try lab.run(.gateway, ["nft", rule])
                let again = try tree.install(["--plan", "--dhcp", "own"])
                #expect(again.output.contains("drop what devices on own ask") == isNamed, "\(rule): \(again)")
            }
            try lab.run(.gateway, ["nft", "delete table inet wall"])
            let made = try tree.install(Self.upstream + ["--dhcp", "own", "--lan-address", "192.168.73.1/24"])
            #expect(made.status == 0, "\(made)")
            for file in Self.files {
                #expect(lines.contains { $0.hasPrefix("new ") && $0.hasSuffix(" \(file):") }, "\(plan.output)")
                for line in try tree.output("cat \(file)").split(separator: "\n") {
                    #expect(lines.contains(String(line)), "\(file): \(line)")
                }
            }
            #expect(try card().contains(" 192.168.73.1/24 "))
        }

        @Test("a network that comes with a change goes with it: --confirm, and --back")
        func takesBack() throws {
            let (network, card) = (try tree.network(), try card())
            let first = try tree.install(["--dhcp", "own", "--confirm", "20"])
            #expect(first.status == 0, "\(first)")
            #expect(try tree.run("systemctl", "is-active", "starship-dhcp.service").status == 0)
            #expect(try Lab.wait(90) { try tree.run("test", "-e", "/var/lib/starship-setup").status == 1 })
            #expect(try self.card() == card)
            try expectNothingLeft(network)

            // A card of the configuration that has its addresses from somebody else, until now.
            #expect(try tree.install(["--lan", "own"]).status == 0)
            let installed = try tree.files()
            let with = try tree.install(["--dhcp", "own"])
            #expect(with.status == 0, "\(with)")
            #expect(try tree.run("test", "-f", Self.files[0]).status == 0)
            let back = try tree.run("/src/scripts/install", "--back")
            #expect(back.status == 0, "\(back)")
            #expect(try tree.isRunning())
            #expect(try tree.run("systemctl", "is-active", "starship-dhcp.service").status == 3)
            #expect(CleanTree.paths(try tree.files().symmetricDifference(installed), without: []) == [])
            #expect(try self.card() == card)
        }

        @Test(
            "the .deb: setup network says what the configuration lacks, then does the same, and dpkg -r takes it away")
        func package() throws {
            let network = try tree.network()
            #expect(try tree.run("dpkg", "-i", tree.package()).status == 0)
            let installed = try tree.files()
            let early = try setup("--dhcp own")
            #expect(early.status == 1 && early.errors.contains("own is not a LAN in it"), "\(early)")
            #expect(try tree.files() == installed)
            // What it says is to be said there.
            let said = try #require(
                early.errors.split(separator: "\n").first { $0.contains("say there:") }?.split(separator: "  ")
                    .dropFirst()
                    .joined(separator: " ").replacing("say there:", with: ""))
            try tree.run("sed", "-i", "s|^{$|{ \(said)|", "/etc/starship/starship.json5")
            let unread = try setup("--dhcp own")
            #expect(unread.status == 1 && unread.errors.contains("was started before own was a LAN"), "\(unread)")
            #expect(try tree.run("systemctl", "restart", "starshipd.service").status == 0)
            let plan = try setup("--plan --dhcp own")
            #expect(plan.status == 0 && plan.output.contains(Self.files[0]), "\(plan)")
            #expect(try tree.run("test", "-e", Self.files[0]).status == 1)
            let made = try setup("--dhcp own")
            #expect(made.status == 0, "\(made)")
            #expect(try lease().contains("router 192.168.50.1 dns 192.168.50.1"))

            let removed = try setup("--remove own")
            #expect(removed.status == 0, "\(removed)")
            #expect(try tree.run("systemctl", "is-active", "starship-dhcp.service").status == 3)
            #expect(Self.files.allSatisfy { file in (try? tree.run("test", "-e", file).status) == 1 })
            #expect(try setup("--remove own").status == 1)

            #expect(try setup("--dhcp own").status == 0)
            #expect(try tree.run("dpkg", "-r", "starship-gateway").status == 0)
            #expect(Self.files.allSatisfy { file in (try? tree.run("test", "-e", file).status) == 1 })
            #expect(try tree.run("dpkg", "-P", "starship-gateway").status == 0)
            try expectNothingLeft(network)
        }

        /// There is no radio here: the kernel's directory of the card is one that says that it has one.
        @Test("--ap: hostapd's file is root's, its passphrase is shown once, and everything goes again")
        func accessPoint() throws {
            let network = try tree.network()
            let radio = """
                mkdir -p /tmp/net/own/phy80211 && cd /sys/class/net/own && cp type flags carrier /tmp/net/own/
                mount --bind /tmp/net /sys/class/net
                """
            #expect(try tree.run("sh", "-ec", radio).status == 0)
            let nameless = try tree.install(["--ap", "own"])
            #expect(nameless.status == 1 && nameless.errors.contains("needs a name"), "\(nameless)")
            let plan = try tree.install(["--plan", "--ap", "own", "--ssid", "'QA lab'"])
            #expect(plan.status == 0 && plan.output.contains("ssid=QA lab\n"), "\(plan)")
            #expect(plan.output.contains("systemctl enable hostapd@own.service\n"))
            #expect(try tree.files() == before)

            let result = try tree.install(["--ap", "own", "--ssid", "'QA lab'"])
            #expect(result.status == 0, "\(result)")
            #expect(try tree.output("stat -c '%a %U' /etc/hostapd/own.conf") == "600 root\n")
            let line = try tree.output("grep ^wpa_passphrase= /etc/hostapd/own.conf")
            let passphrase = line.dropFirst(15).dropLast()
            // IEEE 802.11, annex J.4: 8 to 63 characters.
            #expect(passphrase.count == 16)
            #expect(result.output.contains("\n    \(passphrase)\n") && !plan.output.contains(passphrase))
            let started = try tree.output("cat /tmp/systemctl.log").split(separator: "\n")
            #expect(
                started.contains("restart hostapd@own.service")
                    && started.contains("enable --quiet hostapd@own.service"))
            // hostapd ends at its driver, and not at a line of its file.
            let hostapd = try tree.run("timeout", "5", "hostapd", "/etc/hostapd/own.conf")
            #expect(!(hostapd.output + hostapd.errors).contains("Line "), "\(hostapd)")
            #expect((hostapd.output + hostapd.errors).contains("nl80211"), "\(hostapd)")

            let again = try setup("--ap own --ssid Other")
            #expect(again.status == 0 && !again.output.contains(passphrase), "\(again)")
            #expect(try tree.output("cat /etc/hostapd/own.conf").contains("ssid=Other\n"))
            #expect(try tree.output("cat /etc/hostapd/own.conf").contains(line))
            #expect(try tree.run("/src/scripts/uninstall", "--purge").status == 0)
            #expect(try tree.output("cat /tmp/systemctl.log").contains("\ndisable --quiet hostapd@own.service\n"))
            try tree.run("umount", "/sys/class/net")
            try expectNothingLeft(network)
        }
    }
}
