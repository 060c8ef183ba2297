/// The administrator at work: it waits for what the gateway does not do by itself.

import Addresses
import Bytes
import Control
import Devices
import Gateway
import LinuxIO
import Profiles
import Upstreams

/// What the loop watches besides the gateway.
struct Watches: ~Copyable {
    /// Under which number the gateway says that each is readable.
    enum Number {
        static let control: UInt32 = 0
        static let neighbours: UInt32 = 1
        static let trial: UInt32 = 2
        static let probes: UInt32 = 3
        static let network: UInt32 = 4
        static let page: UInt32 = 5
        static let tools: UInt32 = 6
        static let peers: UInt32 = 7
    }

    var server: ControlServer
    /// Nil: there is no page.
    var page: PageServer?
    /// Nil without netlink: there are no devices but those of addresses.
    var neighbours: NeighbourMonitor?
    /// Nil without netlink: the way out is looked at when probes fail.
    var network: NetworkMonitor?
}

extension Administrator {
    /// Starts a gateway, says so, and serves until it ends; returns whether the end was a wanted one.
    public mutating func serve() throws(StartupError) -> Bool {
        let settings = try settings()
        if let name = running.control?.group, GroupName.id(of: name) == nil { throw .group(name) }
        // Whoever finds the socket taken has not touched the machine's network yet.
        var watches = Watches(
            server: try openDoors(settings), page: try openPage(settings), neighbours: try? NeighbourMonitor(),
            network: try? NetworkMonitor())
        var gateway = try start(settings)
        do throws(GatewayError) {
            try gateway.watch(watches.server.descriptor, as: Watches.Number.control)
            if watches.page != nil { try gateway.watch(watches.page.value.descriptor, as: Watches.Number.page) }
            if watches.neighbours != nil {
                try gateway.watch(watches.neighbours.value.descriptor, as: Watches.Number.neighbours)
            }
            if let trials { try gateway.watch(trials.bell.descriptor.number, as: Watches.Number.trial) }
            if watches.network != nil {
                for descriptor in watches.network.value.descriptors {
                    try gateway.watch(descriptor, as: Watches.Number.network)
                }
            }
            try settle(settings, &gateway)
            if let courier = peers.courier {
                try gateway.watch(courier.bell.descriptor.number, as: Watches.Number.peers)
            }
            desk = try? HealthDesk(resolvingTargets: gateway.targetResolver)
            if let desk { try gateway.watch(desk.prober.bell.descriptor.number, as: Watches.Number.probes) }
        } catch {
            gateway.stop()
            closeDoors()
            throw .gateway(error)
        }
        lockDown(gateway)
        gateway.announce()
        begin(&gateway)
        tellManager(gateway.manager)
        gateway.manager?.say(.ready)
        ProcessMemory.releaseCode()
        return run(&gateway, &watches)
    }

    private func start(_ settings: GatewaySettings) throws(StartupError) -> Gateway {
        do throws(GatewayError) {
            return try Gateway.start(settings, capture: capture, manager: .fromEnvironment())
        } catch {
            closeDoors()
            throw .gateway(error)
        }
    }

    private mutating func run(_ gateway: inout Gateway, _ watches: inout Watches) -> Bool {
        var spare = SpareMemory(now: Clock.now())
        while true {
            seeToIt(&gateway)
            tendHealth(&gateway)
            tendPeers(&gateway)
            sendWaiting(&watches.server)
            tellManager(gateway.manager)
            doors = Doors(watches)
            let page = watches.page != nil ? watches.page.value.deadline : .never
            let deadline = min(nextDeadline(), watches.server.deadline, page, desk?.deadline ?? .never, peers.deadline)
            let event = gateway.next(until: min(deadline, spare.dueAt))
            spare.giveBack(now: Clock.now())
            if event != .time { spare.used(now: Clock.now()) }
            // Before anybody asks for something "for an hour".
            heedCalendar(&gateway)
            switch event {
            case .ended(let isWanted):
                closeDoors()
                return isWanted
            case .reload: reload(&gateway)
            case .readable(Watches.Number.tools) where hasLostTools(gateway):
                gateway.stop()
                closeDoors()
                return false
            case .readable(Watches.Number.neighbours): follow(&watches.neighbours, &gateway)
            case .readable(Watches.Number.trial): judge(&gateway)
            case .readable(Watches.Number.probes): collectProbes(&gateway)
            case .readable(Watches.Number.peers): collectFromPeers(&gateway)
            case .readable(Watches.Number.network):
                if watches.page != nil { watches.page.value.addressesChanged() }
                follow(watches.network, &gateway)
            case .upstreams: heedTraffic(&gateway)
            case .stalled(let time): note(stall: time, &gateway)
            // Each turn begins with a look at what leads around the gateway.
            case .waysAround, .readable, .time: break
            }
            // Also when nothing came: connections that say nothing end.
            watches.server.serve(now: Clock.now()) { request in answer(request, &gateway) }
            movePage(&watches.page, &gateway)
            if watches.page != nil { serve(&watches.page.value, &gateway) }
        }
    }

    private mutating func serve(_ page: inout PageServer, _ gateway: inout Gateway) {
        let now = Clock.now()
        for (number, answer) in self.page.answers { page.deliver(answer, for: number, now: now) }
        self.page.answers = []
        page.serve(now: now, device: { station(at: $0) }, { visit in answer(visit, &gateway) })
    }

