/// What is not as it should be, and is not ours to change.

public import Addresses
import LinuxIO

public enum NetworkNotice: Hashable, Sendable, CustomStringConvertible {
    /// A LAN interface that is not there (yet).
    case missing(interface: String)
    /// No default route leads anywhere: nothing direct works.
    case noUplink
    /// The TUN device is gone.
    case noTunnel(String)
    /// A chain of somebody else's firewall drops what we forward or serve; the commands mend it.
    case foreignChain(ForeignChain)
    /// There are rules of the older iptables, and the program that lists them is not installed.
    case unreadRules(tool: String)
    /// Another router on a LAN: devices may leave by IPv6 through it.
    case otherRouter(interface: String, address: IPAddress)
    /// The gateway's own IPv6 default route leads back into a LAN.
    case around(interface: String, gateway: IPAddress?)
    /// A setting of the kernel that has to be otherwise, and that this process may not write.
    case setting(String, is: String, wanted: String)
    /// The fake addresses have become somebody's real ones.
    case conflict(String)

    public var description: String {
        switch self {
        case .missing(let interface): "there is no interface \(interface) yet"
        case .noUplink: "no default route: what is direct has no way out"
        case .noTunnel(let name): "the TUN device \(name) is gone"
        case .foreignChain(let chain): "\(chain)"
        case .unreadRules(let tool):
            "there are rules of \(tool) that may drop what devices send; to see them, install it: \(tool)-save -t filter"
        case .otherRouter(let interface, let address):
            "another router on \(interface): devices may leave by IPv6 through \(address)"
        case .around(let interface, let gateway):
            "an IPv6 route leads around the gateway: default \(gateway.map { "via \($0) " } ?? "")dev \(interface)"
        case .setting(let name, let found, let wanted):
            "the kernel's setting \(name) is \(found) and has to be \(wanted), and may not be written here: "
                + "`sudo starshipd settings --config FILE` makes it"
        case .conflict(let text): text
        }
    }

    /// Whether devices, or the gateway itself, may send past the gateway because of it.
    public var isWayAround: Bool {
        switch self {
        case .otherRouter, .around: true
        case .missing, .noUplink, .noTunnel, .foreignChain, .unreadRules, .setting, .conflict: false
        }
    }

    /// Whether it is about a setting that somebody with more rights can make.
    public var isSetting: Bool {
        if case .setting = self { true } else { false }
    }
}

extension NetworkSetup {
    func notices(_ plan: NetworkPlan, _ machine: KernelNetwork) throws(NetworkError) -> [NetworkNotice] {
        var notices = NetworkNotice.of(plan, machine)
        guard plan.setup == .gateway, let rules = try tools.listing(.ruleset) else { return notices }
        let lan = plan.lan.map(\.interface)
        let legacy = LegacyTables.read(by: tools)
        let ports = [plan.dnsPort, plan.pagePort].compactMap(\.self)
        let chains = ForeignChain.find(rules, lan: lan, ports)
        notices += (chains + ForeignChain.find(in: legacy.tables, lan: lan, ports)).map { .foreignChain($0) }
        notices += legacy.unread.map { .unreadRules(tool: $0) }
        return notices
    }
}

extension NetworkNotice {
    /// What the kernel's state alone says.
    static func of(_ plan: NetworkPlan, _ machine: KernelNetwork) -> [NetworkNotice] {
        var notices: [NetworkNotice] = []
        let lan = plan.setup == .gateway ? plan.lan.map(\.interface) : []
        notices += lan.filter { machine.link($0) == nil }.map { .missing(interface: $0) }
        if machine.link(plan.tunnel) == nil { notices.append(.noTunnel(plan.tunnel)) }
        let uplinks = plan.uplinks.isEmpty ? machine.uplinks(besides: plan.tunnel) : plan.uplinks
        if uplinks.isEmpty { notices.append(.noUplink) }
        if let conflict = Conflict.first(plan, machine) { notices.append(.conflict("\(conflict)")) }
        let own = Set(machine.addresses.map(\.address))
        let ways = machine.routes.filter {
            $0.table == KernelRoute.mainTable && $0.destination == WellKnown.anyIPv6 && $0.kind == .unicast
        }
        // With one arm the uplink's router is on the LAN by design.
        let routers = Set(ways.compactMap(\.gateway))
        for neighbour in machine.neighbours where neighbour.isRouter && lan.contains(neighbour.interface) {
            guard !own.contains(neighbour.address), neighbour.address.isLinkLocal || !routers.isEmpty else { continue }
            notices.append(.otherRouter(interface: neighbour.interface, address: neighbour.address))
        }
        for way in ways where way.interface.map(lan.contains) == true && !isUplinkByIPv4(way.interface, machine) {
            notices.append(.around(interface: way.interface ?? "", gateway: way.gateway))
        }
        return Set(notices).sorted { "\($0)" < "\($1)" }
    }

    private static func isUplinkByIPv4(_ interface: String?, _ machine: KernelNetwork) -> Bool {
        machine.routes.contains {
            $0.table == KernelRoute.mainTable && $0.destination == WellKnown.anyIPv4 && $0.interface == interface
        }
    }
}
