/// `starshipctl doctor` and `report` on a gateway with real faults: each is named, and its command mends it.

import Foundation
import TestSupport
import Testing

/// A gateway in domain mode with a resolver and a proxy, and the doctor beside it.
private struct DoctorLab {
    static let isPossible =
        RouteLab.isPossible && Lab.has("iptables") && Lab.has("prlimit") && Lab.has("sysctl") && Lab.has("ping")

    let route: RouteLab
    let daemon: Daemon
    var lab: Lab { route.lab }
    /// Tools that stand before the system's.
    private let tools: String

    /// A finding of `doctor --json`.
    struct Finding: CustomStringConvertible {
        let check: String
        let grade: String
        let words: String
        let mend: [String]

        var description: String { "\(grade) \(check): \(words) \(mend)" }
    }

    init(profiles: String = "") throws {
        route = try RouteLab()
        tools = "\(route.lab.directory.path)/tools"
        try FileManager.default.createDirectory(atPath: tools, withIntermediateDirectories: true)
        // Tools that refuse while a file is there: for a daemon whose repairs fail.
        for tool in ["ip", "nft"] {
            try Self.script(
                "\(tools)/\(tool)",
                "[ -e \(tools)/refuse ] && { echo refused >&2; exit 1; }\n"
                    + "PATH=/usr/sbin:/usr/bin:/sbin:/bin exec \(tool) \"$@\"")
        }
        var settings = route.settings(
            "web.example", more: "clock: \"trust\",")
        settings.limits = "flows: 3000"
        settings.profiles = profiles
        settings.wrapper = ["env", "PATH=\(tools):/usr/sbin:/usr/bin:/sbin:/bin"]
        daemon = try route.start(settings)
    }

    static func script(_ path: String, _ text: String) throws {
        try "#!/bin/sh\n\(text)\n".write(toFile: path, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
    }

    var configuration: String { "\(lab.directory.path)/starshipd.json5" }

    /// Has the daemon's ip(8) and nft(8) refuse, or work again.
    func refuse(_ isRefused: Bool) throws {
        if isRefused {
            try "".write(toFile: "\(tools)/refuse", atomically: true, encoding: .utf8)
        } else {
            try FileManager.default.removeItem(atPath: "\(tools)/refuse")
        }
    }

    /// Runs the command line on the gateway.
    func control(_ arguments: [String], before: [String] = []) throws -> LabProgram.Result {
        try lab.run(.gateway, before + ["\(Lab.binaries)/starshipctl"] + arguments, within: 60)
    }

    /// What is not in order; nothing that this machine lacks besides is asked for.
    func faults() throws -> [Finding] {
        let result = try control(["doctor", "--json", "--config", configuration])
        let findings = try Self.read(result.output)
        let isWrong = findings.contains { $0.grade == "wrong" }
        #expect(result.status == (isWrong ? 1 : 0), "\(result.output)\(result.errors)")
        return findings.filter { $0.grade == "wrong" || $0.grade == "notice" }
    }

    static func read(_ output: String) throws -> [Finding] {
        let object = try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any]
        return (object?["findings"] as? [[String: Any]] ?? []).map { finding in
            Finding(
                check: finding["check"] as? String ?? "", grade: finding["grade"] as? String ?? "",
                words: finding["words"] as? String ?? "", mend: finding["mend"] as? [String] ?? [])
        }
    }

    /// Runs a finding's commands as a person would, in the gateway's root shell.
    func mend(_ finding: Finding) throws {
        for command in finding.mend {
            let result = try lab.run(.gateway, ["sh", "-c", shell(command)])
            #expect(result.status == 0, "\(command): \(result.errors)")
        }
    }

    func shell(_ command: String) -> String {
        "PATH=\(Lab.binaries):$PATH STARSHIP_SOCKET=\(Daemon.socket(lab)); export PATH STARSHIP_SOCKET; \(command)"
    }

    /// Makes a fault, and shows that it alone is found, with a command that mends it.
    func check(_ name: String, _ words: String, make fault: () throws -> Void) throws {
        try fault()
        var found = try faults()
        // The daemon hears of much by itself, and may have mended it by then.
        for _ in 0..<3 where found.isEmpty {
            try fault()
            found = try faults()
        }
        #expect(found.map(\.check) == [name], "\(found)")
        guard let finding = found.first else { return }
        #expect(finding.grade == "wrong" && finding.words.contains(words), "\(finding)")
        #expect(!finding.mend.isEmpty, "\(finding)")
        try mend(finding)
        #expect(try faults().isEmpty, "after \(finding.mend)")
    }

