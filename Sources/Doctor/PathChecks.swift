/// How long packets may be along the LAN, and which other tunnels there are.

import LinuxIO
import Network

enum PathChecks {
    /// What Ethernet and Wi-Fi carry, and what phones take for granted (RFC 894).
    private static let usual = 1500
    /// What each link has to carry for IPv6 (RFC 8200, section 5).
    private static let least = 1280

    static func findings(_ sight: Sight) -> [Finding] {
        var findings: [Finding] = []
        if sight.setup.network == .gateway, let machine = sight.machine {
            findings += sight.setup.lan.compactMap { name in
                machine.links.first { $0.name == name }.flatMap { link($0, uplinks(sight, machine)) }
            }
            findings += sight.pings.compactMap(ping)
            if findings.isEmpty { findings.append(Finding(.mtu, .ok, "the LAN carries whole packets")) }
        }
        return findings + tunnels(sight)
    }

    private static func uplinks(_ sight: Sight, _ machine: KernelNetwork) -> Int? {
        let names = sight.plan.map { $0.uplinks.isEmpty ? machine.waysOut.compactMap(\.interface) : $0.uplinks } ?? []
        return machine.links.filter { names.contains($0.name) }.map(\.mtu).max()
    }

    /// A LAN interface takes no packet that is longer than its MTU, and a device that believes in 1,500 sends such
    /// ones.
    private static func link(_ link: KernelLink, _ uplink: Int?) -> Finding? {
        guard link.isUp, link.mtu < usual else { return nil }
        let words = "the MTU of \(link.name) is \(link.mtu)"
        let mending = ["ip link set dev \(link.name) mtu \(usual)"]
        if link.mtu < least {
            return Finding(
                .mtu, .wrong, words, meaning: "IPv6 needs 1,280 octets: the kernel has none on such a link.",
                mending: mending)
        }
        return Finding(
            .mtu, .wrong, words,
            meaning: "Devices believe in 1,500: whole packets of theirs are lost, so pages begin and don't end.",
            mending: mending,
            advice: "Where the link really carries less (a tunnel, a bridge with one), tell devices by DHCP option 26.")
    }

    private static func ping(_ ping: Sight.Ping) -> Finding? {
        guard ping.small, !ping.large else { return nil }
        return Finding(
            .mtu, .wrong,
            "\(ping.address) on \(ping.interface) answers small packets, and none of \(ping.mtu) octets",
            meaning: "Something between carries less than both ends believe: pages begin and don't end.",
            advice: "Look at the MTU of switches, access points and bridges in between; until then: "
                + "ip link set dev \(ping.interface) mtu 1400, and DHCP option 26.")
    }

    private static func tunnels(_ sight: Sight) -> [Finding] {
        guard let machine = sight.machine, !sight.tunnels.isEmpty else {
            return [Finding(.otherTunnels, .ok, "there is no other tunnel")]
        }
        let ways = Set(machine.waysOut.compactMap(\.interface))
        return sight.tunnels.map { tunnel in
            let what = tunnel.kind == .tun ? "TUN device" : "WireGuard device"
            let words = "there is another tunnel: the \(what) \(tunnel.name)"
            guard ways.contains(tunnel.name) else { return Finding(.otherTunnels, .ok, "\(words), off our way") }
            return Finding(
                .otherTunnels, .notice, "\(words), and a default route leads into it",
                meaning: "What isn't proxied, and the proxies' own connections, leave by it.",
                advice: "If that isn't meant: set `network.uplink` to the interface that is, or end that tunnel.")
        }
    }
}
