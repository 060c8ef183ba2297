/// The administrator at work: it waits for what the gateway does not do by itself.

import Addresses
import Bytes
import Control
import Devices
public import Gateway
import LinuxIO
import Profiles

/// What the loop watches besides the gateway.
struct Watches: ~Copyable {
    /// Under which number the gateway says that each is readable.
    enum Number {
        static let control: UInt32 = 0
        static let neighbours: UInt32 = 1
        static let trial: UInt32 = 2
    }

    var server: ControlServer
    /// Nil without netlink: there are no devices but those of addresses.
    var neighbours: NeighbourMonitor?
}

extension Administrator {
    /// Starts a gateway, says so, and serves until it ends; returns whether the end was a wanted one.
    public mutating func serve() throws(StartupError) -> Bool {
        let settings = try settings()
        // Whoever finds the socket taken has not touched the machine's network yet.
        var watches = Watches(server: try openDoors(settings), neighbours: try? NeighbourMonitor())
        var gateway: Gateway
        do throws(GatewayError) {
            gateway = try Gateway.start(settings, capture: capture)
            try gateway.watch(watches.server.descriptor, as: Watches.Number.control)
            if watches.neighbours != nil {
                try gateway.watch(watches.neighbours.value.descriptor, as: Watches.Number.neighbours)
            }
            if let bell = trials?.bell { try gateway.watch(bell.descriptor.number, as: Watches.Number.trial) }
        } catch {
            throw .gateway(error)
        }
        gateway.announce()
        begin(&gateway)
        return run(&gateway, &watches)
    }

    private mutating func run(_ gateway: inout Gateway, _ watches: inout Watches) -> Bool {
        while true {
            seeToIt(&gateway)
            switch gateway.next(until: min(nextDeadline(), watches.server.deadline)) {
            case .ended(let isWanted):
                closeDoors()
                return isWanted
            case .reload: reload(&gateway)
            case .readable(Watches.Number.neighbours): follow(&watches.neighbours, &gateway)
            case .readable(Watches.Number.trial): judge(&gateway)
            case .readable, .time: break
            }
            // Also when nothing came: connections that say nothing end.
            watches.server.serve(now: Clock.now()) { request in answer(request, &gateway) }
        }
    }

    /// The Unix socket, and TCP listeners for those who sign.
    private func openDoors(_ settings: GatewaySettings) throws(StartupError) -> ControlServer {
        do throws(SystemCallError) {
            var server = try ControlServer()
            if let control = running.control {
                let group = try control.group.map(Self.group)
                let socket = try Socket.listenUnix(at: control.socket, group: group)
                try server.add(ControlDoor(unix: socket))
            }
            for address in running.push?.listen ?? [] {
                let socket = try Socket.listen(on: address, backlog: 64, mark: settings.routing.direct.mark)
                try server.add(ControlDoor(tcp: socket, allow: (running.push?.allow ?? []) + Self.loopback))
            }
            return server
        } catch {
            throw .system(error)
        }
    }

    private func closeDoors() {
        if let control = running.control { Socket.remove(control.socket) }
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
        for notice in plan.effective.notices { gateway.say(.notice, "configuration") { $0.add("notice", notice) } }
        meetNeighbours(&gateway)
        resumePending()
    }

    /// When something has to be seen to at the latest; the calendar may jump, so it is looked at once a minute.
    private func nextDeadline() -> Instant {
        let now = Clock.unixTime().seconds
        var times = plan.effective.assignments.flatMap { assignment -> [Int64] in
            guard let until = assignment.until else { return [] }
            return warned.contains(assignment.device) ? [until] : [until - Self.warningTime, until]
        }
        if let pending { times.append(pending.until) }
        guard let next = times.min() else { return .never }
        return Clock.now() + .seconds(min(max(0, next - now), 60)) + .milliseconds(20)
    }

    /// Sees to leases and confirmations whose time has come.
    private mutating func seeToIt(_ gateway: inout Gateway) {
        let now = Clock.unixTime().seconds
        endLeases(now, &gateway)
        if let pending, pending.until <= now { takeBack(pending, because: "nobody confirmed it in time", &gateway) }
    }
}