    @discardableResult
    func onGateway(_ command: String) throws -> String {
        let result = try lab.run(.gateway, ["sh", "-ec", command])
        guard result.status == 0 else { throw LabError("\(command): \(result.errors)") }
        return result.output
    }
}

extension LabTests {
    @Suite("doctor", .enabled(if: DoctorLab.isPossible))
    struct DoctorLabTests {
        @Test("where nothing is wrong nothing is found, and nothing is changed by looking")
        func isClean() throws {
            let lab = try DoctorLab()
            #expect(try lab.route.page("web.example").hasPrefix(RouteLab.proxied))
            let before = try lab.route.listing()
            let found = try lab.faults()
            #expect(found.isEmpty, "\(found)")
            #expect(try lab.route.listing() == before)
            let words = try lab.control(["doctor", "--config", lab.configuration])
            #expect(words.status == 0 && words.output.hasPrefix("Nothing is wrong"), "\(words.output)")
            #expect(words.output.contains("✓ names") && words.output.contains("✓ rules"), "\(words.output)")
        }

        @Test("forwarding, reverse path filters: named with their sysctl")
        func settings() throws {
            let lab = try DoctorLab()
            try lab.check("forwarding", "net/ipv4/ip_forward is 0") {
                try lab.onGateway("sysctl -qw net.ipv4.ip_forward=0")
            }
            try lab.check("filters", "net/ipv4/conf/lan/rp_filter is 1") {
                try lab.onGateway("sysctl -qw net.ipv4.conf.lan.rp_filter=1")
            }
        }

        @Test("a rule and a route of ours that the daemon can't put back are named with their lines of ip(8)")
        func rules() throws {
            let lab = try DoctorLab()
            // Where nobody has rules, ours are not needed.
            try lab.onGateway("ip -4 rule add priority 20000 iif nowhere lookup main")
            #expect(try Lab.wait { try lab.onGateway("ip -4 rule").contains("10807:") })
            try lab.refuse(true)
            try lab.check("rules", "rule add priority 10807") { try lab.onGateway("ip -4 rule del priority 10807") }
            try lab.check("routes", "route replace 198.18.0.0/15") {
                try lab.onGateway("ip -4 route del 198.18.0.0/15 dev starship0 table 10800")
            }
            try lab.refuse(false)
        }

        @Test("our table of the firewall, deleted while the daemon could not make it again, comes back by a reload")
        func firewall() throws {
            let lab = try DoctorLab()
            try lab.refuse(true)
            try lab.onGateway("nft delete table inet starship")
            let found = try lab.faults()
            #expect(found.map(\.check) == ["firewall"] && found.first?.mend == ["starshipctl reload"], "\(found)")
            try lab.refuse(false)
            for finding in found { try lab.mend(finding) }
            #expect(try lab.faults().isEmpty)
        }

        @Test("Docker's chain that drops what is forwarded: named, and opened by its command")
        func foreignChain() throws {
            let lab = try DoctorLab()
            #expect(try lab.route.page("news.example").hasPrefix(RouteLab.direct))
            try lab.check("foreignFirewall", "Docker's chain ip filter FORWARD drops") {
                try lab.onGateway(
                    "iptables -N DOCKER-USER; iptables -A FORWARD -j DOCKER-USER; iptables -P FORWARD DROP")
                #expect(try lab.route.page("news.example").hasPrefix("failed"))
            }
            #expect(try lab.route.page("news.example").hasPrefix(RouteLab.direct))
        }

        @Test("a LAN whose MTU was lowered")
        func mtu() throws {
            let lab = try DoctorLab()
            try lab.check("mtu", "the MTU of lan is 1300") { try lab.onGateway("ip link set dev lan mtu 1300") }
        }

        @Test("another tunnel's rule before ours is moved behind, and devices are proxied again")
        func otherRule() throws {
            let lab = try DoctorLab()
            try lab.check("otherRules", "the IPv4 rule 5270 is asked before ours and takes 0.0.0.0/0") {
                try lab.onGateway(
                    "ip -4 route replace default via 10.77.0.2 dev wan table 52; ip -4 rule add priority 5270 lookup 52"
                )
                #expect(try lab.route.page("web.example").hasPrefix("failed"))
            }
            #expect(try lab.route.page("web.example").hasPrefix(RouteLab.proxied))
        }

