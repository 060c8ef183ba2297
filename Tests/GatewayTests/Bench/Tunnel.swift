/// A pair of connected sockets that keeps the boundaries of messages: one end stands in for a queue of the TUN
/// device, the other one is the device's.

import Glibc
import LinuxIO

/// What a test could not set up, or waited for in vain.
struct BenchError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// Both ends, until they are taken.
struct TunnelPair: ~Copyable {
    var gateway: TunnelQueue
    var device: TunnelQueue

    init(hasVirtioHeader: Bool) throws {
        var numbers: [CInt] = [-1, -1]
        let type = CInt(SOCK_SEQPACKET.rawValue) | CInt(SOCK_NONBLOCK.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
        guard unsafe socketpair(AF_UNIX, type, 0, &numbers) == 0 else { throw BenchError("no socket pair: \(errno)") }
        gateway = TunnelQueue(descriptor: OwnedDescriptor(owning: numbers[0]), hasVirtioHeader: hasVirtioHeader)
        device = TunnelQueue(descriptor: OwnedDescriptor(owning: numbers[1]), hasVirtioHeader: hasVirtioHeader)
    }
}
