/// What real systems say, shortened to what matters.

import Addresses
import LinuxIO

@testable import Doctor
@testable import Network

/// Reads a prefix that a test has written out.
func prefix(_ text: String) -> IPPrefix { IPPrefix(parsing: text) ?? WellKnown.neverCaptured[0] }

/// Reads an address that a test has written out.
func address(_ text: String) -> IPAddress { IPAddress(parsing: text) ?? IPAddress(v4: 0) }

enum Samples {
    /// A gateway with its LAN on `lan` and the Internet behind `wan`, everything of ours in its place.
    static func machine() -> KernelNetwork {
        var machine = KernelNetwork()
        machine.links = ["lo", "lan", "wan", "starship0"].enumerated().map {
            KernelLink(index: UInt32($0 + 1), name: $1, isUp: true, mtu: 1500)
        }
        machine.addresses = [
            KernelAddress(interface: "lan", address: address("10.9.0.1"), prefix: prefix("10.9.0.0/24")),
            KernelAddress(interface: "wan", address: address("10.77.0.1"), prefix: prefix("10.77.0.0/24")),
        ]
        machine.addresses += plan.addresses.map {
            KernelAddress(interface: "starship0", address: $0, prefix: prefix("\($0)/\($0.isIPv4 ? 32 : 128)"))
        }
        machine.routes = [
            KernelRoute(
                table: 254, destination: prefix("0.0.0.0/0"), interface: "wan", gateway: address("10.77.0.2"))
        ]
        let script = NetworkScript(plan, on: machine)
        machine.routes += script.routes
        machine.rules += script.rules
        return machine
    }

    static let plan: NetworkPlan = {
        var plan = NetworkPlan(
            setup: .gateway, fake: [prefix("198.18.0.0/15"), prefix("2001:2::/48")], lan: [.init("lan", .all)])
        plan.dnsPort = 10053
        plan.pagePort = 10080
        return plan
    }()

    /// The kernel's settings as the gateway makes them.
    static let settings: [String: String] = {
        let script = NetworkScript(plan, on: machine())
        return Dictionary(script.settings.map { ($0.name, $0.value) }) { first, _ in first }
    }()

    static func examination(
        _ machine: KernelNetwork = machine(), _ settings: [String: String] = settings, listing: String? = ours
    ) -> NetworkExamination {
        NetworkExamination(
            plan, on: machine, wanted: ours, listing: listing.map { .text($0) } ?? .none,
            setting: { settings[$0] })
    }

    static let ours = "table inet starship {\n\tchain mark {\n\t\tcounter packets 3 bytes 180 accept\n\t}\n}\n"

    static let setup: Sight.Setup = {
        var setup = Sight.Setup(file: "/etc/starship/starship.json5")
        setup.network = .gateway
        setup.lan = ["lan"]
        setup.hasNames = true
        setup.state = "/var/lib/starship"
        setup.socket = "/run/starship/control.sock"
        return setup
    }()

    /// Where everything is right.
    static func sight() -> Sight {
        var sight = Sight(setup)
        var running = Sight.Running()
        running.version = "0.1.0"
        running.process = 4711
        running.descriptors = 40
        sight.daemon = .running(running)
        sight.service.show =
            "LoadState=loaded\nActiveState=active\nResult=success\nNRestarts=0\nExecMainStatus=0\nUnitFileState=enabled\n"
        sight.kernel.release = "6.1.0-18-amd64"
        sight.kernel.hasSeccomp = true
        var trial = KernelTrial.Outcome()
        trial.refusals = []
        sight.kernel.trial = trial
        sight.machine = machine()
        sight.plan = plan
        sight.examination = examination()
        sight.foreign = ([], [])
        sight.names.own = [("10.9.0.1", true)]
        sight.names.resolvers = [("10.77.0.2", true)]
        sight.limits.process = limits(soft: "524288")
        sight.limits.memory = "MemTotal:        8010364 kB\nMemFree:          200000 kB\nMemAvailable:    5000000 kB\n"
        sight.disk = Sight.Disk(
            folder: "/var/lib/starship",
            space: FileSystemSpace(free: 10 << 30, total: 100 << 30, freeFiles: 100_000, isReadOnly: false),
            isWritable: true)
        sight.clock.now = 1_796_140_800
        sight.tools.own = "0.1.0"
        sight.tools.ip = "ip utility, iproute2-6.1.0, libbpf 1.1.0"
        sight.tools.nft = "nftables v1.0.6 (Lester Gooch #5)"
        return sight
    }

    static func limits(soft: String) -> String {
        """
        Limit                     Soft Limit           Hard Limit           Units
        Max stack size            8388608              unlimited            bytes
        Max open files            \(soft.padding(20))524288               files
        """
    }

