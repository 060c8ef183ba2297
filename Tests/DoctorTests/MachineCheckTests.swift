/// The daemon, the kernel, limits, disk, clock, managers, and others' machines.

import LinuxIO
import Network
import Testing

@testable import Doctor

private func faults(_ sight: Sight, _ check: Check) -> [Finding] {
    Diagnosis(of: sight).findings.filter { $0.check == check && $0.grade != .ok }
}

@Suite("doctor and the machine")
struct MachineCheckTests {
    // The daemon

    @Test("a daemon that is not there is started, by the service manager where there is a unit")
    func absent() {
        var sight = Samples.sight()
        sight.daemon = .absent("No such file or directory")
        #expect(faults(sight, .service).map(\.mending) == [["systemctl start starshipd"]])
        // What a crash has left refuses.
        #expect(faults(sight, .service)[0].meaning.contains("refused until it runs again"))
        sight.service.show = "LoadState=not-found\nActiveState=inactive\n"
        sight.machine?.rules = []
        #expect(
            faults(sight, .service).map(\.mending) == [["starshipd --config /etc/starship/starship.json5"]])
        #expect(faults(sight, .service)[0].meaning.contains("Nothing is proxied"))
    }

    @Test("one that is stopped goes on; who is not in the group is told which, and what was not seen")
    func silent() {
        var sight = Samples.sight()
        sight.service.show = nil
        sight.daemon = .silent(process: 4711)
        #expect(faults(sight, .service).first?.mending == ["kill -CONT 4711"])
        sight.daemon = .forbidden(group: "starship", user: "kim")
        #expect(faults(sight, .access).map(\.mending) == [["usermod -aG starship kim"]])
        sight.daemon = .forbidden(group: "root", user: "kim")
        #expect(faults(sight, .access).map(\.grade) == [.unseen])
    }

    @Test("what the daemon says itself is passed on, but for the network, which is looked at here")
    func ownNotices() {
        var sight = Samples.sight()
        guard case .running(var running) = sight.daemon else { return }
        running.notices = [
            "switches are not kept: No space left on device", "no default route: what is direct has no way out",
        ]
        sight.daemon = .running(running)
        #expect(faults(sight, .service).map(\.words) == ["switches are not kept: No space left on device"])
        #expect(faults(sight, .uplink).isEmpty)
    }

    @Test("a service that crashed is told from one that failed for good")
    func history() {
        var sight = Samples.sight()
        sight.service.show =
            "LoadState=loaded\nActiveState=active\nResult=success\nNRestarts=3\nUnitFileState=enabled\n"
        #expect(faults(sight, .service).map(\.grade) == [.notice])
        #expect(faults(sight, .service)[0].words.contains("3 times"))
        sight.service.show =
            "LoadState=loaded\nActiveState=failed\nResult=exit-code\nNRestarts=5\nExecMainStatus=78\nUnitFileState=disabled\n"
        let found = faults(sight, .service)
        #expect(found.map(\.grade) == [.wrong, .notice])
        #expect(found[0].words == "the service ended with exit-code, status 78")
        #expect(found[1].mending == ["systemctl enable starshipd"])
    }

    @Test("a wrong file is wrong; one that may not be read is not judged")
    func configuration() {
        var sight = Samples.sight()
        sight.setup.failure = "/etc/starship/starship.json5: line 3, column 5: …"
        #expect(
            faults(sight, .configuration).map(\.mending) == [["starshipd check --config /etc/starship/starship.json5"]])
        sight.setup.isUnreadable = true
        #expect(faults(sight, .configuration).map(\.grade) == [.unseen])
        sight.setup.isUnreadable = false
        sight.setup.isMissing = true
        #expect(faults(sight, .configuration)[0].advice?.contains("--config FILE") == true)
    }

    // The kernel

    @Test("a missing TUN device is made, refused offloads are slow, a refused firewall is wrong")
    func kernel() {
        var sight = Samples.sight()
        sight.kernel.deviceFailure = "open /dev/net/tun: No such file or directory"
        #expect(faults(sight, .tunnel).first?.mending.first == "modprobe tun")
        sight.kernel.deviceFailure = "open /dev/net/tun: Permission denied"
        #expect(faults(sight, .tunnel).map(\.mending) == [["chmod 666 /dev/net/tun"]])
        sight.tools.isRoot = false
        #expect(faults(sight, .tunnel).map(\.grade) == [.unseen])
        sight.tools.isRoot = true
        sight.kernel.deviceFailure = nil
        sight.kernel.trial?.refusals = [.segmentation, .multiQueue]
        #expect(faults(sight, .tunnel).map(\.grade) == [.notice])
        sight.setup.workers = 4
        #expect(faults(sight, .tunnel).count == 2)
        sight.kernel.trial?.firewallFailure = "nft -f, line 12: Error: Could not process rule"
        sight.kernel.trial?.routingFailure = "ip -4 -batch: RTNETLINK answers: Operation not supported"
        #expect(faults(sight, .kernel).map(\.grade) == [.wrong, .wrong])
        sight.tools.nft = nil
        #expect(faults(sight, .tools).map(\.mending) == [["apt-get install -y nftables"]])
        sight.kernel.conntrack = (count: 60_000, limit: 65_536)
        #expect(faults(sight, .conntrack).map(\.mending) == [["sysctl -w net/netfilter/nf_conntrack_max=131072"]])
    }

    // Limits

    @Test("the line of /proc/PID/limits is read")
    func openFiles() throws {
        let limit = try #require(MachineChecks.openFiles(Samples.limits(soft: "1024")))
        #expect(limit == (1024, 524_288))
        #expect(MachineChecks.openFiles(Samples.limits(soft: "unlimited"))?.soft == .max)
        #expect(MachineChecks.openFiles("Max open files\n") == nil)
    }

    @Test("fewer descriptors than flows are wrong, and nearly used ones more so")
    func descriptors() {
        var sight = Samples.sight()
        sight.limits.process = Samples.limits(soft: "1024")
        let command = "prlimit --pid 4711 --nofile=65792:524288"
        #expect(faults(sight, .descriptors).map(\.mending) == [[command]])
        sight.setup.flows = 700
        #expect(faults(sight, .descriptors).isEmpty)
        guard case .running(var running) = sight.daemon else { return }
        running.descriptors = 1000
        sight.daemon = .running(running)
        #expect(faults(sight, .descriptors).map(\.words) == ["1000 of 1024 descriptors are used"])
        // The largest number there is: nine tenths of it can't be counted in tenths.
        sight.limits.process = Samples.limits(soft: "unlimited")
        #expect(faults(sight, .descriptors).isEmpty)
    }

    @Test("memory: the control group's bound, what is left, and what buffers may take")
    func memory() {
        var sight = Samples.sight()
        sight.limits.group = 256 << 20
        #expect(faults(sight, .memory).map(\.mending) == [["systemctl set-property starshipd MemoryMax=320M"]])
        sight.limits.group = nil
        sight.limits.memory = "MemTotal:         400000 kB\nMemAvailable:     300000 kB\n"
        #expect(faults(sight, .memory).map(\.grade) == [.notice])
        sight.limits.memory = "MemTotal:         8000000 kB\nMemAvailable:     20000 kB\n"
        #expect(faults(sight, .memory).map(\.grade) == [.wrong])
    }

    @Test("a full disk names captured packets where there are any; read-only and no inodes are told apart")
    func disk() {
        var sight = Samples.sight()
        sight.disk?.space.free = 4096
        #expect(faults(sight, .disk).map(\.mending) == [["du -xh /var/lib/starship | sort -h | tail"]])
        sight.disk?.captures = ["/var/lib/starship/captures/a.pcap"]
        #expect(faults(sight, .disk).map(\.mending) == [["rm -f /var/lib/starship/captures/a.pcap"]])
        sight.disk?.space = FileSystemSpace(free: 30 << 20, total: 100 << 30, freeFiles: 9999, isReadOnly: false)
        #expect(faults(sight, .disk).map(\.grade) == [.notice])
        sight.disk?.space = FileSystemSpace(free: 1 << 30, total: 100 << 30, freeFiles: 3, isReadOnly: false)
        #expect(faults(sight, .disk)[0].words.contains("inodes"))
        sight.disk?.space.isReadOnly = true
        #expect(faults(sight, .disk)[0].words.contains("read-only"))
        // A small file system that is nearly empty is no fault.
        sight.disk?.space = FileSystemSpace(free: 20 << 20, total: 32 << 20, freeFiles: nil, isReadOnly: false)
        #expect(faults(sight, .disk).isEmpty)
    }

    @Test("a clock without NTP is noticed unless it is trusted; an impossible year is wrong")
    func clock() {
        var sight = Samples.sight()
        sight.clock.isSynchronised = false
        #expect(faults(sight, .clock).map(\.grade) == [.notice])
        sight.setup.trustsClock = true
        #expect(faults(sight, .clock).isEmpty)
        sight.clock.now = 86_400
        #expect(faults(sight, .clock).map(\.grade) == [.wrong])
    }

    // Managers

    @Test("NetworkManager and networkd are told to leave ours alone, unless they were")
    func managers() {
        var sight = Samples.sight()
        sight.managers.networkManager = "wan:connected\nstarship0:connected (externally)\nlo:unmanaged\n"
        #expect(faults(sight, .managers)[0].words == "NetworkManager manages starship0 (connected (externally))")
        sight.managers.networkManager = "wan:connected\nstarship0:unmanaged\n"
        #expect(faults(sight, .managers).isEmpty)

        sight.managers.networkd = "[Network]\n#ManageForeignRoutes=yes\nManageForeignRoutes=no\n"
        let found = faults(sight, .managers)
        #expect(found.count == 1)
        #expect(
            found[0].mending[1]
                == "printf '[Network]\\nManageForeignRoutingPolicyRules=no\\n' >/etc/systemd/networkd.conf.d/starship.conf"
        )
        sight.managers.networkd = "[Network]\nManageForeignRoutes = no\nManageForeignRoutingPolicyRules=false\n"
        #expect(faults(sight, .managers).isEmpty)
    }

    @Test("a resolver file of stubs alone is wrong for who asks the system, unless resolved knows the servers behind")
    func stubs() {
        var sight = Samples.sight()
        sight.managers.resolvConf = "# stub\nnameserver 127.0.0.53\noptions edns0\n"
        #expect(faults(sight, .managers).isEmpty)
        sight.managers.asksSystem = true
        #expect(faults(sight, .managers).map(\.grade) == [.wrong])
        sight.managers.uplinkServers = "nameserver 192.0.2.53\n"
        #expect(faults(sight, .managers).isEmpty)
    }

    // Others' machines

    private static func proxy(_ profile: String, used: Bool) -> Sight.Setup.Proxy {
        var proxy = Sight.Setup.Proxy(profile: profile, server: "\(profile).example:8080")
        proxy.isUsed = used
        return proxy
    }

    @Test("a dead proxy that is used is wrong, and another one that lives is the way out; an unused one is noticed")
    func upstreams() {
        var sight = Samples.sight()
        sight.upstreams = [.init(Self.proxy("qa", used: true), .failed("Connection refused"))]
        #expect(faults(sight, .upstream).map(\.mending) == [[]])
        sight.upstreams.append(.init(Self.proxy("spare", used: false), .answered(status: 200)))
        #expect(faults(sight, .upstream).map(\.mending) == [["starshipctl use spare --all"]])
        #expect(faults(sight, .upstream)[0].meaning.contains("qa"))
        sight.upstreams[0].proxy.isUsed = false
        #expect(faults(sight, .upstream).map(\.grade) == [.notice])
    }

    @Test(
        "an answer of a proxy is judged by what the profile has for it",
        arguments: [
            (200, false, false, Finding.Grade.ok), (407, false, false, .wrong), (407, true, false, .ok),
            (503, false, false, .notice), (0, false, true, .ok), (255, false, true, .wrong),
        ])
    func answers(status: Int, hasCredentials: Bool, isSOCKS: Bool, grade: Finding.Grade) {
        var proxy = Self.proxy("qa", used: true)
        proxy.hasCredentials = hasCredentials
        proxy.isSOCKS = isSOCKS
        var sight = Samples.sight()
        sight.upstreams = [.init(proxy, .answered(status: status))]
        #expect(Diagnosis(of: sight).findings.first { $0.check == .upstream }?.grade == grade)
    }

    @Test("the daemon's own colour counts")
    func colour() {
        var sight = Samples.sight()
        guard case .running(var running) = sight.daemon else { return }
        running.colour = "red"
        running.cause = "nobody listens at qa.example:8080"
        sight.daemon = .running(running)
        #expect(faults(sight, .upstream).map(\.grade) == [.wrong])
    }

    @Test("one silent resolver of two costs time, all of them cost names; our own silence costs devices theirs")
    func names() {
        var sight = Samples.sight()
        sight.names.resolvers.append(("10.77.0.3", false))
        #expect(faults(sight, .names).map(\.grade) == [.notice])
        sight.names.resolvers = [("10.77.0.3", false)]
        #expect(faults(sight, .names).map(\.grade) == [.wrong])
        sight.names.resolvers = []
        #expect(faults(sight, .names).map(\.words) == ["there is no resolver to ask"])
        sight.names.resolvers = [("10.77.0.2", true)]
        sight.names.own = [("10.9.0.1", false)]
        #expect(faults(sight, .names).map(\.grade) == [.wrong])
    }

    // The order

    @Test("what is wrong comes first, what breaks more before what breaks less; what was not seen is no fault")
    func order() {
        let findings: [Finding] = [
            Finding(.clock, .notice, "a"), Finding(.disk, .wrong, "b"), Finding(.kernel, .ok, "c"),
            Finding(.service, .unseen, "d"), Finding(.rules, .wrong, "e"), Finding(.upstream, .notice, "f"),
        ]
        #expect(Diagnosis(findings).findings.map(\.words) == ["e", "b", "f", "a", "d", "c"])
        #expect(Diagnosis(findings).grade == .wrong)
        #expect(Diagnosis([findings[0], findings[3]]).grade == .notice)
        #expect(Diagnosis([findings[3], findings[2]]).grade == .ok)
        var sight = Samples.sight()
        sight.unseen = [.init(.kernel, "for root alone")]
        #expect(Diagnosis(of: sight).grade == .ok)
        #expect(Diagnosis(of: sight).findings(.unseen).map(\.words) == ["for root alone"])
    }
}
