/// Our one nftables table, as nft(8) reads it.
///
/// It replaces the former one in a single transaction, so there is no moment without it.
///
///     lend         LAN packets for lent addresses get our mark, by which a rule leads them into the TUN device
///     dns          port 53 of the LAN, to whatever address, goes to the DNS service; which device asks which resolver
///                  instead of us is noted for an hour; port 80 of our own addresses goes to the page
///     forward      what every forwarded packet is asked, and nothing that a few of them could be asked elsewhere
///     clamp        the MSS of forwarded connections is at most what the path to the LAN takes
///     captured     into the TUN device: flows that left by the uplink before a switch are reset at their next packet
///     released     by the uplink: so are those that went into the TUN device before
///     encrypted    port 853 is refused at once, so that phones fall back to plain DNS
///     uplink       what leaves by the uplink has the gateway's address; into the TUN device devices keep theirs, and
///                  nobody else comes
///     keep, own    host: inbound connections and our own are known again by their connection mark
///     switched     host: flows with an address of the TUN device that leave by another are reset

import Addresses
import Bytes
import LinuxIO

struct FirewallText {
    private let view: MachineView

    init(_ view: MachineView) { self.view = view }

    private var plan: NetworkPlan { view.plan }

    /// The first two lines remove the table whether or not it is there (nft has no other word for that before 1.0.7).
    static let removal = "table inet \(NetworkNames.firewallTable)\ndelete table inet \(NetworkNames.firewallTable)\n"

    var text: String {
        var chains = plan.setup == .host ? host : gateway
        chains.append(Chain("refuse", nil, ["meta l4proto tcp reject with tcp reset", "reject"]))
        let body = (sets + chains.filter { !$0.rules.isEmpty }.map(\.text)).joined(separator: "\n")
        return Self.removal + "table inet \(NetworkNames.firewallTable) {\n\(body)}\n"
    }

    // Pieces

    private struct Chain {
        let name: String
        let hook: String?
        let rules: [String]

        init(_ name: String, _ hook: String?, _ rules: [String]) {
            self.name = name
            self.hook = hook
            self.rules = rules
        }

        var text: String {
            let lines = (hook.map { ["type \($0); policy accept;"] } ?? []) + rules
            return "\tchain \(name) {\n" + lines.map { "\t\t\($0)\n" }.joined() + "\t}\n"
        }
    }

    private func quoted(_ name: String) -> String { "\"\(name)\"" }
    private func list(_ items: [String]) -> String { "{ \(items.joined(separator: ", ")) }" }
    /// One name is compared, several are looked up, which costs more.
    private func names(_ interfaces: [String]) -> String {
        interfaces.count == 1 ? quoted(interfaces[0]) : list(interfaces.map(quoted))
    }

    private var tunnel: String { quoted(plan.tunnel) }

    private func hex(_ value: UInt32) -> String {
        let digits = String(value, radix: 16)
        return "0x" + String(repeating: "0", count: 8 - digits.count) + digits
    }

    /// Others' bits of a mark stay as they are.
    private func setMark(_ kind: String) -> String {
        "\(kind) mark set \(kind) mark & \(hex(~plan.mark.mask)) | \(hex(plan.mark.value))"
    }

    private func hasMark(_ kind: String, _ comparison: String = "==") -> String {
        "\(kind) mark & \(hex(plan.mark.mask)) \(comparison) \(hex(plan.mark.value))"
    }

    /// What only devices' packets match: the interface, and with one arm their networks.
    private var devices: [String] {
        let plain = plan.lan.filter { !view.isOneArm($0) }.map(\.interface)
        var matches = plain.isEmpty ? [] : ["iifname \(names(plain))"]
        for lan in plan.lan where view.isOneArm(lan) {
            for (family, isIPv4) in [("ip", true), ("ip6", false)] {
                let networks = view.machine.connected(lan.interface, isIPv4: isIPv4).map(\.text)
                guard !networks.isEmpty else { continue }
                matches.append("iifname \(quoted(lan.interface)) \(family) saddr \(list(networks))")
            }
        }
        return matches
    }