    // What `nft list ruleset` shows

    /// Docker 28 with iptables-nft (Debian 12).
    static let docker = """
        # Warning: table ip filter is managed by iptables-nft, do not touch!
        table ip filter {
        \tchain DOCKER {
        \t\tiifname != "docker0" oifname "docker0" counter packets 0 bytes 0 drop
        \t}

        \tchain DOCKER-FORWARD {
        \t\tcounter packets 0 bytes 0 jump DOCKER-CT
        \t\tiifname "docker0" counter packets 0 bytes 0 accept
        \t}

        \tchain DOCKER-CT {
        \t\toifname "docker0" ct state related,established counter packets 0 bytes 0 accept
        \t}

        \tchain DOCKER-USER {
        \t}

        \tchain FORWARD {
        \t\ttype filter hook forward priority filter; policy drop;
        \t\tcounter packets 27 bytes 1620 jump DOCKER-USER
        \t\tcounter packets 27 bytes 1620 jump DOCKER-FORWARD
        \t}
        }
        """

    /// ufw 0.36 with its default "deny (routed)".
    static let ufw = """
        table ip filter {
        \tchain FORWARD {
        \t\ttype filter hook forward priority filter; policy drop;
        \t\tcounter packets 0 bytes 0 jump ufw-before-logging-forward
        \t\tcounter packets 0 bytes 0 jump ufw-before-forward
        \t\tcounter packets 0 bytes 0 jump ufw-reject-forward
        \t}

        \tchain ufw-before-logging-forward {
        \t}

        \tchain ufw-before-forward {
        \t\tct state related,established counter packets 0 bytes 0 accept
        \t\tcounter packets 0 bytes 0 jump ufw-user-forward
        \t}

        \tchain ufw-user-forward {
        \t}

        \tchain ufw-reject-forward {
        \t}
        }
        """

    /// firewalld 1.3: it accepts by policy and refuses in its last rule.
    static let firewalld = """
        table inet firewalld {
        \tchain filter_FORWARD {
        \t\ttype filter hook forward priority filter + 10; policy accept;
        \t\tct state { established, related } accept
        \t\tct status dnat accept
        \t\tiifname "lo" accept
        \t\tct state invalid drop
        \t\tjump filter_FORWARD_POLICIES
        \t\treject with icmpx admin-prohibited
        \t}

        \tchain filter_FORWARD_POLICIES {
        \t\tiifname "wan" oifname "wan" jump filter_FWD_public
        \t\tiifname "wan" oifname "wan" reject with icmpx admin-prohibited
        \t\tjump filter_FWD_public
        \t\treject with icmpx admin-prohibited
        \t}
        }
        """

    /// libvirt 10.4 and later, which writes to nftables itself.
    static let libvirt = """
        table ip libvirt_network {
        \tchain forward {
        \t\ttype filter hook forward priority filter; policy accept;
        \t\tcounter packets 9 bytes 700 jump guest_cross
        \t\tcounter packets 9 bytes 700 jump guest_input
        \t\tcounter packets 9 bytes 700 jump guest_output
        \t}

        \tchain guest_output {
        \t\tip saddr 192.168.122.0/24 iif "virbr0" counter packets 3568 bytes 541261 accept
        \t\tiif "virbr0" counter packets 0 bytes 0 reject
        \t}

        \tchain guest_input {
        \t\toif "virbr0" ip daddr 192.168.122.0/24 ct state established,related counter packets 3 bytes 290 accept
        \t\toif "virbr0" counter packets 8 bytes 844 reject
        \t}

        \tchain guest_cross {
        \t\tiif "virbr0" oif "virbr0" counter packets 0 bytes 0 accept
        \t}
        }
        """

    /// libvirt before that, through iptables-nft.
    static let olderLibvirt = """
        table ip filter {
        \tchain FORWARD {
        \t\ttype filter hook forward priority filter; policy accept;
        \t\tcounter packets 0 bytes 0 jump LIBVIRT_FWI
        \t\tcounter packets 0 bytes 0 jump LIBVIRT_FWO
        \t}

        \tchain LIBVIRT_FWI {
        \t\toifname "virbr0" ip daddr 192.168.122.0/24 ct state related,established counter packets 0 bytes 0 accept
        \t\toifname "virbr0" counter packets 0 bytes 0 reject
        \t}

        \tchain LIBVIRT_FWO {
        \t\tiifname "virbr0" ip saddr 192.168.122.0/24 counter packets 0 bytes 0 accept
        \t\tiifname "virbr0" counter packets 0 bytes 0 reject
        \t}
        }
        """
}

extension String {
    fileprivate func padding(_ width: Int) -> String { self + String(repeating: " ", count: max(1, width - count)) }
}
