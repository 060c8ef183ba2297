/// Packets through a real TUN device: the kernel is the peer.

import Addresses
import Bytes
import Glibc
import LinuxIO
import Testing

@Suite("Tunnel queue", .enabled(if: Namespace.isAvailable))
struct TunnelQueueTests {
    /// An echo request from 10.9.0.2 to 10.9.0.1 with four octets of data (RFC 792); sums made with scapy.
    static let echoRequest: [UInt8] = [
        0x45, 0x00, 0x00, 0x20, 0x00, 0x01, 0x00, 0x00, 0x40, 0x01, 0x66, 0xc8, 0x0a, 0x09, 0x00, 0x02, 0x0a, 0x09,
        0x00, 0x01, 0x08, 0x00, 0x33, 0x31, 0x00, 0x07, 0x00, 0x01, 0x61, 0x62, 0x63, 0x64,
    ]

    /// A device named "dut" that is up, has 10.9.0.1/24 and no IPv6 of its own.
    static func openDevice(offload: OffloadWish = .full) throws -> TunnelQueue {
        var device = try TunnelDevice.open(name: "dut", queues: 1, offload: offload)
        try Namespace.ip("link set dut addrgenmode none up")
        try Namespace.ip("addr add 10.9.0.1/24 dev dut")
        guard let queue = device.takeQueue() else { throw SystemCallError("open", errno: .noSuchDevice) }
        return queue
    }

    /// The next IPv4 packet without its virtio header, and that header.
    static func nextIPv4(_ queue: borrowing TunnelQueue) throws -> (header: [UInt8], packet: [UInt8])? {
        var buffer = PacketBuffer()
        var poller = try Poller()
        try poller.add(queue.descriptor.number, token: 1, events: .readable)
        var events = [PolledEvent.none]
        let deadline = Clock.now() + .seconds(20)
        while poller.wait(into: &events, until: deadline) > 0 {
            guard case .packet(let count) = queue.read(into: &buffer) else { continue }
            let start = queue.hasVirtioHeader ? TunnelQueue.virtioHeaderLength : 0
            if buffer.storage[start] >> 4 == 4 {
                return (Array(buffer.storage[..<start]), Array(buffer.storage[start..<count]))
            }
        }
        return nil
    }

    @Test("the kernel answers a ping", arguments: [OffloadWish.full, .none])
    func ping(offload: OffloadWish) throws {
        let reply = try Namespace.run {
            let queue = try Self.openDevice(offload: offload)
            let header = [UInt8](repeating: 0, count: queue.hasVirtioHeader ? 12 : 0)
            let outcome = queue.write((header + Self.echoRequest).span)
            guard outcome == .written else { return [UInt8]() }
            return try Self.nextIPv4(queue)?.packet ?? []
        }
        // An echo reply swaps the addresses and has type 0; the data comes back.
        try #require(reply.count == 32)
        #expect(Array(reply[12..<20]) == [0x0a, 0x09, 0x00, 0x01, 0x0a, 0x09, 0x00, 0x02])
        #expect(reply[20] == 0)
        #expect(Array(reply[24...]) == Array(Self.echoRequest[24...]))
    }

    @Test func aPacketIsGatheredFromHeaderAndRuns() throws {
        let reply = try Namespace.run {
            let queue = try Self.openDevice()
            var pool = BufferPool(budget: 1 << 20)
            var data = ByteQueue()
            _ = data.append(Self.echoRequest.span.extracting(28..<32), in: &pool)
            let header = [UInt8](repeating: 0, count: 12) + Self.echoRequest[..<28]
            let outcome = queue.write(
                header: header.span, payload: data.runs(from: 0, count: 4, in: pool), pool: pool)
            data.removeAll(in: &pool)
            return outcome == .written ? try Self.nextIPv4(queue)?.packet ?? [] : []
        }
        #expect(reply.suffix(4) == [0x61, 0x62, 0x63, 0x64])
    }

    @Test(
        "B122: a write that the kernel refuses changes nothing for the next ones"
    )
    func refusedWrite() throws {
        let (outcomes, reply) = try Namespace.run {
            let queue = try Self.openDevice()
            // NEEDS_CSUM with a start behind the packet's end (Virtio 1.2, section 5.1.6.2).
            let impossible: [UInt8] = [1, 0, 0, 0, 0, 0, 0xff, 0x7f, 0, 0, 0, 0] + Self.echoRequest
            let good = [UInt8](repeating: 0, count: 12) + Self.echoRequest
            var outcomes: [TunnelWrite] = []
            for _ in 0..<3 {
                outcomes.append(queue.write(impossible.span))
                outcomes.append(queue.write(good.span))
            }
            return (outcomes, try Self.nextIPv4(queue)?.packet ?? [])
        }
        let refused = TunnelWrite.refused(.invalidArgument)
        #expect(outcomes == [refused, .written, refused, .written, refused, .written])
        #expect(reply.count == 32)
    }