    /// Sends what was published and promised.
    private mutating func sendWaiting(_ server: inout ControlServer) {
        let now = Clock.now()
        for event in outbox { server.publish(event, now: now) }
        for delivery in deliveries { server.deliver(delivery.answer, for: delivery.promise, now: now) }
        (outbox, deliveries) = ([], [])
        eventMetrics.clients = server.streams
    }

    /// TCP listeners for those who sign, and the Unix socket.
    private mutating func openDoors(_ settings: GatewaySettings) throws(StartupError) -> ControlServer {
        var server: ControlServer
        do throws(SystemCallError) {
            server = try openListeners(mark: settings.routing.direct.mark)
        } catch {
            throw .system(error)
        }
        guard let control = running.control else { return server }
        do throws(SystemCallError) {
            guard let door = try unixDoor(control) else { return server }
            try server.add(door)
            socket = control.socket
        } catch {
            throw .control(control.socket, error)
        }
        return server
    }

    private func openListeners(mark: UInt32?) throws(SystemCallError) -> ControlServer {
        // The ids of each life are greater than those of the one before: no second has a million events.
        let first = Int(Clock.unixTime().seconds) * 1_000_000
        var server = try ControlServer(history: EventRing(first: first))
        for address in running.push?.listen ?? [] {
            let socket = try Socket.listen(on: address, backlog: 64, mark: mark, mayComeLater: true)
            try server.add(ControlDoor(tcp: socket, allow: (running.push?.allow ?? []) + Self.loopback))
        }
        for address in running.metrics?.listen ?? [] {
            let socket = try Socket.listen(on: address, backlog: 64, mark: mark, mayComeLater: true)
            try server.add(ControlDoor(figures: socket, allow: (running.metrics?.allow ?? []) + Self.loopback))
        }
        return server
    }

    /// The page, where there is one.
    private func openPage(_ settings: GatewaySettings) throws(StartupError) -> PageServer? {
        guard let page = running.page else { return nil }
        do throws(SystemCallError) {
            return try pageServer(PageDoor.open(port: page.port, mark: settings.routing.direct.mark))
        } catch {
            closeDoors()
            throw .page(error)
        }
    }

    /// The door of the control socket; nil where the usual place, which nobody has asked for, cannot be had: this may
    /// be the second program here, or one of a user without rights.
    private mutating func unixDoor(_ control: ControlOptions) throws(SystemCallError) -> ControlDoor? {
        do throws(SystemCallError) {
            let group = control.group.flatMap(GroupName.id)
            if let slash = control.socket.lastIndex(of: "/") { try Folder.make(String(control.socket[..<slash])) }
            return ControlDoor(unix: try Socket.listenUnix(at: control.socket, group: group))
        } catch {
            guard control == ControlOptions() else { throw error }
            doorTrouble = "\(error)"
            return nil
        }
    }

    private func closeDoors() {
        if let socket { Socket.remove(socket) }
    }

    /// What is said at the start, and what has to be gone back to.
    private mutating func begin(_ gateway: inout Gateway) {
        for words in store.recovered {
            gateway.say(.warning, "store") { $0.add("recovered", words) }
        }
        if let trouble = store.trouble {
            gateway.say(.warning, "store") { line in
                line.add("cause", trouble)
                line.add("meaning", "switches are forgotten at the next start")
            }
        }
        if let doorTrouble {
            gateway.say(.warning, "control") { line in
                line.add("cause", doorTrouble)
                line.add("meaning", "starshipctl does not reach this program; control.socket names another place")
            }
        }
        let own = Set(((try? NetworkInterface.addresses()) ?? []).map(\.address))
        for (path, address) in Self.listeners(of: running)
        where !own.contains(address.address) && !address.address.isUnspecified {
            gateway.say(.warning, "listener") { line in
                line.add("path", path)
                line.add("address", address.description)
                line.add("meaning", "no interface has this address yet; it is served as soon as one does")
            }
        }
        for notice in plan.effective.notices { gateway.say(.notice, "configuration") { $0.add("notice", notice) } }
        meetNeighbours(&gateway)
        followHealth(&gateway)
    }

    /// When something has to be seen to at the latest; the calendar may jump, so it is looked at once a minute.
    private func nextDeadline() -> Instant {
        let now = Clock.unixTime().seconds
        let moments = [Assignments(plan.effective.assignments).nextMoment(after: now), plan.lab.unconfirmed?.until]
        let leases = min(plan.effective.configuration.leases == nil ? .never : leasesDueAt, secrets.dueAt)
        guard let next = moments.compactMap(\.self).min() else { return leases }
        return min(leases, Clock.now() + .seconds(min(max(0, next - now), 60)) + .milliseconds(20))
    }

    /// Sees to leases and confirmations whose time has come.
    private mutating func seeToIt(_ gateway: inout Gateway) {
        let now = Clock.unixTime().seconds
        if leasesDueAt <= Clock.now() {
            readLeases()
            if devices.generation != appliedGeneration { applyDevices(&gateway) }
        }
        if secrets.look(at: plan.effective.configuration, besides: options.configuration, now: Clock.now()) {
            reloadUnasked("a file with a secret that has changed", &gateway)
        }
        endLeases(now, &gateway)
        if let unconfirmed = plan.lab.unconfirmed, unconfirmed.until <= now {
            takeBack(unconfirmed, because: "nobody confirmed it in time", &gateway)
        }
    }

    static let loopback = [
        IPPrefix(IPAddress(v4: 0x7f00_0000), length: 8), IPPrefix(IPAddress(high: 0, low: 1), length: 128),
    ]
    .compactMap(\.self)
}
