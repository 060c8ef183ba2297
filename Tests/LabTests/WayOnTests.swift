/// Ways onto the gateway: DHCP, its own access point, and the files for the machine around it.

import Foundation
import TestSupport
import Testing

/// scripts/install-lib/lan.sh as scripts/install uses it, writing into a directory of the test's.
private func lan(_ lab: Lab, _ command: String, in place: Lab.Place = .gateway) throws -> LabProgram.Result {
    let scripts = Lab.sources.appending(path: "scripts").path
    let parts = ["setup", "lan", "lan-make", "lan-command"].map { ". \(scripts)/install-lib/\($0).sh; " }.joined()
    let text = """
        set -euo pipefail; . \(scripts)/lib.sh; lan_root=\(lab.directory.path)/root; \(parts)
        kept=\(lab.directory.path)/kept; \(command)
        """
    return try lab.run(place, ["bash", "-c", text], within: 40)
}

extension LabTests {
    @Suite("ways onto the gateway", .enabled(if: Lab.has("dnsmasq")))
    struct WayOnTests {
        private static var probe: String { "\(Lab.binaries)/starshipd" }

        private func foreignServer(_ lab: Lab) throws -> LabProgram {
            let program = try lab.start(
                .device,
                [
                    "dnsmasq", "--keep-in-foreground", "--conf-file=/dev/null", "--port=0", "--interface=eth0",
                    "--bind-interfaces", "--dhcp-range=10.9.0.100,10.9.0.120,1h",
                    "--dhcp-option=option:router,10.9.0.2",
                    "--dhcp-leasefile=\(lab.directory.path)/leases", "--user=root", "--pid-file=", "--log-facility=-",
                ])
            try program.waitFor("DHCP, IP range", within: 10)
            return program
        }

        @Test("a DHCP server that is on the link is named with what it offers, and nothing is taken from it")
        func namesServer() throws {
            let lab = try Lab()
            let server = try foreignServer(lab)
            let result = try lab.run(.gateway, [Self.probe, "dhcp-probe", "lan"])
            #expect(result.status == 3, "\(result)")
            let line = try Regex("^lan: 10\\.9\\.0\\.2 offers 10\\.9\\.0\\.1[0-2][0-9] with router 10\\.9\\.0\\.2\\n$")
            #expect(result.output.contains(line), "\(result)")
            #expect(server.errors.contains("DHCPDISCOVER(eth0)") && !server.errors.contains("DHCPREQUEST"))
            let leases = try? String(contentsOfFile: "\(lab.directory.path)/leases", encoding: .utf8)
            #expect((leases ?? "").isEmpty)

            let setup = try lan(lab, "lan_probe \(Self.probe) lan; lan_write_dhcp lan 10.9.0.1/24")
            #expect(setup.status == 1 && setup.errors.contains("a DHCP server is on lan already"), "\(setup)")
            #expect(setup.errors.contains("10.9.0.2 offers 10.9.0.1") && setup.errors.contains("router 10.9.0.2"))
            #expect(!FileManager.default.fileExists(atPath: "\(lab.directory.path)/root"))
        }

        @Test("on a link without one DHCP is set up, and dnsmasq with that file serves a phone")
        func serves() throws {
            let lab = try Lab()
            let setup = try lan(
                lab, "lan_probe \(Self.probe) lan; lan_write_dhcp lan 10.9.0.1/24; lan_networks; lan_address lan")
            #expect(setup.status == 0, "\(setup)")
            #expect(setup.output == "lan\n10.9.0.1/24\n")
            let file = "\(lab.directory.path)/root/etc/starship/dhcp/lan.conf"
            let server = try lab.start(
                .gateway,
                [
                    "dnsmasq", "--keep-in-foreground", "--conf-file=\(file)", "--user=root", "--pid-file=",
                    "--dhcp-leasefile=\(lab.directory.path)/leases", "--log-facility=-",
                ])
            try server.waitFor("DHCP, IP range", within: 10)
            let asked = try lab.run(.device, [Self.probe, "dhcp-probe", "eth0"])
            #expect(asked.status == 3 && asked.output.contains("with router 10.9.0.1\n"), "\(asked)")
            #expect(asked.output.hasPrefix("eth0: 10.9.0.1 offers 10.9.0."))

            let removed = try lan(lab, "lan_remove lan")
            #expect(removed.status == 0 && !FileManager.default.fileExists(atPath: file))
            // With the directories that were made for it.
            #expect(!FileManager.default.fileExists(atPath: "\(lab.directory.path)/root"))
        }