    /// The rule for each way to tell devices; one that is about a family leaves the other's ways out.
    private func forDevices(_ rule: String, _ family: String = "") -> [String] {
        let others = ["ip": " ip6 saddr ", "ip6": " ip saddr "][family]
        return devices.filter { match in others.map { !match.contains($0) } ?? true }.map { "\($0) \(rule)" }
    }

    // Gateway

    private var sets: [String] {
        if plan.setup == .host { return view.standing.sets }
        return ["ipv4", "ipv6"].flatMap { family in
            [
                "\tset lent_\(family) {\n\t\ttype \(family)_addr . \(family)_addr\n\t\tflags timeout\n\t}\n",
                "\tset lent_to_all_\(family) {\n\t\ttype \(family)_addr\n\t\tflags timeout\n\t}\n",
                Insistence.set(family),
            ]
        }
    }

    private var gateway: [Chain] {
        [
            Chain("lend", "filter hook prerouting priority mangle", plan.lent.isEmpty ? [] : lend),
            Chain("dns", "nat hook prerouting priority dstnat", insists + redirection + page),
            Chain("forward", "filter hook forward priority filter - 10", forward),
            Chain("clamp", nil, clamp),
            Chain("captured", nil, captured),
            Chain("released", nil, forDevices("ct direction original jump refuse")),
            Chain("encrypted", nil, encrypted),
            Chain("redirects", "filter hook output priority filter", redirects),
            Chain("uplink", "nat hook postrouting priority srcnat", devicesOnly + masquerade),
        ]
    }

    /// Only while something is lent: every packet of every device would look it up.
    private var lend: [String] {
        [("ip", "ipv4"), ("ip6", "ipv6")].flatMap { family, set in
            forDevices("\(family) saddr . \(family) daddr @lent_\(set) \(setMark("meta"))", family)
                + forDevices("\(family) daddr @lent_to_all_\(set) \(setMark("meta"))", family)
        }
    }

    /// A chain of this type sees the first packet of a connection alone.
    private var redirection: [String] { plan.dnsPort.map { forDevices(Self.redirection(to: $0)) } ?? [] }

    private static func redirection(to port: UInt16) -> String {
        "meta l4proto { tcp, udp } th dport 53 redirect to :\(port)"
    }

    /// Port 80 of what the page has: the address by which a device is on the LAN, and those that `starship.internal`
    /// names.
    ///
    /// What nobody listens on, as port 443, the kernel refuses by itself.
    private var page: [String] {
        guard let port = plan.pagePort else { return [] }
        let redirect = "tcp dport 80 redirect to :\(port)"
        let named = [("ip", true), ("ip6", false)].flatMap { family, isIPv4 in
            let addresses = plan.addresses.filter { $0.isIPv4 == isIPv4 }.map(\.description)
            return addresses.isEmpty ? [] : forDevices("\(family) daddr \(list(addresses)) \(redirect)", family)
        }
        return forDevices("fib daddr . iif type local \(redirect)") + named + guests(redirect)
    }

    /// Those who use the HTTP proxy from other networks find the page where they find the proxy.
    private func guests(_ redirect: String) -> [String] {
        guard let guests = plan.pageGuests else { return [] }
        return [("ip", true), ("ip6", false)].flatMap { family, isIPv4 -> [String] in
            // A set's intervals must not overlap.
            let all = Set(guests.networks.filter { $0.base.isIPv4 == isIPv4 })
            let networks = all.filter { one in !all.contains { $0.length < one.length && $0.contains(one.base) } }
                .map(\.description).sorted()
            let listeners = guests.listeners.filter { $0.isIPv4 == isIPv4 }
            guard !networks.isEmpty, !listeners.isEmpty else { return [] }
            let named = listeners.filter { !$0.isUnspecified }.map(\.description)
            let place =
                named.count < listeners.count ? "fib daddr type local" : "\(family) daddr \(list(named))"
            return ["\(family) saddr \(list(networks)) \(place) \(redirect)"]
        }
    }

