/// Settings of the kernel, in the order in which they are made; forwarding comes last, when everything else stands.

import LinuxIO

extension NetworkScript {
    static func settings(_ view: MachineView) -> [Setting] {
        var settings = tunnelSettings(view)
        let lan = view.plan.setup == .gateway ? view.plan.lan.map(\.interface) : []
        for interface in unique(lan + view.uplinks + [view.plan.tunnel]) where view.machine.link(interface) != nil {
            // Strict would drop what comes by the uplink for a route that leads into the TUN device; the kernel
            // takes the larger one of the interface's and of "all".
            settings.append(Setting(name: "net/ipv4/conf/\(interface)/rp_filter", value: "2"))
        }
        switch view.plan.setup {
        case .none: break
        case .host: settings += marks(view)
        case .gateway: settings += oneArm(view) + forwarding(view)
        }
        return settings
    }

    private static func tunnelSettings(_ view: MachineView) -> [Setting] {
        guard view.hasTunnel, view.machine.hasIPv6 else { return [] }
        let place = "net/ipv6/conf/\(view.plan.tunnel)"
        // Without a link-local address the kernel has little of its own to send into the device.
        let quiet = Setting(name: "\(place)/addr_gen_mode", value: "1")
        return view.carriesIPv6 ? [Setting(name: "\(place)/disable_ipv6", value: "0"), quiet] : [quiet]
    }

    /// Marks count when the way back to a packet's source is looked for, and answers have that of the question.
    private static func marks(_ view: MachineView) -> [Setting] {
        let names = ["net/ipv4/conf/all/src_valid_mark", "net/ipv4/fwmark_reflect", "net/ipv4/tcp_fwmark_accept"]
        return (names + (view.machine.hasIPv6 ? ["net/ipv6/fwmark_reflect"] : [])).map { Setting(name: $0, value: "1") }
    }

    /// With one arm each forwarded packet leaves by the interface that it came by, which is what redirects are for.
    private static func oneArm(_ view: MachineView) -> [Setting] {
        let arms = view.plan.lan.filter { view.isOneArm($0) && view.machine.link($0.interface) != nil }
        guard !arms.isEmpty else { return [] }
        // The kernel sends redirects when one of the two allows it.
        return (["all"] + arms.map(\.interface)).map {
            Setting(name: "net/ipv4/conf/\($0)/send_redirects", value: "0")
        }
    }

    private static func forwarding(_ view: MachineView) -> [Setting] {
        let names = view.machine.links.map(\.name)
        var along = ["net/ipv4/conf/all/accept_redirects": "0"]
        for name in names + ["default"] { along["net/ipv4/conf/\(name)/forwarding"] = "1" }
        let ipv4 = Setting(name: "net/ipv4/ip_forward", value: "1", along: along)
        guard view.carriesIPv6 else { return [ipv4] }
        // A machine that begins to forward would forget the default route that it took from advertisements, and
        // take no other one, unless told to (RFC 4861, section 6.2.7).
        let advertised = view.uplinks.filter { view.machine.link($0) != nil }.map {
            Setting(name: "net/ipv6/conf/\($0)/accept_ra", value: "2", onlyFrom: "1", unless: forwardingIPv6)
        }
        along = [:]
        for name in names + ["default"] { along["net/ipv6/conf/\(name)/forwarding"] = "1" }
        return advertised + [ipv4, Setting(name: forwardingIPv6, value: "1", along: along)]
    }

    private static let forwardingIPv6 = "net/ipv6/conf/all/forwarding"

    private static func unique(_ names: [String]) -> [String] {
        names.enumerated().filter { names.firstIndex(of: $1) == $0 }.map(\.element)
    }
}
