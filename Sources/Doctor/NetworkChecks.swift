/// The machine's network against what it should be, and what others have made of it.

import Addresses
import LinuxIO
import Network

enum NetworkChecks {
    static func findings(_ sight: Sight) -> [Finding] {
        guard sight.setup.network != .none else {
            return [Finding(.routes, .ok, "network.setup is \"none\": routes and rules are somebody else's")]
        }
        var findings = foreign(sight)
        if let machine = sight.machine, let plan = sight.plan {
            findings += notices(plan, machine, isRunning: sight.isRunning) + otherRules(plan, machine)
        }
        if let examination = sight.examination { findings += differences(examination, sight) }
        return findings
    }

    // Ours

    private static func differences(_ seen: NetworkExamination, _ sight: Sight) -> [Finding] {
        var findings = seen.settings.map(setting)
        for check in [Check.forwarding, .filters] where !findings.contains(where: { $0.check == check }) {
            findings.append(
                Finding(check, .ok, check == .forwarding ? "packets are forwarded" : "reverse path filters are loose"))
        }
        findings += lines(
            .routes, seen.missing.filter { !$0.contains(" rule ") }, "missing: our routes or addresses",
            "What they lead into the tunnel goes elsewhere, or nowhere.")
        findings += lines(
            .rules, seen.missing.filter { $0.contains(" rule ") }, "missing: rules that lead devices into the tunnel",
            "Devices leave by the uplink, past the proxy.")
        findings += lines(
            .rules, seen.strange, "in the gateway's own tables and priorities: what is not its own",
            "Some of what devices send takes another way than the one that is shown.")
        if findings.allSatisfy({ $0.check != .routes && $0.check != .rules }) {
            findings.append(Finding(.rules, .ok, "routes, rules and addresses are as they should be"))
        }
        return findings + [firewall(seen.firewall)]
    }

    private static func lines(_ check: Check, _ lines: [String], _ words: String, _ meaning: String) -> [Finding] {
        guard !lines.isEmpty else { return [] }
        let first = lines[0].split(separator: " ").dropFirst(2).joined(separator: " ")
        let more = lines.count > 1 ? ", and \(lines.count - 1) more" : ""
        return [Finding(check, .wrong, "\(words) (\(first)\(more))", meaning: meaning, mending: lines)]
    }

    private static func setting(_ setting: NetworkExamination.Setting) -> Finding {
        let (check, meaning): (Check, String) =
            switch setting.name.split(separator: "/").last {
            case "ip_forward", "forwarding": (.forwarding, "What devices send direct is not passed on.")
            case "rp_filter":
                (.filters, "The kernel drops answers that come by another way than a route back would take (strict).")
            case "send_redirects": (.redirects, "Devices are told to go around the gateway.")
            default: (.settings, "The gateway needs it so.")
            }
        return Finding(
            check, .wrong, "\(setting.name) is \(setting.found), not \(setting.wanted)", meaning: meaning,
            mending: [setting.command],
            advice: "Something sets it back: look in /etc/sysctl.conf, /etc/sysctl.d and the network manager.")
    }

    private static func firewall(_ seen: NetworkExamination.Firewall) -> Finding {
        let meaning =
            "DNS of devices, the page, masquerading or what is refused at a switch does not work as it should."
        switch seen {
        case .right: return Finding(.firewall, .ok, "table inet starship is as it should be")
        case .unseen(let reason): return Finding(.firewall, .unseen, "table inet starship: \(reason)")
        case .gone:
            return Finding(
                .firewall, .wrong, "table inet starship is gone", meaning: meaning, mending: ["starshipctl reload"],
                advice: "Something flushes the whole ruleset: nftables.service or a script of yours.")
        case .changed(let missing, let added):
            let what = [
                missing.first.map { "missing: \($0)" }, added.first.map { "added: \($0)" },
            ].compactMap(\.self).joined(separator: "; ")
            return Finding(
                .firewall, .wrong, "table inet starship was changed (\(what))", meaning: meaning,
                mending: ["starshipctl reload"])
        }
    }

    // Others'

    private static func foreign(_ sight: Sight) -> [Finding] {
        guard sight.setup.network == .gateway, let foreign = sight.foreign else { return [] }
        var findings = foreign.chains.map { chain in
            let who =
                switch chain.manager {
                case .docker: "Docker's"
                case .ufw: "ufw's"
                case .firewalld: "firewalld's"
                case .libvirt: "libvirt's"
                case .other: "a firewall's"
                }
            let what = chain.hook == .forward ? "what devices send through the gateway" : "what devices ask the gateway"
            return Finding(
                .foreignFirewall, .wrong, "\(who) chain \(chain.table) \(chain.chain) drops \(what)",
                meaning: chain.hook == .forward
                    ? "What goes direct never arrives; what is proxied is not concerned where it ends in the tunnel."
                    : "Devices get no names and no page from the gateway.",
                mending: chain.mending)
        }
        findings += foreign.unread.map { tool in
            Finding(
                .foreignFirewall, .unseen, "there are rules of \(tool) that could not be read",
                mending: ["\(tool)-save -t filter"])
        }
        return findings.isEmpty
            ? [Finding(.foreignFirewall, .ok, "nobody else's firewall drops what devices send")] : findings
    }