    /// Of a machine that an upstream runs on nothing is noted or refused: it is always direct, by all its addresses.
    private var insists: [String] {
        let ports = (plan.dnsPort == nil ? [] : ["53"]) + (plan.refusesEncryptedDNS ? ["853"] : [])
        guard !ports.isEmpty else { return [] }
        return [("ip", "ipv4"), ("ip6", "ipv6")].flatMap { family, set in
            forDevices(
                "meta l4proto { tcp, udp } th dport \(list(ports)) "
                    + "\(besidesUpstreams(family))fib daddr type != local "
                    + "update @\(Insistence.name)_\(set) { \(family) saddr . \(family) daddr . th dport }", family)
        }
    }

    /// Whatever isn't for us passes here, packet by packet, so each question is cheap and the answers stand elsewhere:
    /// four chains of their own took a tenth of the kernel's speed.
    private var forward: [String] {
        guard !plan.lan.isEmpty else { return [] }
        let known = ["oifname \(tunnel) goto captured", "\(hasMark("ct")) jump released"]
        return ["tcp flags & (syn | rst) == syn jump clamp"] + (devices.isEmpty ? [] : known)
            + (encrypted.isEmpty ? [] : ["tcp dport 853 jump encrypted", "udp dport 853 jump encrypted"])
    }

    private var encrypted: [String] {
        guard plan.refusesEncryptedDNS else { return [] }
        return ["ip", "ip6"].flatMap { family in
            forDevices(
                "meta nfproto \(family == "ip" ? "ipv4" : "ipv6") \(besidesUpstreams(family))jump refuse", family)
        }
    }

    private func besidesUpstreams(_ family: String) -> String {
        let machines = view.exempt.filter { $0.isIPv4 == (family == "ip") }.map(\.description)
        return machines.isEmpty ? "" : "\(family) saddr != \(list(machines)) "
    }

    private var clamp: [String] {
        guard !plan.lan.isEmpty else { return [] }
        return ["iifname", "oifname"].map {
            "\($0) \(names(plan.lan.map(\.interface))) tcp option maxseg size set rt mtu"
        }
    }

    /// What a switch has left on the wrong side, on its way into the TUN device.
    ///
    /// A flow that had the uplink's address would keep it there, and one that was first seen on its way there has none
    /// to leave by the uplink with ("released"). What has no mark and no other address, as IPv6, passes: the gateway
    /// itself resets what it does not know. UDP comes here no longer than until the kernel has forgotten it
    /// (`StrandedFlows`).
    private var captured: [String] {
        forDevices("ct direction original ct status snat jump refuse")
            + forDevices("ct direction original ct state new \(setMark("ct"))")
    }

    /// The kernel has a setting against redirects for IPv4 only.
    private var redirects: [String] {
        let arms = plan.lan.filter { view.isOneArm($0) }.map(\.interface)
        return arms.isEmpty ? [] : ["oifname \(names(arms)) icmpv6 type nd-redirect drop"]
    }

    /// A route of the main table would lead anybody in: the uplink's neighbours, and our own sockets in a circle.
    ///
    /// Elsewhere the rules name the interface. A chain of this type sees the first packet of a connection alone.
    private var devicesOnly: [String] {
        guard view.families.contains(where: view.needsNoRule) else { return [] }
        return ["oifname \(tunnel) iifname \(names(plan.lan.map(\.interface))) accept", "oifname \(tunnel) drop"]
    }

