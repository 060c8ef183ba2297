/// UDP on its way to the device: what a flow's socket receives, and what the network says about what was sent.

import Addresses
import Bytes
import Flows
import LinuxIO
import Wire

extension Worker {
    /// How many datagrams of one flow are taken in a turn; what is left comes in the next one.
    private static var answersPerTurn: Int { 32 }

    /// Takes what waits at a flow's socket.
    mutating func takeAnswers(_ handle: Handle) {
        datagrams.makeBuffers()
        // Taken out while it is used, so that the worker can be changed at the same time.
        var buffer: [UInt8] = []
        swap(&buffer, &datagrams.received)
        defer { swap(&buffer, &datagrams.received) }
        for _ in 0..<Self.answersPerTurn {
            guard datagrams.flows.contains(handle) else { return }
            var space = buffer.mutableSpan
            let receipt = datagrams.flows[handle].socket.value.receive(into: &space)
            switch receipt {
            case .datagram(let datagram): answer(handle, buffer.span.extracting(0..<datagram.count))
            case .wouldBlock: return
            case .failed(let reason): datagramFailed(handle, reason)
            }
        }
    }

    /// Writes one answer, from the address that the device has asked.
    private mutating func answer(_ handle: Handle, _ data: Span<UInt8>) {
        let key = datagrams.flows[handle].key
        let isIPv4 = key.client.address.isIPv4
        // What came over IPv6, or from our own service, may be longer than IPv4 can hold.
        guard UDPHeader.length + data.count <= 65535 - (isIPv4 ? 20 : 0) else {
            counters.udpDropped += 1
            return
        }
        var packet: [UInt8] = []
        swap(&packet, &datagrams.packet)
        defer { swap(&packet, &datagrams.packet) }
        var sum = InternetChecksum()
        sum.add(data)
        var space = packet.mutableSpan
        let length = OutgoingUDP(source: key.target, destination: key.client, payloadCount: data.count)
            .write(into: &space, withVirtio: false, payloadSum: sum)
        space.copy(data, at: length)
        sendDatagram(packet.span.extracting(0..<length + data.count), mtu: datagrams.flows[handle].mtu)
        counters.udpAnswered += 1
        datagrams.flows[handle].answered += 1
        datagrams.flows[handle].down += data.count
        guard datagrams.flows[handle].kind == .service else {
            return datagrams.keep(handle, until: now + shared.settings.datagrams.idle)
        }
        if datagrams.flows[handle].answered >= datagrams.flows[handle].asked { closeDatagram(handle) }
    }

    /// Writes a packet whose checksums are whole, in fragments where it does not fit.
    mutating func sendDatagram(_ packet: Span<UInt8>, mtu: Int) {
        guard output != nil else { return }
        guard packet.count > mtu else { return output.value.send(packet, counters: &counters) }
        datagrams.makeBuffers()
        var piece: [UInt8] = []
        swap(&piece, &datagrams.fragment)
        defer { swap(&piece, &datagrams.fragment) }
        do throws(WireError) {
            let cutter = try FragmentCutter(packet, mtu: mtu, identification: datagrams.nextIdentification())
            for index in 0..<cutter.count {
                var space = piece.mutableSpan
                let length = cutter.write(index, of: packet, into: &space)
                output.value.send(piece.span.extracting(0..<length), counters: &counters)
            }
        } catch {
            preconditionFailure("a packet of our own that cannot be read: \(error)")
        }
    }

    /// Tells the device what the network says about a datagram of its flow; the flow goes on (RFC 4787, REQ-12).
    mutating func datagramFailed(_ handle: Handle, _ reason: ErrorNumber) {
        switch reason {
        case .connectionRefused: sendError(.portUnreachable, about: handle)
        case .hostUnreachable, .networkUnreachable: sendError(.hostUnreachable, about: handle)
        case .messageTooLong: sendTooBig(handle)
        default: counters.udpDropped += 1
        }
    }

    private mutating func sendTooBig(_ handle: Handle) {
        let isOutsideIPv4 = datagrams.flows[handle].isOutsideIPv4
        guard var mtu = datagrams.flows[handle].socket.value.pathMTU(isIPv4: isOutsideIPv4) else { return }
        if !datagrams.flows[handle].key.client.address.isIPv4 {
            // An IPv6 header is 20 octets longer than that of the way that it is translated to (RFC 7915, section 4.2).
            if isOutsideIPv4 { mtu += 20 }
            mtu = max(mtu, 1280)
        }
        sendError(.packetTooBig(mtu: mtu), about: handle)
    }

    /// Sends an error about the flow's last datagram.
    mutating func sendError(_ error: ICMPError, about handle: Handle) {
        let key = datagrams.flows[handle].key
        let head = datagrams.flows[handle].head
        let ip = IPPacket(
            source: key.client.address, destination: key.target.address, transport: .udp, hopLimit: 64,
            payload: datagrams.flows[handle].headerStart..<head.count)
        if sendError(error, about: head.span, ip) { counters.udpErrorsTold += 1 }
    }
}