        @Test("an interface that can't be asked is refused with the reason")
        func refuses() throws {
            let lab = try Lab()
            let missing = try lab.run(.gateway, [Self.probe, "dhcp-probe", "eth77"])
            #expect(missing.status == 1 && missing.errors.contains("eth77: No such device"), "\(missing)")
            let loopback = try lab.run(.gateway, [Self.probe, "dhcp-probe", "lo"])
            #expect(loopback.status == 1, "\(loopback)")
            #expect(try lab.run(.gateway, [Self.probe, "dhcp-probe"]).status == 64)
            for (command, words) in [
                ("lan_check_interface eth77", "there is no interface eth77"),
                ("lan_check_interface wan", "wan is this machine's own way out"),
                ("lan_check_ap lan lab", "lan has no radio"),
                ("lan_check_ssid ''", "0 octets"),
                ("lan_check_ssid '\(String(repeating: "ü", count: 17))'", "34 octets"),
                ("lan_check_ssid $'a\\nwpa=0'", "control characters"),
                ("lan_prefix 10.9.0.256/24", "expected the gateway's"),
                ("lan_prefix 10.9.0.1/16", "such as 192.168.50.1/24"),
                ("lan_prefix 224.0.0.1/24", "an address that a machine can have"),
                ("lan_check_ssid ' lab'", "begins or ends with a blank"),
            ] {
                let result = try lan(lab, command)
                #expect(result.status == 1 && result.errors.contains(words), "\(command): \(result)")
            }
        }

        @Test(
            "the access point's file is root's, keeps its passphrase, and hostapd understands it",
            .enabled(if: Lab.has("hostapd")))
        func accessPoint() throws {
            let lab = try Lab()
            let file = "\(lab.directory.path)/root/etc/hostapd/lan.conf"
            func passphrase() throws -> String {
                let text = try String(contentsOfFile: file, encoding: .utf8)
                let line = text.split(separator: "\n").first { $0.hasPrefix("wpa_passphrase=") }
                return String(try #require(line).dropFirst(15))
            }
            #expect(try lan(lab, "lan_write_ap lan 'QA lab'").status == 0)
            let first = try passphrase()
            #expect(first.count == 16)
            #expect(try lan(lab, "lan_write_ap lan Other").status == 0)
            #expect(try passphrase() == first)
            let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
            #expect(mode == 0o600)
            // There is no radio here, so hostapd ends at its driver: what it says of the file is what counts.
            for path in [file, Lab.sources.appending(path: "Configs/ways/hostapd.conf").path] {
                let result = try lab.run(.gateway, ["hostapd", path])
                let said = result.output + result.errors
                #expect(!said.contains("Line ") && !said.contains("found in configuration file"), "\(path): \(said)")
            }
            let wrong = "\(lab.directory.path)/wrong.conf"
            try (String(contentsOfFile: file, encoding: .utf8) + "no_such_item=1\n")
                .write(toFile: wrong, atomically: true, encoding: .utf8)
            let refused = try lab.run(.gateway, ["hostapd", wrong])
            #expect((refused.output + refused.errors).contains("unknown configuration item"), "\(refused)")
        }

        @Test(
            "systemd-networkd knows each setting of its examples",
            .enabled(if: FileManager.default.fileExists(atPath: "/lib/systemd/systemd-networkd")),
            arguments: [
                "wlan0.network", "bridge-ap.network", "one-arm.network", "vlan20.netdev", "vlan20.network",
                "trunk.network",
            ])
        func networkd(name: String) throws {
            // Its table of settings has each as `Section.Key`.
            let program = try Data(contentsOf: URL(filePath: "/lib/systemd/systemd-networkd"))
            let file = Lab.sources.appending(path: "Configs/ways/\(name)")
            var (section, found) = ("", 0)
            for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") where !line.hasPrefix("#")
            {
                if line.hasPrefix("[") {
                    section = String(line.dropFirst().dropLast())
                    continue
                }
                let key = line.prefix { $0 != "=" }
                #expect(program.range(of: Data("\0\(section).\(key)\0".utf8)) != nil, "[\(section)] \(key)")
                found += 1
            }
            #expect(found > 1)
        }

        @Test("dnsmasq takes its example", .enabled(if: Lab.has("dnsmasq")))
        func dnsmasq() throws {
            let lab = try Lab()
            let file = Lab.sources.appending(path: "Configs/ways/dnsmasq-lan.conf").path
            let result = try lab.run(.gateway, ["dnsmasq", "--test", "--conf-file=\(file)"])
            #expect(result.status == 0, "\(result)")
        }
    }
}
