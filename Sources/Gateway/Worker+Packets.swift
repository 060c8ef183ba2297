/// Packets of the TUN device: whose each is, and what becomes of those that are no flow's.

import Addresses
import Bytes
import Flows
import LinuxIO
import Streams
import Wire

extension Worker {
    /// How many packets are read before touched flows are served: enough to answer a burst with one ACK a
    /// flow, few enough for the ACK clock of a fast upload.
    private static var packetsPerBatch: Int { 24 }

    /// Reads a batch of packets; returns whether the device may have more.
    mutating func readPackets() -> Bool {
        guard output != nil else { return false }
        for _ in 0..<Self.packetsPerBatch {
            switch output.value.read(into: &packet) {
            case .packet(let length):
                counters.packetsRead += 1
                counters.bytesRead += length
                take(length)
            case .nothing: return false
            case .gone:
                tunnelIsGone()
                return false
            case .failed(let reason):
                log(.warning, "tunnel-read") { $0.add("cause", "\(reason)") }
                return false
            }
        }
        return true
    }

    /// Takes the packet in the read buffer, with its virtio header if the device has them.
    private mutating func take(_ length: Int) {
        // The buffer is taken out for as long as the worker looks at it, so that both can be used at a time.
        var buffer = PacketBuffer.empty
        swap(&buffer, &packet)
        defer { swap(&buffer, &packet) }
        let bytes = buffer.storage.span.extracting(0..<length)
        guard output.value.hasVirtioHeader else {
            output.value.record(bytes, virtio: nil)
            return receive(bytes, isChecksumTrusted: false)
        }
        do throws(WireError) {
            let header = try VirtioHeader.parse(bytes)
            let packet = bytes.extracting(VirtioHeader.length..<length)
            output.value.record(packet, virtio: header)
            receive(packet, isChecksumTrusted: header.isChecksumTrusted)
        } catch {
            counters.note(error)
        }
    }

    /// Takes one IP packet, however it came here.
    mutating func receive(_ bytes: Span<UInt8>, isChecksumTrusted: Bool) {
        do throws(WireError) {
            let ip = try IPPacket.parse(bytes)
            guard ip.fragment == nil else { return takeFragment(bytes, ip) }
            if !isChecksumTrusted, !ip.transportChecksumIsValid(in: bytes) { throw .checksum }
            switch ip.transport {
            case .tcp: try receiveTCP(bytes, ip, isChecksumTrusted: isChecksumTrusted)
            case .udp: try receiveUDP(bytes, ip, isChecksumTrusted: isChecksumTrusted)
            case .icmp, .icmpv6: try receiveICMP(bytes, ip)
            }
        } catch {
            counters.note(error)
        }
    }

    private mutating func receiveTCP(
        _ bytes: Span<UInt8>, _ ip: IPPacket, isChecksumTrusted: Bool
    ) throws(WireError) {
        guard ip.isUnicast else {
            counters.droppedNoise += 1
            return
        }
        let header = try TCPHeader.parse(bytes, of: ip)
        let key = FlowKey(
            client: SocketAddress(ip.source, header.sourcePort),
            target: SocketAddress(ip.destination, header.destinationPort))
        let payload = bytes.extracting(header.payload)
        if let handle = table.find(key) {
            if header.segment.isOpening, succeeds(handle, header.segment) { return }
            up(handle, header.segment, payload: payload)
            return
        }
        if handsOver(bytes, key, isChecksumTrusted: isChecksumTrusted, owners: shared.owners) { return }
        if header.segment.isOpening { note(header.segment, key, ip) }
        receiveStray(key, header.segment, payload: payload)
    }

    /// Remembers that a device has opened a flow.
    private mutating func note(_ segment: TCPSegment, _ key: FlowKey, _ ip: IPPacket) {
        let syn = SeenSYN(
            client: key.client, target: key.target.address, hopLimit: ip.hopLimit,
            timestamp: segment.options.timestamps?.value,
            at: now)
        activities.change(key.client.address) { $0.note(syn) }
    }

    /// A segment without a flow: one that is remembered, one that opens, or one that is refused.
    mutating func receiveStray(_ key: FlowKey, _ segment: TCPSegment, payload: Span<UInt8>) {
        if let record = lingering.find(key, now: now) { return receiveLate(key, segment, record) }
        if segment.isOpening { return open(key, syn: segment) }
        if openFromCookie(key, segment, payload: payload) { return }
        if let reset = TCPReset.answering(segment) { reply(reset, to: key) }
    }

    /// A segment of a flow that is over but remembered.
    private mutating func receiveLate(_ key: FlowKey, _ segment: TCPSegment, _ record: TimeWaitRecord) {
        switch record.receive(segment) {
        case .reply(let answer): reply(answer, to: key)
        case .silence: break
        case .reopen:
            counters.timeWaitReused += 1
            lingering.remove(key)
            open(key, syn: segment, beyond: record.sendNext)
        }
    }

    /// Sends a segment that belongs to no endpoint.
    mutating func reply(_ segment: TCPSegment, to key: FlowKey) {
        if segment.flags.contains(.reset) { counters.resetsSent += 1 }
        output?.send(segment, gsoSize: 0, payload: ByteRuns(), of: key, pool: pool, counters: &counters)
    }
}

extension TCPSegment {
    /// Whether it asks for a new connection.
    fileprivate var isOpening: Bool { flags.contains(.syn) && flags.isDisjoint(with: [.acknowledge, .reset, .fin]) }
}
