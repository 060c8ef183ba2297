/// What the kernel and its tools can do.

import LinuxIO
import Network

enum KernelChecks {
    static func findings(_ sight: Sight) -> [Finding] {
        var findings = tools(sight.tools)
        if sight.setup.hasTunnel { findings += tunnel(sight) }
        findings += features(sight) + conntrack(sight.kernel.conntrack)
        return findings
    }

    private static func tools(_ tools: Sight.Tools) -> [Finding] {
        let missing = [("ip", "iproute2", tools.ip), ("nft", "nftables", tools.nft)].filter { $0.2 == nil }
        guard missing.isEmpty else {
            let names = missing.map(\.0).joined(separator: " and ")
            return [
                Finding(
                    .tools, .wrong, "\(names) \(missing.count == 1 ? "is" : "are") not installed",
                    meaning: "The gateway can make no routes and no firewall: it does not start.",
                    mending: ["apt-get install -y \(missing.map(\.1).joined(separator: " "))"])
            ]
        }
        return [Finding(.tools, .ok, [tools.ip, tools.nft].compactMap(\.self).joined(separator: "; "))]
    }

    private static func tunnel(_ sight: Sight) -> [Finding] {
        if let failure = sight.kernel.deviceFailure {
            // A device for root alone is good enough for the daemon.
            if failure.contains("Permission denied"), !sight.tools.isRoot {
                return [Finding(.tunnel, .unseen, failure)]
            }
            // ENOENT and ENODEV: nobody has loaded it; anything else is a matter of rights.
            let isMissing = failure.contains("No such")
            return [
                Finding(
                    .tunnel, .wrong, failure, meaning: "Without a TUN device there is no gateway for devices.",
                    mending: isMissing
                        ? [
                            "modprobe tun",
                            "mkdir -p /dev/net; [ -e /dev/net/tun ] || mknod -m 666 /dev/net/tun c 10 200",
                        ]
                        : ["chmod 666 /dev/net/tun"])
            ]
        }
        guard let trial = sight.kernel.trial else { return [] }
        if let failure = trial.tunnelFailure {
            return [
                Finding(
                    .tunnel, .wrong, "no TUN device can be made: \(failure)",
                    meaning: "Without a TUN device there is no gateway for devices.", mending: ["modprobe tun"])
            ]
        }
        return refused(trial.refusals ?? [], workers: sight.setup.workers)
    }

    /// What makes a TUN device slow.
    private static func refused(_ refusals: TunnelRefusals, workers: Int) -> [Finding] {
        let slow: [(TunnelRefusals, String)] = [
            (.virtioHeader, "IFF_VNET_HDR"), (.checksum, "TUN_F_CSUM"), (.segmentation, "TUN_F_TSO4 and TUN_F_TSO6"),
        ]
        let refused = slow.filter { refusals.contains($0.0) }.map(\.1)
        var findings: [Finding] = []
        if !refused.isEmpty {
            findings.append(
                Finding(
                    .tunnel, .notice, "the kernel refuses \(refused.joined(separator: ", ")) of TUN devices",
                    meaning: "It works packet by packet, at a sixth of the speed.",
                    advice: "A kernel from 3.19 on has them; some containers hide them."))
        }
        if refusals.contains(.multiQueue), workers > 1 {
            findings.append(
                Finding(
                    .tunnel, .notice, "the kernel refuses several queues of a TUN device",
                    meaning: "One worker does the work of all \(workers).",
                    advice: "Linux has them from 3.8 on."))
        }
        return findings.isEmpty
            ? [Finding(.tunnel, .ok, "TUN devices have virtio headers, offloads and several queues")] : findings
    }

    private static func features(_ sight: Sight) -> [Finding] {
        var findings: [Finding] = []
        if sight.setup.network != .none, let trial = sight.kernel.trial {
            if let failure = trial.firewallFailure {
                findings.append(
                    Finding(
                        .kernel, .wrong, "the kernel refuses the firewall's rules: \(failure)",
                        meaning:
                            "Without nf_tables and its conntrack, NAT and reject parts the gateway does not start.",
                        mending: [
                            "modprobe -a nf_tables nft_ct nft_nat nft_redir nft_masq nft_reject_inet nf_conntrack"
                        ]))
            }
            if let failure = trial.routingFailure {
                findings.append(
                    Finding(
                        .kernel, .wrong, "the kernel refuses rules or routes: \(failure)",
                        meaning: "Without policy routing (CONFIG_IP_MULTIPLE_TABLES) nothing gets into the tunnel.",
                        advice: "Boot a kernel that has it; the distributions' own kernels do."))
            }
        }
        if sight.kernel.hasSeccomp == false {
            findings.append(
                Finding(
                    .kernel, .notice, "the kernel has no seccomp filters",
                    meaning: "The daemon works, without its second fence.",
                    advice: "A kernel with CONFIG_SECCOMP_FILTER has them."))
        }
        if findings.isEmpty {
            let tried = sight.kernel.trial == nil ? "" : " has what the gateway needs of routing and firewall"
            findings.append(Finding(.kernel, .ok, "Linux \(sight.kernel.release)\(tried)"))
        }
        return findings
    }

    private static func conntrack(_ table: (count: Int, limit: Int)?) -> [Finding] {
        guard let table, table.limit > 0 else { return [] }
        let words = "\(table.count) of \(table.limit) connections are tracked"
        guard table.count * 10 >= table.limit * 9 else { return [Finding(.conntrack, .ok, words)] }
        return [
            Finding(
                .conntrack, .wrong, words,
                meaning: "When the table is full the kernel drops new direct connections of devices.",
                mending: ["sysctl -w net/netfilter/nf_conntrack_max=\(table.limit * 2)"])
        ]
    }
}