        @Test("a dead resolver is named, and is no fault once it lives again")
        func resolver() throws {
            let lab = try DoctorLab()
            lab.route.names.signal(.stop)
            let found = try lab.faults()
            #expect(found.map(\.check) == ["names"], "\(found)")
            #expect(found.first?.words == "the resolver 10.77.0.2 does not answer")
            lab.route.names.signal(.goOn)
            #expect(try lab.faults().isEmpty)
        }

        @Test("a disk that captured packets have filled")
        func disk() throws {
            let lab = try DoctorLab()
            let state = "\(lab.lab.directory.path)/state"
            #expect(lab.daemon.isRunning)
            // Of its own, and no larger than a capture fills at once.
            guard
                try LabProgram(beside: ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", state], in: "/tmp")
                    .wait(within: 10).status == 0
            else {
                Lab.leaveOut("a full disk: nothing can be mounted")
                return
            }
            defer { _ = try? LabProgram(beside: ["umount", "-l", state], in: "/tmp").wait(within: 10) }
            try FileManager.default.createDirectory(atPath: "\(state)/captures", withIntermediateDirectories: true)
            #expect(try lab.faults().isEmpty)
            try lab.check("disk", "is full") {
                _ = FileManager.default.createFile(
                    atPath: "\(state)/captures/a.pcap", contents: Data(count: 4 << 20 - 4096))
            }
        }

        @Test("fewer descriptors than flows, and the limit is raised while the daemon runs")
        func descriptors() throws {
            let lab = try DoctorLab()
            try lab.check("descriptors", "may have 300 descriptors, and 3000 flows") {
                // The soft limit alone: to raise the hard one again is more than root may in some containers.
                try lab.onGateway("prlimit --pid \(lab.daemon.program.pid) --nofile=300:")
            }
        }

        @Test("a dead proxy: the way out is the profile whose proxy lives")
        func upstream() throws {
            let spare = """
                { id: "spare", name: "Spare", upstream: { type: "http", host: "10.77.0.2", port: 10809 }, health: false }
                """
            let lab = try DoctorLab(profiles: spare)
            let embedded = try Upstream.embedded.start(in: lab.lab)
            #expect(try lab.faults().isEmpty)
            lab.route.proxy.end(.kill)
            let found = try lab.faults()
            #expect(found.map(\.check) == ["upstream"] && found.first?.grade == "wrong", "\(found)")
            #expect(found.first?.mend == ["starshipctl use spare --all"])
            for finding in found { try lab.mend(finding) }
            let rest = try lab.faults()
            #expect(rest.map(\.grade) == ["notice"], "\(rest)")
            #expect(embedded.isRunning)
        }

        @Test("a daemon that is stopped, and one that is gone")
        func service() throws {
            let lab = try DoctorLab()
            lab.daemon.program.signal(.stop)
            let stopped = try lab.faults()
            #expect(stopped.map(\.check) == ["service"], "\(stopped)")
            for finding in stopped { try lab.mend(finding) }
            #expect(try lab.faults().isEmpty)

            lab.daemon.program.end(.kill)
            let gone = try lab.faults().filter { $0.check == "service" }
            let command = try #require(gone.first?.mend.first)
            #expect(command == "starshipd --config \(lab.configuration)")
            let again = try lab.lab.start(.gateway, ["sh", "-c", lab.shell("exec \(command)")])
            try again.waitFor("event=ready", within: 60)
            #expect(try lab.faults().isEmpty)
        }

        @Test("an ordinary user is told what could not be looked at, and why")
        func ordinaryUser() throws {
            let lab = try DoctorLab()
            let program = "\(lab.lab.directory.path)/starshipctl"
            try FileManager.default.copyItem(atPath: "\(Lab.binaries)/starshipctl", toPath: program)
            let user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
            guard try lab.lab.run(.gateway, user + ["true"]).status == 0 else {
                Lab.leaveOut("doctor as an ordinary user: there is no other user here")
                return
            }
            let result = try lab.lab.run(
                .gateway, user + [program, "doctor", "--json", "--config", lab.configuration], within: 60)
            let findings = try DoctorLab.read(result.output)
            let unseen = Set(findings.filter { $0.grade == "unseen" }.map(\.check))
            #expect(unseen.isSuperset(of: ["access", "kernel", "foreignFirewall"]), "\(findings)")
            #expect(findings.contains { $0.check == "uplink" && $0.grade == "ok" }, "\(findings)")
            #expect(!findings.contains { $0.grade == "wrong" } && result.status == 0, "\(findings)")
        }
    }
}
