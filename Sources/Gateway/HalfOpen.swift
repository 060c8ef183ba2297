/// The bound on flows that are dialling or wait for the handshake's last ACK (DESIGN.md, decision 4).
///
/// A device over its share loses its own oldest half-open flow; when the bound in all is reached, a SYN
/// costs no state and is answered with a cookie.

import Addresses
import Bytes

struct HalfOpen {
    /// One device's half-open flows, the oldest first.
    ///
    /// Flows that are no longer half-open stay in the list
    /// until they come to its head; `count` is exact.
    private struct Share {
        var queue: [Handle] = []
        var head = 0
        var count = 0
    }

    private var shares: [IPAddress: Share] = [:]
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

    mutating func add(_ flow: Handle, of device: IPAddress) {
        count += 1
        shares[device, default: Share()].queue.append(flow)
        shares[device]?.count += 1
    }

    /// Notes that a flow that was added is established or gone.
    mutating func remove(from device: IPAddress) {
        count -= 1
        guard let left = shares[device]?.count else { return }
        if left <= 1 { shares[device] = nil } else { shares[device]?.count = left - 1 }
    }

    /// The device's oldest entry, taken from the list; the caller skips those that are half-open no more.
    mutating func oldest(of device: IPAddress) -> Handle? {
        guard var share = shares[device], share.head < share.queue.count else { return nil }
        let handle = share.queue[share.head]
        share.head += 1
        if share.head > 64, share.head * 2 > share.queue.count {
            share.queue.removeFirst(share.head)
            share.head = 0
        }
        shares[device] = share
        return handle
    }
}
