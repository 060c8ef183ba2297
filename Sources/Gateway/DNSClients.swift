/// Which device is behind a question that reaches the DNS service from this machine: a worker carries what came
/// through the tunnel to the service's own listener, and so the sender is the worker.

import Addresses
import Synchronization
import Wire

/// The workers' ports towards the DNS service, each with its device.
final class DNSClients: Sendable {
    private struct Port: Hashable {
        var transport: Transport
        var number: UInt16
    }

    private let devices = Mutex<[Port: IPAddress]>([:])

    /// The device whose question comes from this port of the machine, if a worker asks on its behalf.
    func device(behind port: UInt16, over transport: Transport) -> IPAddress? {
        devices.withLock { $0[Port(transport: transport, number: port)] }
    }

    /// Notes a port before the first question leaves it.
    func add(_ port: UInt16, over transport: Transport, for device: IPAddress) {
        devices.withLock { $0[Port(transport: transport, number: port)] = device }
    }

    /// Forgets a port before it is closed, and so may become somebody else's.
    func remove(_ port: UInt16, over transport: Transport) {
        devices.withLock { $0[Port(transport: transport, number: port)] = nil }
    }

    var count: Int { devices.withLock { $0.count } }
}
