/// The service and a network that comes later, and starts that systemd tries again or doesn't.

import Foundation
import TestSupport
import Testing

extension LabTests {
    @Suite("a service before its network", .enabled(if: RouteLab.isPossible), .unless(Machine.obstacle))
    struct SystemdNetworkTests {
        @Test("B196: started before the network is up it is ready and red; what comes later gets its kernel settings")
        func beforeTheNetwork() throws {
            let setting = try SystemdTests.Setting("web.example") {
                $0.isProbed = true
                $0.profile += ", health: { url: \"http://web.example/\", interval: \"30s\" }"
            }
            let machine = setting.machine
            try machine.shell(
                """
                sysctl -qw net.ipv4.ip_forward=0 net.ipv6.conf.all.forwarding=0 net.ipv6.conf.wan.accept_ra=1
                sysctl -qw net.ipv4.conf.lan.rp_filter=1 net.ipv4.conf.wan.rp_filter=1
                ip link set wan down; ip link set lan down; ip link set lan name late
                """)
            try setting.start()
            let process = try machine.process
            #expect(try Lab.wait(15) { try machine.property("StatusText").contains("lab is red") }, "\(machine.said)")

            try machine.shell(
                """
                ip link set late name lan; ip link set lan up; ip link set wan up
                ip address replace 10.9.0.1/24 dev lan; ip address replace fd00:77::1/64 dev wan nodad
                ip route replace default via 10.77.0.2; ip -6 route replace default via fd00:77::2
                """)
            let isGreen = try Lab.wait(35) { try machine.property("StatusText").contains("lab is green") }
            #expect(isGreen, "\(machine.said)")
            #expect(try machine.process == process)
            try setting.expectPage("web.example")
            // The daemon has asked, and the step with more rights has done it (ip-sysctl: accept_ra 2, rp_filter 2).
            let settings =
                "sysctl -n net.ipv4.conf.lan.rp_filter net.ipv4.conf.wan.rp_filter net.ipv6.conf.wan.accept_ra"
            let isSet = try Lab.wait { try machine.shell(settings) == "2\n2\n2" }
            #expect(isSet, "\(machine.said)")
            try machine.stop()
            #expect(try machine.shell(settings) == "1\n1\n1")
        }

        /// systemd has no device units in a container, so what udev tells it is looked at, and the unit started by
        /// hand.
        @Test(
            "udev asks for the step when an interface appears; it runs while the service does",
            .enabled(if: Machine.hasUdev))
        func udev() throws {
            let setting = try SystemdTests.Setting("web.example")
            let machine = setting.machine
            try machine.shell("ip link add late type veth peer name late2")
            let device = ["udevadm", "info", "/sys/class/net/late"]
            let isTagged = try Lab.wait {
                let told = try machine.run(device).output
                return told.contains("E: SYSTEMD_WANTS=starshipd-settings.service\n") && told.contains(":systemd:")
            }
            #expect(isTagged)
            func runs() throws -> String {
                try machine.shell("systemctl start starshipd-settings.service")
                return try machine.property("ExecMainStartTimestampMonotonic", of: "starshipd-settings.service")
            }
            try machine.shell("sysctl -qw net.ipv4.ip_forward=0")
            #expect(try runs() == "0")
            #expect(try machine.shell("sysctl -n net.ipv4.ip_forward") == "0")
            try setting.start()
            try machine.shell("sysctl -qw net.ipv4.conf.lan.rp_filter=1")
            #expect(try runs() != "0")
            #expect(try machine.property("Result", of: "starshipd-settings.service") == "success")
            #expect(try machine.shell("sysctl -n net.ipv4.conf.lan.rp_filter") == "2")
        }

        @Test("what people have to mend is tried once; what may pass by itself is tried again, seldom")
        func retries() throws {
            let setting = try SystemdTests.Setting("web.example")
            let machine = setting.machine
            let before = try setting.routes.listing()
            try machine.write("{ profiles: [{ id: 1 }] }", to: "/etc/starship/starship.json5")
            #expect(try machine.run(["systemctl", "start", Machine.unit]).status != 0)
            #expect(try Lab.wait { try machine.property("ActiveState") == "failed" })
            #expect(try machine.property("ExecMainStatus") == "78")
            #expect(try machine.property("NRestarts") == "0")
            let lines = try machine.log().split(separator: "\n").filter { $0.hasPrefix("starshipd: ") }
            #expect(lines.count == 1, "\(lines)")

            // Somebody has its port, for a while.
            try machine.configure(SystemdTests.Setting.settings(setting.routes, ["web.example"]))
            let other = try setting.routes.lab.start(.gateway, Lab.python(["network.py", "serve", "10808"]))
            try other.waitFor("ready")
            _ = try machine.run(["systemctl", "start", Machine.unit])
            _ = Lab.wait(6) { false }
            let tries = Int(try machine.property("NRestarts")) ?? 0
            #expect((1...3).contains(tries), "\(machine.said)")
            let difference = try setting.routes.listing().split(separator: "\n")
                .difference(from: before.split(separator: "\n"))
            #expect(difference.isEmpty, "\(difference)")
            other.end(.kill)
            #expect(try Lab.wait(15) { try machine.isActive }, "\(machine.said)")
            try setting.expectPage("web.example")
        }
    }
}
