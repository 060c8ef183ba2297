/// After a switch: flows that would go another way now are reset, and the others never notice.
///
/// First all are looked at, so that whoever switches knows soon what will become of them; then those that go are reset,
/// a few in each turn, so that new flows need not wait for the end of thousands. A flow that is idle ends at once; one
/// that moves is given a moment to fall idle, so that a download that is nearly through is not cut.

import Addresses
import Bytes
import Flows
import LinuxIO
import Relay
import Streams
import Synchronization
import Upstreams

/// What became of the flows at a switch.
public struct RerouteCounts: Equatable, Sendable {
    /// Reset at once.
    public var reset = 0
    /// Still moving; each is reset when it falls idle, or at the end of its time.
    public var draining = 0
    /// Going where they went before.
    public var untouched = 0

    public init() {}

    static func + (left: RerouteCounts, right: RerouteCounts) -> RerouteCounts {
        var sum = left
        sum.reset += right.reset
        sum.draining += right.draining
        sum.untouched += right.untouched
        return sum
    }
}

/// A switch as workers are told of it, and where they say what came of it.
final class RerouteOrder: Sendable {
    /// How long flows that move may go on.
    let drain: Interval
    private let answers = Mutex<(counts: RerouteCounts, workers: Int)>((RerouteCounts(), 0))
    private let control: WakeUp

    init(drain: Interval, waking control: WakeUp) {
        self.drain = drain
        self.control = control
    }

    func put(_ counts: RerouteCounts) {
        answers.withLock { $0 = ($0.counts + counts, $0.workers + 1) }
        control.wake()
    }

    /// What came of it so far, and how many workers have said so.
    var content: (counts: RerouteCounts, workers: Int) { answers.withLock { $0 } }
}

/// A worker's way through its flows after a switch.
struct Rerouting {
    /// The place of the flow that is looked at next; nil when all were.
    var from: UInt32?
    /// Who is told at the end, for a switch that was followed by another one as well.
    var orders: [RerouteOrder] = []
    var counts = RerouteCounts()
    /// Flows that are to end now, the last one first.
    var ending: [Handle] = []
    /// Flows that are to end when they fall idle, or at that time.
    var draining: [Handle: Instant] = [:]
    /// When those are looked at next.
    var dueAt = Instant.never

    /// How long a flow has to be silent to be idle.
    static let silence = Interval.seconds(1)
    static let checkInterval = Interval.milliseconds(100)
    /// How many places of the flow table are looked at in one turn, and how many flows are ended.
    static let slice: UInt32 = 2048
    static let endings = 64

    /// Whether there is something to be done in the next turn.
    var isUnderWay: Bool { from != nil || !ending.isEmpty }
}

extension Worker {
    mutating func beginRerouting(_ order: RerouteOrder) {
        rerouting.from = 0
        rerouting.orders.append(order)
        rerouting.counts = RerouteCounts()
    }

    /// Looks at the next slice of flows, while there are some to be looked at, and at those that were given time.
    mutating func reroute() {
        if rerouting.dueAt <= now { lookAtDraining() }
        endSome()
        guard let start = rerouting.from else { return }
        let end = min(start + Rerouting.slice, flows.capacity)
        let policy = shared.policy
        for place in start..<end {
            guard let handle = flows.handle(at: place) else { continue }
            reroute(handle, by: policy)
        }
        guard end >= flows.capacity else {
            rerouting.from = end
            return
        }
        rerouting.from = nil
        rerouteDatagrams()
        forgetUpstreams(besides: policy)
        for order in rerouting.orders { order.put(rerouting.counts) }
        rerouting.orders = []
    }

    private mutating func reroute(_ handle: Handle, by policy: Policy) {
        guard hasAnotherWay(handle, by: policy) else {
            rerouting.counts.untouched += 1
            return
        }
        // A flow that drains since an earlier switch keeps its end.
        if rerouting.draining[handle] != nil {
            rerouting.counts.draining += 1
            return
        }
        let drain = rerouting.orders.last?.drain ?? .zero
        guard drain > .zero, isMoving(handle) else {
            rerouting.counts.reset += 1
            return rerouting.ending.append(handle)
        }
        rerouting.counts.draining += 1
        rerouting.draining[handle] = now + drain
        rerouting.dueAt = min(rerouting.dueAt, now + Rerouting.checkInterval)
    }

    private func isMoving(_ handle: Handle) -> Bool {
        let (up, down) = (flows[handle].relay.up, flows[handle].relay.down)
        guard up.bytes + down.bytes > 0 else { return false }
        return now - max(up.lastMoved, down.lastMoved) < Rerouting.silence
    }

    /// Resets some of those that are to end; one that goes the right way again, since another switch, stays.
    private mutating func endSome() {
        guard !rerouting.ending.isEmpty else { return }
        let policy = shared.policy
        for _ in 0..<Rerouting.endings {
            guard let flow = rerouting.ending.popLast() else { return }
            guard flows.contains(flow), hasAnotherWay(flow, by: policy) else { continue }
            abort(flow, because: .switched)
        }
    }

    /// Has flows end that had time and have fallen idle, or whose time is over.
    private mutating func lookAtDraining() {
        for (flow, end) in rerouting.draining {
            guard flows.contains(flow), end > now, isMoving(flow) else {
                rerouting.draining[flow] = nil
                if flows.contains(flow) { rerouting.ending.append(flow) }
                continue
            }
        }
        rerouting.dueAt = rerouting.draining.isEmpty ? .never : now + Rerouting.checkInterval
    }

    /// Whether the rules send a flow elsewhere than where it goes.
    private func hasAnotherWay(_ handle: Handle, by policy: Policy) -> Bool {
        guard let target = flows[handle].target, !flows[handle].isQuestion else { return false }
        let (outbound, isAnswered) = (flows[handle].outbound, flows[handle].check != nil)
        guard outbound != nil || isAnswered else { return false }
        if case .listener(let position) = flows[handle].origin, shared.listeners[position].settings.outbound == .direct
        {
            return false
        }
        var destination = Destination(target, name: flows[handle].name, source: flows[handle].nameSource)
        if flows[handle].origin == .tunnel, flows[handle].nameSource != .fake {
            destination.address = shared.realAddress(of: flows[handle].key.target.address)
        }
        let route = policy.route(
            to: destination, from: flows[handle].key.client.address, asksNoCheck: !isAnswered)
        switch route.way {
        case .upstream(let upstream):
            guard let outbound else { return true }
            // What another member of the group has taken stays there.
            return !upstream.isSame(as: outbound) && route.standIn?.isSame(as: outbound) != true
                && !route.others.contains { $0.isSame(as: outbound) }
        case .answer: return !isAnswered
        case .refused: return true
        }
    }

    /// What was learned about upstreams that are in no profile any more goes.
    private mutating func forgetUpstreams(besides policy: Policy) {
        let known = Set(policy.upstreams.map(\.number) + [policy.direct.number])
        memories = memories.filter { known.contains($0.key) }
    }
}
