/// The bound on flows that are dialling or wait for the handshake's last ACK.
///
/// A device over its share loses its own oldest half-open flow; when the bound in all is reached, a SYN
/// costs no state and is answered with a cookie.

import Addresses
import Bytes

struct HalfOpen {
    /// One device's half-open flows: a list through `links`, the oldest first.
    private struct Share {
        var oldest: UInt32
        var newest: UInt32
        var count = 1
    }

    /// A flow's neighbours in its device's list, by their places in the slab of flows.
    private struct Link {
        var flow: Handle
        var previous = HalfOpen.none
        var next = HalfOpen.none
    }

    private static let none = UInt32.max

    private var shares: [IPAddress: Share] = [:]
    /// At the place that the flow has in the slab.
    private var links: [Link] = []
    private let limit: Int
    private let limitPerDevice: Int

    /// How many flows are half-open.
    private(set) var count = 0

    init(limit: Int, perDevice: Int) {
        self.limit = max(1, limit)
        limitPerDevice = max(1, perDevice)
    }

    /// Whether no flow may be added without giving one up.
    var isFull: Bool { count >= limit }

    /// Whether this device has its whole share.
    func isFull(for device: IPAddress) -> Bool {
        shares[device].map { $0.count >= limitPerDevice } ?? false
    }

    /// The device's oldest half-open flow.
    func oldest(of device: IPAddress) -> Handle? {
        shares[device].map { links[Int($0.oldest)].flow }
    }

    /// Adds a flow, which must not be there.
    mutating func add(_ flow: Handle, of device: IPAddress) {
        while links.count <= Int(flow.index) { links.append(Link(flow: Handle(index: 0, generation: 0))) }
        links[Int(flow.index)] = Link(flow: flow)
        count += 1
        guard let newest = shares[device]?.newest else {
            shares[device] = Share(oldest: flow.index, newest: flow.index)
            return
        }
        links[Int(newest)].next = flow.index
        links[Int(flow.index)].previous = newest
        shares[device]?.newest = flow.index
        shares[device]?.count += 1
    }

    /// Notes that a flow that was added is established or gone.
    mutating func remove(_ flow: Handle, of device: IPAddress) {
        let link = links[Int(flow.index)]
        precondition(link.flow == flow, "a flow that is not half-open")
        count -= 1
        if link.previous != Self.none { links[Int(link.previous)].next = link.next }
        if link.next != Self.none { links[Int(link.next)].previous = link.previous }
        if shares[device]?.count == 1 {
            shares[device] = nil
        } else {
            shares[device]?.count -= 1
            if link.previous == Self.none { shares[device]?.oldest = link.next }
            if link.next == Self.none { shares[device]?.newest = link.previous }
        }
    }
}
