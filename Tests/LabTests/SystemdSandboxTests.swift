/// What the sandbox of the unit leaves to the service, tried out from inside of it; and what it gets from outside.

import Foundation
import TestSupport
import Testing

extension LabTests {
    @Suite("in the unit's sandbox", .enabled(if: RouteLab.isPossible), .unless(Machine.obstacle))
    struct SystemdSandboxTests {
        /// Runs as the service, where it is: each line is a name and whether the attempt came off.
        private static let attempts = """
            try() { name=$1; shift; if "$@" >/dev/null 2>&1; then echo "$name can"; else echo "$name cannot"; fi; }
            put() { echo x 2>/dev/null >"$1"; }
            try state put /var/lib/starship/attempt
            try runtime put /run/starship/attempt
            try tmp put /tmp/attempt
            try configuration put /etc/starship/attempt
            try program put /usr/bin/starshipd
            try forwarding put /proc/sys/net/ipv4/ip_forward
            try sys put /sys/class/net/lan/mtu
            try groups mkdir /sys/fs/cgroup/attempt
            try node mknod /var/lib/starship/node c 1 3
            try setuid sh -c 'cp /bin/true /var/lib/starship/true && chmod u+s /var/lib/starship/true'
            try shadow cat /etc/shadow
            try home ls /home
            try log dmesg
            try namespace unshare --user true
            try mount mount -t tmpfs tmpfs /tmp
            try hostname hostname other
            try user setpriv --reuid 0 true
            try packet python3 -c 'import socket; socket.socket(socket.AF_PACKET, socket.SOCK_RAW)'
            try raw python3 -c 'import socket; socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)'
            try realtime chrt -f 1 true
            try writeexec python3 -c 'import mmap; mmap.mmap(-1, 4096, prot=7)'
            try trace sh -c 'kill -0 1'
            try links ip link show lan
            try rules ip rule
            try tables nft list ruleset
            try route ip route add unreachable 192.0.2.99/32 table 10899
            """

        @Test("the service writes its two directories and the network, and nothing else of the machine")
        func holds() throws {
            let setting = try SystemdTests.Setting("web.example")
            let machine = setting.machine
            try machine.write(Self.attempts, to: "/etc/starship/attempts", mode: "755")
            try machine.extend(
                "[Service]\\nExecStartPost=/bin/sh -c 'sh /etc/starship/attempts >/var/lib/starship/result'\\n"
                    .replacing("\\n", with: "\n"))
            try machine.shell("echo secret >/home/secret || true")
            try setting.start()
            let result = try machine.shell("cat /var/lib/starship/result")
            let can = result.split(separator: "\n").filter { $0.hasSuffix(" can") }.map { $0.dropLast(4) }
            #expect(
                Set(can) == ["state", "runtime", "tmp", "links", "rules", "tables", "route"], "\(result)")
            #expect(result.split(separator: "\n").count > 25)
            // What was put into /tmp stays there, and the machine's own has nothing of it.
            #expect(try machine.run(["ls", "/tmp/attempt"]).status != 0)
            #expect(try machine.shell("ip route show table 10899").contains("192.0.2.99"))
        }

        @Test("one capability is left, no way to more, and a user that nobody else is")
        func capabilities() throws {
            let setting = try SystemdTests.Setting("web.example")
            let machine = setting.machine
            try setting.start()
            let process = try machine.process
            let status = try machine.shell("cat /proc/\(process)/status")
            func field(_ name: String) -> [Substring] {
                let line = status.split(separator: "\n").first { $0.hasPrefix("\(name):") }
                return line?.split(whereSeparator: \.isWhitespace).dropFirst().map { $0 } ?? []
            }
            // CAP_NET_ADMIN is bit 12 (linux/capability.h).
            for set in ["CapEff", "CapPrm", "CapBnd"] { #expect(field(set) == ["0000000000001000"], "\(status)") }
            #expect(field("NoNewPrivs") == ["1"] && field("Seccomp") == ["2"], "\(status)")
            #expect(field("Uid").allSatisfy { (Int($0) ?? 0) >= 61184 }, "a dynamic user (systemd.exec(5))")
            let group = try machine.shell("getent group starship | cut -d: -f3")
            #expect(field("Gid").first.map(String.init) == group)
            // Its members may command it, others may not.
            #expect(
                try machine.shell("stat -c '%a %G' /run/starship /run/starship/control.sock")
                    == "750 starship\n660 starship")
            let member = [
                "setpriv", "--reuid", "nobody", "--regid", "starship", "--clear-groups", "starshipctl", "status",
            ]
            #expect(try machine.run(member).output.contains("lab"))
            let stranger = try machine.run(
                ["setpriv", "--reuid", "nobody", "--regid", "nogroup", "--clear-groups", "starshipctl", "status"])
            #expect(stranger.status == 3, "\(stranger)")
        }

        @Test("root's own secrets reach the service as credentials, and nobody else")
        func credentials() throws {
            let setting = try SystemdTests.Setting("web.example") {
                $0.socks = #"users: [{ name: "qa", passwordFile: "/etc/starship/secrets/qa.password" }]"#
            }
            let machine = setting.machine
            try machine.write("open sesame\n", to: "/etc/starship/secrets/qa.password", mode: "600")
            try setting.start()
            func page(_ password: String) throws -> String {
                let proxy = "socks5h://qa:\(password)@\(Lab.socksAddress):\(Lab.socksPort)"
                let curl = ["curl", "-sS", "--max-time", "5", "--proxy", proxy, "http://web.example/"]
                return try setting.routes.lab.run(.device, curl).output
            }
            #expect(try page("open%20sesame") == "\(RouteLab.proxied) web.example\n", "\(machine.said)")
            #expect(try page("wrong") == "")
            let stranger = try machine.run(
                [
                    "setpriv", "--reuid", "nobody", "--clear-groups", "cat", "/etc/starship/secrets/qa.password",
                    "/run/credentials/starshipd.service/secrets_qa.password",
                ])
            #expect(stranger.output == "" && stranger.status != 0)
            #expect(try machine.log().contains("sesame") == false)
        }
    }
}