    private static func notices(_ plan: NetworkPlan, _ machine: KernelNetwork, isRunning: Bool) -> [Finding] {
        var findings: [Finding] = []
        for notice in NetworkExamination.notices(plan, machine) {
            // Without a daemon there is none, and that is said already.
            if case .noTunnel = notice, !isRunning { continue }
            findings.append(finding(notice, plan, machine))
        }
        let all: [(Check, String)] = [
            (.interfaces, "the LAN interfaces are there"), (.uplink, "there is a default route"),
            (.conflict, "nobody else uses the fake addresses"), (.ipv6, "no IPv6 leads around the gateway"),
        ]
        findings += all.filter { check, _ in !findings.contains { $0.check == check } }.map { Finding($0, .ok, $1) }
        return findings
    }

    private static func finding(_ notice: NetworkNotice, _ plan: NetworkPlan, _ machine: KernelNetwork) -> Finding {
        switch notice {
        case .missing(let interface):
            return Finding(
                .interfaces, .wrong, "\(notice)", meaning: "Devices on it have no gateway.",
                advice: "Plug it in, or correct `network.lan`: "
                    + "there are \(machine.links.map(\.name).joined(separator: ", ")) (instead of \(interface)).")
        case .noUplink:
            return Finding(
                .uplink, .wrong, "\(notice)", meaning: "Neither direct traffic nor a proxy beyond the LAN is reached.",
                advice: "ip route add default via ROUTER, or let DHCP set it.")
        case .noTunnel:
            return Finding(
                .tunnel, .wrong, "\(notice)", meaning: "What was to be proxied is refused.",
                mending: ["systemctl restart starshipd"])
        case .otherRouter(let interface, let address):
            return Finding(
                .ipv6, .wrong, "\(notice)",
                meaning: "What a device sends by IPv6 may go past the gateway, and past the proxy.",
                advice:
                    "Switch router advertisements off there (who it is: ip -6 neigh show \(address) dev \(interface)), "
                    + "or give the lab a network of its own.")
        case .around(let interface, let gateway):
            let way = gateway.map { "via \($0) " } ?? ""
            return Finding(
                .ipv6, .wrong, "\(notice)", meaning: "The gateway itself sends IPv6 back into the LAN.",
                mending: [
                    "ip -6 route del default \(way)dev \(interface)",
                    "sysctl -w net/ipv6/conf/\(interface)/accept_ra=0",
                ])
        case .conflict(let text):
            return Finding(
                .conflict, .wrong, text,
                meaning: "Names that are proxied get addresses that are somebody's: one of the two is not reached.",
                advice: "Set `dns.pool` to a range that nobody uses, such as 100.64.0.0/16, and restart.")
        case .setting(let name, is: _, let wanted):
            return Finding(.settings, .wrong, "\(notice)", mending: ["sysctl -w \(name)=\(wanted)"])
        case .foreignChain, .unreadRules:
            return Finding(.foreignFirewall, .wrong, "\(notice)")
        }
    }

    private static func otherRules(_ plan: NetworkPlan, _ machine: KernelNetwork) -> [Finding] {
        let earlier = EarlierRule.find(plan, machine)
        guard !earlier.isEmpty else { return [Finding(.otherRules, .ok, "no other rule is asked before ours")] }
        return earlier.map { rule in
            let family = rule.rule.isIPv4 ? "IPv4" : "IPv6"
            let words = "the \(family) rule \(rule.rule.priority) is asked before ours"
            guard let route = rule.takes else {
                return Finding(
                    .otherRules, .notice, words,
                    meaning:
                        "Its table has no route for what devices send at present; when it gets one, they follow it.",
                    mending: rule.mending)
            }
            let way = (route.gateway.map { " via \($0)" } ?? "") + (route.interface.map { " dev \($0)" } ?? "")
            return Finding(
                .otherRules, .wrong, "\(words) and takes \(route.destination)\(way)",
                meaning: "What devices send goes there, past the tunnel: another VPN's or script's rule.",
                mending: rule.mending,
                advice: rule.mending.isEmpty
                    ? "See `ip rule show priority \(rule.rule.priority)`; its owner has to give it a priority "
                        + "above 10819." : nil)
        }
    }
}

extension Sight {
    /// Whether there is a daemon that answers.
    public var isRunning: Bool {
        if case .running = daemon { true } else { false }
    }
}
