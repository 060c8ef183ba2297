/// The bound on flows that are dialling or wait for the handshake's last ACK (DESIGN.md, decision 4).
///
/// A device over its share loses its own oldest half-open flow; when the bound in all is reached, a SYN
/// costs no state and is answered with a cookie.

import Addresses
import Bytes

struct HalfOpen {
    /// The half-open flows of each device, the oldest first; a device has no more than its share.
    private var shares: [IPAddress: [Handle]] = [:]
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
        (shares[device]?.count ?? 0) >= limitPerDevice
    }

    mutating func add(_ flow: Handle, of device: IPAddress) {
        count += 1
        shares[device, default: []].append(flow)
    }

    /// Notes that a flow that was added is established or gone.
    mutating func remove(_ flow: Handle, of device: IPAddress) {
        guard let place = shares[device]?.firstIndex(of: flow) else { return }
        count -= 1
        if shares[device]?.count == 1 { shares[device] = nil } else { shares[device]?.remove(at: place) }
    }

    /// The flow that this device has to give up first.
    func oldest(of device: IPAddress) -> Handle? { shares[device]?.first }
}
