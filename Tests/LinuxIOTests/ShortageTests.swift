/// Descriptors run out: in a process of its own, because the limit is the whole process's.

import Addresses
import Bytes
import Glibc
import LinuxIO
import Testing

@Suite("Descriptor shortage")
struct ShortageTests {
    @Test func whoCannotBeServedIsResetAndTheListenerGoesOn() async {
        await #expect(processExitsWith: .success) { try Shortage.survive() }
    }

    @Test func whatIsNoFlowHasDescriptorsLeft() async {
        await #expect(processExitsWith: .success) {
            precondition(DescriptorLimit.set(soft: 64))
            precondition(DescriptorLimit.leavesReserve(0) && DescriptorLimit.leavesReserve(55))
            precondition(!DescriptorLimit.leavesReserve(56) && !DescriptorLimit.leavesReserve(63))
            let limit = DescriptorLimit.raise()
            precondition(limit >= 1024)
            precondition(DescriptorLimit.leavesReserve(CInt(limit - 65)))
            precondition(!DescriptorLimit.leavesReserve(CInt(limit - 64)))
        }
    }
}

private enum Shortage {
    static func survive() throws {
        let listener = try Socket.listen(on: SocketTests.loopback)
        let target = try SocketTests.address(of: listener)
        var reserve = ReserveDescriptor()
        let first = try Socket.connectTCP(to: target)
        try SocketTests.await(listener.descriptor.number, .readable)

        // No descriptor is left: whoever knocks is refused with the reserve, and the next one finds it again.
        precondition(DescriptorLimit.set(soft: Int(first.descriptor.number) + 1))
        while dup(0) >= 0 {}
        guard case .exhausted = listener.accept() else { preconditionFailure("no shortage") }
        do throws(SystemCallError) {
            _ = try Socket.connectTCP(to: target)
            preconditionFailure("no shortage")
        } catch {
            precondition(error.errno.isDescriptorShortage)
        }
        precondition(listener.refuseNext(using: &reserve))
        precondition(reserve.isHeld)
        precondition(!listener.refuseNext(using: &reserve))

        // With descriptors the listener serves again; the refused one has got its reset.
        precondition(DescriptorLimit.raise() > 64)
        try SocketTests.await(first.descriptor.number, .readable)
        var bytes: [UInt8] = []
        precondition(first.read(appendingTo: &bytes, limit: 1) == .failed(.connectionReset))
        let second = try Socket.connectTCP(to: target)
        _ = try SocketTests.accept(listener)
        _ = consume second
    }
}
