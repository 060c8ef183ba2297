/// Where a flow goes: which name it has, and what the rules say about it.
///
///     address ──▶ fake? its name · seen in an answer? that name · else the address itself
///             ──▶ Policy.route ──▶ an upstream, the target itself, or no

import Addresses
import Bytes
import Flows
import Names
import Relay
import Routing
import Upstreams
import Wire

extension Worker {
    /// What becomes of a new flow.
    enum Choice {
        case goes(Destination, Route)
        /// The client has to speak first, because a name in its words could change the answer.
        case sniff(Destination)
        /// With what is known of where it should have gone.
        case refused(CloseReason, Destination? = nil)
    }

    /// Decides about a flow of the tunnel, by one policy: another one may be published at any time.
    func choose(for key: FlowKey, by policy: Policy) -> Choice {
        if !policy.settings.ipv6, !key.target.address.isIPv4 { return .refused(.familyOff) }
        if let image = selfCheck(of: key.target, by: policy) { return image }
        if key.target.port == 53, let question = Self.dnsQuestion(by: policy) { return question }
        guard let destination = destination(of: key.target, from: key.client.address) else {
            return .refused(.unknownFakeAddress)
        }
        if policy.wantsSniffing(destination, from: key.client.address) { return .sniff(destination) }
        return Self.choose(destination, from: key.client.address, by: policy)
    }

    /// Images of self-checks are ours to answer, and nothing else at their addresses is; nil for every other target.
    private func selfCheck(of target: SocketAddress, by policy: Policy) -> Choice? {
        guard let own = shared.names?.range.check else { return nil }
        let address = shared.realAddress(of: target.address)
        guard address == own.v4 || address == own.v6 else { return nil }
        guard target.port == 80 else { return .refused(.rejected(rule: "self-check: port 80 alone answers")) }
        let event: CheckNote.Event = address.isIPv4 ? .cameByRoute : .cameByIPv6
        return .goes(
            Destination(SocketAddress(address, target.port)),
            policy.route(by: .answer(.image(event)), isQuestion: true, .words("self-check")))
    }

    /// DNS over TCP goes to our own service, wherever it was meant to go; nil where there is none.
    private static func dnsQuestion(by policy: Policy) -> Choice? {
        guard let address = policy.settings.dnsService, let door = policy.dnsService else { return nil }
        return .goes(
            Destination(address), policy.route(by: .upstream(door), isQuestion: true))
    }

    /// Decides about a destination of which everything is known that will be.
    static func choose(
        _ destination: Destination, from device: IPAddress, by policy: Policy, asksNoCheck: Bool = false
    ) -> Choice {
        let route = policy.route(to: destination, from: device, asksNoCheck: asksNoCheck)
        if case .refused = route.way { return .refused(.rejected(rule: route.rule?.description ?? ""), destination) }
        return .goes(destination, route)
    }

    /// What is known about an address that a device asks for; nil for a fake one that no name has.
    func destination(of target: SocketAddress, from device: IPAddress) -> Destination? {
        let target = SocketAddress(shared.realAddress(of: target.address), target.port)
        guard let names = shared.names else { return Destination(target) }
        if names.isFake(target.address) {
            guard let name = names.name(of: target.address) else { return nil }
            return Destination(name: name, port: target.port, source: .fake)
        }
        var destination = Destination(target)
        if case .real(let seen) = names.open(target.address, for: device, now: now) { destination.alternatives = seen }
        if let name = destination.alternatives.first { destination.take(name, from: .answer, isProven: true) }
        return destination
    }

    /// What is known about what a SOCKS5 or HTTP client asks for, in its words.
    func destination(of target: Target, from device: IPAddress) -> Destination? {
        switch target.host {
        case .address(let address):
            return destination(of: SocketAddress(address, target.port), from: device)
        case .name(let text):
            guard let name = try? DomainName.normalise(text) else { return nil }
            return Destination(name: name, port: target.port, source: .client)
        }
    }

    /// Decides about a flow of an inbound client.
    func choose(for target: Target, of handle: Handle) -> Choice {
        let policy = shared.policy
        if case .listener(let position) = flows[handle].origin, shared.listeners[position].settings.outbound == .direct
        {
            var destination = Destination(target, name: nil, source: .client)
            if case .name(let name) = target.host { destination.name = name.lowercased() }
            return .goes(destination, policy.route(by: .upstream(policy.direct)))
        }
        if shared.isListener(target) { return .refused(.ownListener) }
        let device = flows[handle].key.client.address
        if case .name(let text) = target.host, (try? DomainName.normalise(text)) == nil {
            return .refused(.badRequest("\(text) is no name of a host"))
        }
        guard let destination = destination(of: target, from: device) else { return .refused(.unknownFakeAddress) }
        return Self.choose(destination, from: device, by: policy)
    }

    /// Takes a choice for a flow that is in the tables, and asks its upstream.
    mutating func follow(_ choice: Choice, of handle: Handle) {
        switch choice {
        case .goes(let destination, var route):
            route.avoidUpstream(port: destination.target.port, at: now)
            switch route.way {
            case .upstream(let upstream):
                flows[handle].takes(destination, route, through: upstream)
                dial(handle)
            case .answer(let subject): beginAnswering(handle, destination, route, subject)
            case .refused: break
            }
        case .sniff(let destination):
            beginSniffing(handle, destination)
        case .refused(let reason, let destination):
            if let destination, flows[handle].origin == .tunnel {
                (flows[handle].name, flows[handle].nameSource) = (destination.name, destination.source)
            } else if let destination {
                (flows[handle].target, flows[handle].name) = (destination.target, destination.name)
                flows[handle].nameSource = destination.source
            }
            refuse(handle, because: reason)
        }
    }

    /// Refuses a flow that is in the tables: a reset for a device, a reply for an inbound client.
    private mutating func refuse(_ handle: Handle, because reason: CloseReason) {
        counters.flowsRefused += 1
        if flows[handle].endpoint != nil { return abort(handle, because: reason) }
        flows[handle].ends(reason)
        refuseInbound(handle, reason.failure, reason.words)
        touch(handle)
    }
}

extension Destination {
    /// Takes a name for an address; only a proven one is what an upstream is asked for.
    mutating func take(_ name: String, from source: NameSource, isProven: Bool) {
        self.name = name
        self.source = source
        if isProven { target.host = .name(name) }
    }

    /// What is dialled when there is no proxy in between: the address that the device chose, if it has one.
    var direct: Target {
        Target(host: address.map(Host.address) ?? target.host, port: target.port)
    }
}

extension Flow {
    /// Notes where the flow goes.
    mutating func takes(_ destination: Destination, _ route: Route, through upstream: Upstream?) {
        outbound = upstream
        others = route.others
        target = upstream?.server == nil ? destination.direct : destination.target
        name = destination.name
        nameSource = destination.source
        profile = route.profileID
        asksInAbsoluteForm = route.asksInAbsoluteForm
        isQuestion = route.isQuestion
        rule = route.rule
    }
}

extension CloseReason {
    /// How an inbound client is told of a refusal that nobody was asked about.
    fileprivate var failure: DialFailure {
        switch self {
        case .unknownFakeAddress: .targetUnknown("")
        default: .forbidden
        }
    }
}