    private var masquerade: [String] {
        let lan = plan.lan.filter { !view.isOneArm($0) }.map(\.interface)
        var rules: [String] = []
        if plan.masquerades, !lan.isEmpty, !view.uplinks.isEmpty {
            let way = "iifname \(names(lan)) oifname \(names(view.uplinks))"
            // IPv6 devices have addresses of their own, unless the LAN is one without (RFC 4193).
            rules = [
                "\(way) meta nfproto ipv4 masquerade", "\(way) ip6 saddr fc00::/7 ip6 daddr != fc00::/7 masquerade",
            ]
        }
        for lan in plan.lan where view.isOneArm(lan) {
            let name = quoted(lan.interface)
            rules += devices.filter { $0.hasPrefix("iifname \(name) ") }.map { "\($0) oifname \(name) masquerade" }
        }
        return rules
    }

    // Host

    private var host: [Chain] {
        let own = list(plan.addresses.filter(\.isIPv4).map(\.description))
        let own6 = list(plan.addresses.filter { !$0.isIPv4 }.map(\.description))
        let elsewhere = "oifname != { \"lo\", \(tunnel) }"
        return [
            Chain(
                "keep", "filter hook prerouting priority mangle",
                [
                    "iifname != { \"lo\", \(tunnel) } fib daddr type local ct direction original \(setMark("ct"))",
                    "\(hasMark("ct")) \(setMark("meta"))",
                ]),
            Chain(
                "own", "route hook output priority mangle",
                StandingConnections.rules.map { "\($0) \(setMark("ct"))" }
                    + ["\(hasMark("meta")) \(setMark("ct"))", "\(hasMark("ct")) \(setMark("meta"))"]),
            Chain(
                "dns", "nat hook output priority -100",
                plan.dnsPort.map { ["\(hasMark("meta", "!=")) \(Self.redirection(to: $0))"] } ?? []),
            Chain(
                "switched", "filter hook output priority filter",
                (own == "{  }" ? [] : ["\(elsewhere) ip saddr \(own) jump refuse"])
                    + (own6 == "{  }" ? [] : ["\(elsewhere) ip6 saddr \(own6) jump refuse"])),
        ]
    }
}

extension FirewallText {
    /// Lines that lend what still is lent, for the time that is left of it.
    ///
    /// A device that asked over one family for an address of the other uses it from an address of its own that is not
    /// known: such an address is lent to all, and the gateway finds out which name is meant.
    static func lending(_ lent: [NetworkPlan.Lent], now: Instant) -> String {
        var lines = ""
        for isIPv4 in [true, false] {
            let family = isIPv4 ? "ipv4" : "ipv6"
            let live = lent.filter { $0.address.isIPv4 == isIPv4 && $0.until > now }
            let own = live.filter { $0.device.isIPv4 == isIPv4 }
            lines += addition(own.map { ("\($0.device) . \($0.address)", $0.until) }, to: "lent_\(family)", now: now)
            let foreign = live.filter { $0.device.isIPv4 != isIPv4 }
            lines += addition(foreign.map { ("\($0.address)", $0.until) }, to: "lent_to_all_\(family)", now: now)
        }
        return lines
    }

    private static func addition(_ elements: [(key: String, until: Instant)], to set: String, now: Instant) -> String {
        guard !elements.isEmpty else { return "" }
        // Of several devices the last loan counts.
        let untils = Dictionary(elements.map { ($0.key, $0.until) }, uniquingKeysWith: max)
        let texts = untils.sorted { $0.key < $1.key }.map { key, until in
            "\(key) timeout \(((until - now).nanoseconds + 999_999_999) / 1_000_000_000)s"
        }
        return "add element inet \(NetworkNames.firewallTable) \(set) { \(texts.joined(separator: ", ")) }\n"
    }

    /// Lines that empty the sets.
    static let forgetting = ["ipv4", "to_all_ipv4", "ipv6", "to_all_ipv6"].map {
        "flush set inet \(NetworkNames.firewallTable) lent_\($0)\n"
    }.joined()
}