    @Test func aDeviceThatIsDownRefusesAndRecovers() throws {
        let outcomes = try Namespace.run {
            let queue = try Self.openDevice(offload: .none)
            try Namespace.ip("link set dut down")
            let down = queue.write(Self.echoRequest.span)
            try Namespace.ip("link set dut up")
            return [down, queue.write(Self.echoRequest.span)]
        }
        #expect(outcomes == [.refused(.inputOutput), .written])
    }

    @Test func aDeviceThatIsRemovedWakesThePollerAndIsGone() throws {
        let (woken, read, write) = try Namespace.run {
            let queue = try Self.openDevice()
            var buffer = PacketBuffer()
            while queue.read(into: &buffer) != .nothing {}
            var poller = try Poller()
            try poller.add(queue.descriptor.number, token: 7, events: .readable)
            try Namespace.ip("link del dut")
            var events = [PolledEvent.none]
            let woken = poller.wait(into: &events, until: Clock.now() + .seconds(20))
            return (woken, queue.read(into: &buffer), queue.write(([UInt8](repeating: 0, count: 12)).span))
        }
        #expect(woken == 1)
        #expect(read == .gone)
        #expect(write == .gone)
    }

    @Test func nothingWaitsInAnEmptyQueue() throws {
        let read = try Namespace.run {
            let queue = try Self.openDevice()
            var buffer = PacketBuffer()
            while queue.read(into: &buffer) != .nothing {}
            return queue.read(into: &buffer)
        }
        #expect(read == .nothing)
    }

    @Test func whatTheQueueCannotHoldIsCounted() throws {
        let (length, before, after) = try Namespace.run {
            let queue = try Self.openDevice(offload: .none)
            try Namespace.ip("link set dut txqueuelen 5")
            let length = try NetworkInterface.queueLength(of: "dut")
            let before = try Self.dropped("dut")
            try SegmentedDatagrams.send(count: 20, size: 1000, to: "10.9.0.2")
            let after = try Self.dropped("dut")
            _ = consume queue
            return (length, before, after)
        }
        #expect(length == 5)
        #expect(before == 0)
        // 15 of the 20, and perhaps multicast reports of the kernel's own.
        #expect((15...20).contains(try #require(after)))
    }

    /// How many packets an interface has dropped instead of sending, by the kernel's own list (proc_pid_net(5)).
    private static func dropped(_ name: String) throws -> Int? {
        let list = String(decoding: try SmallFile.read("/proc/thread-self/net/dev", limit: 1 << 16), as: UTF8.self)
        for line in list.split(separator: "\n") {
            let words = line.split { $0 == " " || $0 == ":" }
            // The name, eight figures of what was received, then octets, packets, errors and drops of what was sent.
            if words.first.map(String.init) == name, words.count > 12 { return Int(words[12]) }
        }
        return nil
    }

    @Test func datagramsOfOneSendArriveAsOneSuperPacket() throws {
        let packets = try Namespace.run {
            let queue = try Self.openDevice(offload: .fullWithUDP)
            try SegmentedDatagrams.send(count: 10, size: 1000, to: "10.9.0.2")
            return try Self.nextIPv4(queue).map { [$0.header, $0.packet] } ?? []
        }
        try #require(packets.count == 2)
        // virtio_net_hdr_v1: NEEDS_CSUM, GSO_UDP_L4 (5), gso_size 1000; IPv4 and UDP headers and 10 × 1000 octets.
        #expect(packets[0][0] == 1)
        #expect(packets[0][1] == 5)
        #expect(packets[0][4...5] == [0xe8, 0x03])
        #expect(packets[1].count == 20 + 8 + 10_000)
    }

    @Test func withoutOffloadTheKernelCutsThemItself() throws {
        let packet = try Namespace.run {
            let queue = try Self.openDevice(offload: .none)
            try SegmentedDatagrams.send(count: 10, size: 1000, to: "10.9.0.2")
            return try Self.nextIPv4(queue)?.packet ?? []
        }
        #expect(packet.count == 20 + 8 + 1000)
    }
}

/// UDP with segmentation offload (UDP_SEGMENT, udp(7)).
private enum SegmentedDatagrams {
    static func send(count: Int, size: Int, to address: String) throws {
        let number = socket(AF_INET, CInt(SOCK_DGRAM.rawValue), 0)
        defer { close(number) }
        var segment = CInt(size)
        // SOL_UDP 17, UDP_SEGMENT 103.
        try #require(unsafe setsockopt(number, 17, 103, &segment, 4) == 0)
        var target = sockaddr_in()
        target.sin_family = sa_family_t(AF_INET)
        target.sin_port = UInt16(9).bigEndian
        target.sin_addr.s_addr = unsafe inet_addr(address)
        let data = [UInt8](repeating: 0x55, count: count * size)
        let sent = unsafe withUnsafePointer(to: &target) { target in
            unsafe target.withMemoryRebound(to: sockaddr.self, capacity: 1) { target in
                unsafe sendto(number, data, data.count, 0, target, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        try #require(sent == data.count)
    }
}
