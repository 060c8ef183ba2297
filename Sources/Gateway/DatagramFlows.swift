/// The datagram flows of a worker: found by their keys, bounded for each device, over when nothing comes for a while.

import Addresses
import Bytes
import Flows
import LinuxIO
import Wire

struct DatagramFlows: ~Copyable {
    /// How many flows a device has.
    private struct Share {
        var direct = 0
        var service = 0
    }

    /// The headers of IPv6 and UDP, and more than the longest datagram.
    private static let bufferSize = 40 + UDPHeader.length + 65535

    var flows = Slab<DatagramFlow>()
    private var table: FlowTable
    private var timers: TimerWheel
    private var shares: [IPAddress: Share] = [:]
    private let limit: Int
    private let limitPerDevice: Int

    /// The flows that wait for a name's addresses.
    var waiting: [String: [Handle]] = [:]
    /// Where answers are received, where packets are made of them, and where those are cut.
    var received: [UInt8] = []
    var packet: [UInt8] = []
    var fragment: [UInt8] = []
    private var identification: UInt32

    init(limit: Int, perDevice: Int, seed: (UInt64, UInt64), now: Instant) {
        self.limit = max(1, limit)
        limitPerDevice = max(1, perDevice)
        table = FlowTable(capacity: max(1, limit), seed: seed)
        timers = TimerWheel(now: now)
        identification = UInt32(truncatingIfNeeded: seed.0 ^ seed.1 >> 32)
    }

    var count: Int { flows.count }

    func find(_ key: FlowKey) -> Handle? { table.find(key) }

    /// Whether nobody may have one more flow.
    var isFull: Bool { count >= limit }

    /// Whether the device may have one more flow.
    func hasRoom(for device: IPAddress, _ kind: DatagramFlow.Kind) -> Bool {
        guard !isFull else { return false }
        let share = shares[device] ?? Share()
        return (kind == .direct ? share.direct : share.service) < limitPerDevice
    }

    /// Adds a flow; its key must not be there, and there must be room.
    mutating func insert(_ flow: consuming DatagramFlow) -> Handle {
        let (key, kind) = (flow.key, flow.kind)
        let handle = flows.insert(flow)
        let isNew = table.insert(key, handle)
        precondition(isNew, "a datagram flow without place")
        count(1, key.client.address, kind)
        return handle
    }

    mutating func remove(_ handle: Handle) -> DatagramFlow {
        timers.cancel(handle)
        let flow = flows.remove(handle)
        table.remove(flow.key)
        count(-1, flow.key.client.address, flow.kind)
        return flow
    }

    private mutating func count(_ change: Int, _ device: IPAddress, _ kind: DatagramFlow.Kind) {
        var share = shares[device] ?? Share()
        if kind == .direct { share.direct += change } else { share.service += change }
        shares[device] = share.direct + share.service == 0 ? nil : share
    }

    /// Puts the flow's end off.
    mutating func keep(_ handle: Handle, until deadline: Instant) { timers.schedule(handle, at: deadline) }

    /// The next flow whose time is over.
    mutating func expire(_ now: Instant) -> Handle? {
        while let handle = timers.expire(now) {
            if flows.contains(handle) { return handle }
        }
        return nil
    }

    var nextDeadline: Instant { timers.nextDeadline() ?? .never }

    /// A number for the fragments of one datagram.
    mutating func nextIdentification() -> UInt32 {
        identification &+= 1
        return identification
    }

    /// Makes the buffers, which most gateways never need.
    mutating func makeBuffers() {
        guard fragment.isEmpty else { return }
        received = [UInt8](repeating: 0, count: Self.bufferSize)
        packet = received
        fragment = [UInt8](repeating: 0, count: Self.bufferSize)
    }
}
