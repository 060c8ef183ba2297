/// The difference between what there is of ours and what should be, as lines of ip(8).

import Addresses
import LinuxIO

/// One line of `ip -batch`, and the one that takes it back.
struct NetworkChange: Hashable, Sendable {
    /// `ip -4` or `ip -6`; a batch has one family, because a rule does not say its own.
    let isIPv4: Bool
    let line: String
    let inverse: String

    init(isIPv4: Bool, _ line: String, _ inverse: String) {
        self.isIPv4 = isIPv4
        self.line = line
        self.inverse = inverse
    }
}

/// What to do, in an order in which no packet finds a half of it.
struct NetworkChanges: Equatable, Sendable {
    /// The device, its addresses, and routes: nobody asks them yet.
    private(set) var preparation: [NetworkChange] = []
    /// Rules: new ones first, then those that are no longer wanted.
    private(set) var rules: [NetworkChange] = []
    /// Routes and addresses that nobody asks any more.
    private(set) var removal: [NetworkChange] = []

    /// Computes the difference; `former` are addresses that an earlier plan gave to interfaces.
    init(from machine: KernelNetwork, to script: NetworkScript, former: [OwnAddress] = []) {
        link(machine, script)
        addresses(machine, script, former)
        routes(machine, script)
        rules(machine, script)
    }

    private mutating func link(_ machine: KernelNetwork, _ script: NetworkScript) {
        guard let tunnel = script.tunnel, let link = machine.link(tunnel.name) else { return }
        guard link.mtu != tunnel.mtu || !link.isUp else { return }
        let set = "link set dev \(tunnel.name) mtu"
        preparation.append(
            NetworkChange(
                isIPv4: true, "\(set) \(tunnel.mtu) up", "\(set) \(link.mtu) \(link.isUp ? "up" : "down")"))
    }

    private mutating func addresses(_ machine: KernelNetwork, _ script: NetworkScript, _ former: [OwnAddress]) {
        let there = Set(machine.addresses.map { OwnAddress(interface: $0.interface, address: $0.address) })
        let wanted = script.ownAddresses
        preparation += wanted.filter { !there.contains($0) }.map {
            NetworkChange(isIPv4: $0.address.isIPv4, $0.line("add"), $0.line("del"))
        }
        removal += former.filter { there.contains($0) && !wanted.contains($0) }.map {
            NetworkChange(isIPv4: $0.address.isIPv4, $0.line("del"), $0.line("add"))
        }
    }

    private mutating func routes(_ machine: KernelNetwork, _ script: NetworkScript) {
        let there = machine.ownRoutes
        let wanted = Set(script.routes)
        let replaced = Dictionary(there.map { ($0.place, $0) }) { first, _ in first }
        let added = script.routes.filter { !there.contains($0) }
        preparation += added.map { route in
            NetworkChange(
                isIPv4: route.destination.base.isIPv4, route.line("replace"),
                replaced[route.place].map { $0.line("replace") } ?? route.line("del"))
        }
        let places = Set(added.map(\.place))
        removal += there.filter { !wanted.contains($0) && !places.contains($0.place) }.map {
            NetworkChange(isIPv4: $0.destination.base.isIPv4, $0.line("del"), $0.line("replace"))
        }
    }

    private mutating func rules(_ machine: KernelNetwork, _ script: NetworkScript) {
        let there = machine.ownRules
        rules += script.rules.filter { !there.contains($0) }.map {
            NetworkChange(isIPv4: $0.isIPv4, $0.line("add"), $0.line("del"))
        }
        rules += there.filter { !script.rules.contains($0) }.map {
            NetworkChange(isIPv4: $0.isIPv4, $0.line("del"), $0.line("add"))
        }
    }
}

/// An address that we gave to an interface.
struct OwnAddress: Hashable, Sendable {
    let interface: String
    let address: IPAddress

    func line(_ verb: String) -> String {
        let nodad = address.isIPv4 || verb == "del" ? "" : " nodad"
        return "address \(verb) \(address)/\(address.isIPv4 ? 32 : 128) dev \(interface)\(nodad)"
    }
}

extension NetworkScript {
    var ownAddresses: [OwnAddress] {
        guard let tunnel else { return [] }
        return tunnel.addresses.map { OwnAddress(interface: tunnel.name, address: $0) }
    }
}

extension KernelNetwork {
    /// What is in our tables, whoever put it there, and what we put into the main one.
    var ownRoutes: [KernelRoute] { routes.filter { NetworkNames.tables.contains($0.table) || $0.isOursInMain } }
    /// What has one of our priorities, whoever put it there.
    var ownRules: [KernelRule] { rules.filter { NetworkNames.priorities.contains($0.priority) } }
}

extension KernelRoute {
    var isOursInMain: Bool { table == Self.mainTable && maker == NetworkNames.maker }

    /// Where only one route can be.
    fileprivate var place: [String] { ["\(table)", "\(destination)", "\(metric)"] }

    /// A line of ip-route(8) with a verb.
    func line(_ verb: String) -> String {
        let destination = destination.length == 0 ? "default" : destination.text
        let way = (gateway.map { " via \($0)" } ?? "") + (interface.map { " dev \($0)" } ?? "")
        let type = kind == .unicast ? "" : "\(kind) "
        let proto = maker == Self.madeByHand ? "" : " proto \(maker)"
        return "route \(verb) \(type)\(destination)\(way) table \(table) metric \(metric)\(proto)"
    }
}

extension KernelRule {
    /// A line of ip-rule(8) with a verb.
    func line(_ verb: String) -> String {
        var words = ["rule", verb, "priority", "\(priority)"]
        // What we can't say in full is found by its priority; it is never made again.
        if hasMore { return words.joined(separator: " ") }
        if let source { words += ["from", source.text] }
        if let destination { words += ["to", destination.text] }
        if let incoming { words += ["iif", incoming] }
        if let mark { words += ["fwmark", "0x\(String(mark.value, radix: 16))/0x\(String(mark.mask, radix: 16))"] }
        if let sourcePort { words += ["ipproto", "tcp", "sport", "\(sourcePort)"] }
        switch action {
        case .lookup(let table): words += ["lookup", table == KernelRoute.mainTable ? "main" : "\(table)"]
        case .goto(let priority): words += ["goto", "\(priority)"]
        case .nothing: words += ["nop"]
        case .refuse: words += ["unreachable"]
        }
        if let suppressed { words += ["suppress_prefixlength", "\(suppressed)"] }
        return words.joined(separator: " ")
    }
}
