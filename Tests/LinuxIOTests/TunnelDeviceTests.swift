/// Opening the TUN device: all that is wished for, and what is left where the kernel refuses.

import Glibc
import LinuxIO
import Testing

@Suite("Tunnel device", .enabled(if: Namespace.isAvailable))
struct TunnelDeviceTests {
    /// What an opened device says about itself.
    struct Opened: Equatable, Sendable {
        var name: String
        var queues: Int
        var refusals: TunnelRefusals
        var hasHeader: Bool

        init(_ name: String, queues: Int, refusals: TunnelRefusals = [], hasHeader: Bool = true) {
            self.name = name
            self.queues = queues
            self.refusals = refusals
            self.hasHeader = hasHeader
        }

        init(_ device: borrowing TunnelDevice) {
            name = device.name
            queues = device.queueCount
            refusals = device.refusals
            hasHeader = device.hasVirtioHeader
        }
    }

    @Test("has as many queues as workers, each taken once", arguments: [1, 3])
    func queues(count: Int) throws {
        let (opened, taken) = try Namespace.run {
            var device = try TunnelDevice.open(name: "tunnel%d", queues: count)
            var taken = 0
            while let queue = device.takeQueue() { taken += queue.hasVirtioHeader ? 1 : 100 }
            return (Opened(device), taken)
        }
        #expect(opened == Opened("tunnel0", queues: count))
        #expect(taken == count)
    }

    @Test func plainPacketsComeWithoutAHeader() throws {
        let opened = try Namespace.run { Opened(try TunnelDevice.open(name: "plain", queues: 2, offload: .none)) }
        #expect(opened == Opened("plain", queues: 2, hasHeader: false))
    }

    @Test func aDeviceMadeForOneQueueIsOpenedWithOne() throws {
        let opened = try Namespace.run {
            try Namespace.ip("tuntap add dev before mode tun")
            return Opened(try TunnelDevice.open(name: "before", queues: 3))
        }
        #expect(opened == Opened("before", queues: 1, refusals: .multiQueue))
    }

    @Test func aDeviceMadeForManyQueuesIsOpenedByOneWorker() throws {
        let opened = try Namespace.run {
            try Namespace.ip("tuntap add dev before mode tun multi_queue")
            return Opened(try TunnelDevice.open(name: "before", queues: 1))
        }
        #expect(opened == Opened("before", queues: 1))
    }

    @Test func aDeviceThatOutlivedAnOffloadingOwnerGivesPlainPackets() throws {
        let opened = try Namespace.run {
            try Namespace.ip("tuntap add dev kept mode tun")
            _ = try TunnelDevice.open(name: "kept", queues: 1)
            return Opened(try TunnelDevice.open(name: "kept", queues: 1, offload: .none))
        }
        #expect(opened == Opened("kept", queues: 1, hasHeader: false))
    }

    @Test("says which call refused which name", arguments: ["bad/name", "a-name-that-is-too-long", ""])
    func names(name: String) throws {
        let text = try Namespace.run {
            do throws(SystemCallError) {
                _ = try TunnelDevice.open(name: name, queues: 1)
                return "opened"
            } catch {
                return "\(error)"
            }
        }
        #expect(text == "ioctl TUNSETIFF \(name): Invalid argument")
    }

    @Test func aDeviceInUseIsBusy() throws {
        let error = try Namespace.run {
            let first = try TunnelDevice.open(name: "taken", queues: 1)
            do throws(SystemCallError) {
                _ = try TunnelDevice.open(name: first.name, queues: 1)
                return SystemCallError?.none
            } catch {
                return error
            }
        }
        #expect(error == SystemCallError("ioctl TUNSETIFF", "taken", errno: .busy))
    }

    @Test(
        "goes on without what the kernel refuses",
        arguments: [
            (KernelRefusal.headerLength, Opened("tun0", queues: 2, refusals: .virtioHeader, hasHeader: false)),
            (.offload, Opened("tun0", queues: 2, refusals: [.checksum, .segmentation])),
        ])
    func refusals(refusal: KernelRefusal, expected: Opened) throws {
        let opened = try Namespace.run {
            try refusal.install()
            return Opened(try TunnelDevice.open(name: "tun%d", queues: 2))
        }
        #expect(opened == expected)
    }

    @Test func superPacketsOfUDPAreAnOption() throws {
        let opened = try Namespace.run {
            Opened(try TunnelDevice.open(name: "uso", queues: 1, offload: .fullWithUDP))
        }
        #expect(opened.hasHeader)
        #expect(opened.refusals.isSubset(of: .segmentationUDP))
    }
}
