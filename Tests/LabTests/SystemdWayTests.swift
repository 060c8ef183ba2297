/// Networks of the gateway's own under a real systemd: DHCP in its sandbox, and what systemd-networkd makes of the
/// files.
///
/// This kernel may have no VLAN links. Then networkd has to come as far as the kernel's refusal, and a veth of the
/// VLAN's name stands in for it.

import Foundation
import TestSupport
import Testing

extension LabTests {
    @Suite(
        "ways onto the gateway, under a real systemd",
        .enabled(if: RouteLab.isPossible && Lab.has("busybox") && Lab.has("networkctl")), .unless(Machine.obstacle))
    struct SystemdWayTests {
        private func lease(_ lab: Lab) throws -> String {
            let udhcpc = ["busybox", "udhcpc", "-f", "-q", "-n", "-i", "eth0", "-t", "4", "-T", "2"]
            let result = try lab.run(.device, udhcpc + ["-s", "\(Lab.programs)/leased.sh"], within: 40)
            return String(result.output.split(separator: "\n").first { $0.hasPrefix("leased ") } ?? "\(result.errors)")
        }

        @Test(
            "setup network: DHCP runs in its sandbox as a user without rights, comes back, and goes when it is removed")
        func dhcp() throws {
            let setting = try SystemdTests.Setting("web.example")
            let machine = setting.machine
            let unit = "starship-dhcp.service"
            try setting.start()
            // The unit does nothing on a machine without such a network.
            try machine.shell("systemctl start \(unit)")
            #expect(try machine.property("ActiveState", of: unit) == "inactive")

            let setup = "/usr/lib/starship/setup network"
            let made = try machine.run(["sh", "-c", "\(setup) --dhcp lan --lan-address 10.9.0.1/24"])
            #expect(made.status == 0, "\(made)")
            #expect(try machine.property("ActiveState", of: unit) == "active")
            #expect(try machine.shell("systemctl is-enabled \(unit)") == "enabled")
            #expect(try machine.shell("ps -o user= -C dnsmasq") == "dnsmasq")
            #expect(try lease(setting.routes.lab).contains("router 10.9.0.1 dns 10.9.0.1 from 10.9.0.1"))
            try setting.expectPage("web.example")

            let process = try machine.property("MainPID", of: unit)
            try machine.shell("kill -KILL \(process)")
            let isBack = try Lab.wait(10) {
                try machine.property("ActiveState", of: unit) == "active"
                    && machine.property("MainPID", of: unit) != process
            }
            #expect(isBack)
            // Its score is in the middle of systemd's own scale at most; it has to begin as root.
            let security = try machine.run(["systemd-analyze", "security", "--offline=true", unit]).output
            let words = security.split(separator: "\n").last { $0.contains("Overall exposure") }?.split(separator: " ")
            #expect(try #require(words?.compactMap { Double($0) }.first, "\(security)") < 4.0)

            let removed = try machine.run(["sh", "-c", "\(setup) --remove lan"])
            #expect(removed.status == 0, "\(removed)")
            #expect(try machine.property("ActiveState", of: unit) == "inactive")
            let left =
                "ls -d /etc/starship/dhcp /var/lib/starship-dhcp /run/starship-dhcp /etc/systemd/network/05-starship*"
            #expect(try machine.shell("\(left) 2>/dev/null || true") == "")
            // The address was there before, and is there still.
            #expect(try machine.shell("ip -4 -o address show dev lan").contains(" 10.9.0.1/24 "))
        }

        @Test("a card that is pulled out and comes again has its address again", .enabled(if: Machine.hasUdev))
        func again() throws {
            let machine = try Machine(try Lab())
            try machine.shell("ip link add card type veth peer name far && ip link set card up && ip link set far up")
            let made = try machine.run(["/usr/lib/starship/setup", "network", "--dhcp", "card"])
            #expect(made.status == 0, "\(made)")
            let address = "ip -4 -o address show dev card 2>/dev/null || true"
            #expect(try machine.shell(address).contains(" 192.168.50.1/24 "))
            try machine.shell("ip link del card; sleep 1; ip link add card type veth peer name far; ip link set far up")
            #expect(try Lab.wait(10) { try machine.shell(address).contains(" 192.168.50.1/24 ") })
            // dnsmasq has learnt of it by itself.
            let asked = ["/usr/bin/starshipd", "dhcp-probe", "far"]
            #expect(try machine.run(asked).output.contains("far: 192.168.50.1 offers 192.168.50."))
        }

        @Test("systemd-networkd carries out the VLAN's three files, and what setup network writes")
        func networkd() throws {
            let machine = try Machine(try Lab())
            for name in ["vlan20.netdev", "vlan20.network", "trunk.network"] {
                let file = Lab.sources.appending(path: "Configs/ways/\(name)")
                // The lab's way out is called otherwise, and has its address by hand.
                let text = try String(contentsOf: file, encoding: .utf8).replacing("Name=eth0", with: "Name=wan")
                    .replacing("DHCP=yes", with: "KeepConfiguration=static")
                try machine.write(text, to: "/etc/systemd/network/\(name)")
            }
            // What udev would have told networkd of them at the boot of a machine of its own.
            try machine.shell("udevadm trigger -c add /sys/class/net/wan /sys/class/net/lan; udevadm settle")
            let log = "journalctl -u systemd-networkd -o cat --no-pager"
            func told() -> String { (try? machine.shell(log)) ?? "no log" }
            let refused = "wan: Could not create stacked netdev: Unknown device type. Operation not supported"
            try machine.shell("systemctl start systemd-networkd")
            let isMade = try Lab.wait(15) {
                try machine.shell(log).contains(refused) || machine.run(["ip", "link", "show", "vlan20"]).status == 0
            }
            #expect(isMade, "\(told())")
            func state(_ name: String) throws -> [String] {
                try machine.shell("networkctl list --no-legend --no-pager \(name)").split(separator: " ").map(
                    String.init)
            }
            let files = "networkctl status --no-pager"
            // It is told of a new file while it runs.
            let made = try machine.run(
                ["/usr/lib/starship/setup", "network", "--dhcp", "lan", "--lan-address", "10.9.0.1/24"])
            #expect(made.status == 0, "\(made)")
            #expect(try Lab.wait(10) { try state("lan").last == "configured" }, "\(told())")
            #expect(try machine.shell("\(files) lan").contains("/etc/systemd/network/05-starship-lan.network"))
            if try machine.run(["ip", "link", "show", "vlan20"]).status == 0 {
                // ip-link(8).
                #expect(try machine.shell("ip -d link show vlan20").contains("vlan protocol 802.1Q id 20"))
            } else {
                try machine.shell(
                    """
                    systemctl stop systemd-networkd.socket systemd-networkd
                    rm /etc/systemd/network/vlan20.netdev /etc/systemd/network/trunk.network
                    ip link add vlan20 type veth peer name far20; ip link set far20 up; udevadm settle
                    systemctl start systemd-networkd
                    """)
            }
            #expect(try Lab.wait(10) { try state("vlan20").last == "configured" }, "\(told())")
            #expect(try machine.shell("\(files) vlan20").contains("/etc/systemd/network/vlan20.network"))
            #expect(try machine.shell("ip -4 -o address show dev vlan20").contains(" 192.168.50.1/24 "))
            // systemd.syntax(7): what it doesn't know is said and ignored.
            let said = try machine.shell(log)
            let complaints = said.split(separator: "\n").filter { line in
                ["Unknown ", "ignoring", "Failed to parse"].contains { line.contains($0) } && line != refused
            }
            #expect(complaints == [])
        }
    }
}
