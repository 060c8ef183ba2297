/// Echo requests are answered here, errors about our own packets are believed when they quote a flow that exists, and
/// errors of ours are sent where they may be, and not too often.

import Addresses
import Bytes
import Flows
import Streams
import Wire

extension Worker {
    mutating func receiveICMP(_ bytes: Span<UInt8>, _ ip: IPPacket) throws(WireError) {
        switch try ICMPMessage.parse(bytes, of: ip) {
        case .echoRequest:
            answerEcho(bytes, ip)
        case .packetTooBig(let mtu, let quote):
            lowerPathMTU(mtu, quote, of: bytes)
        case .error:
            // Unreachables are soft errors for an established stream (RFC 1122, section 4.2.3.9), and a flow that
            // is not established has sent nothing yet.
            counters.icmpErrorsIgnored += 1
        case .other:
            counters.droppedNoise += 1
        }
    }

    /// Answers a ping: what is behind the tunnel is reached through a proxy, so the answer is ours, and says whether
    /// that way is open.
    private mutating func answerEcho(_ bytes: Span<UInt8>, _ ip: IPPacket) {
        guard ip.isUnicast else {
            counters.droppedNoise += 1
            return
        }
        guard isReachable(from: ip.source) else {
            if sendError(.hostUnreachable, about: bytes, ip) { counters.echoRefused += 1 }
            return
        }
        guard icmpLimits.allow(ip.source, now: now) else {
            counters.icmpLimited += 1
            return
        }
        var answer = [UInt8](repeating: 0, count: bytes.count + VirtioHeader.length)
        var span = answer.mutableSpan
        counters.echoReplies += 1
        let length = ICMPEchoReply.write(
            to: bytes, ip, identification: UInt16(truncatingIfNeeded: counters.echoReplies), into: &span,
            withVirtio: false)
        sendDatagram(answer.span.extracting(0..<length), mtu: shared.settings.tcp.interfaceMTU)
    }

    /// Sends an ICMP error about a packet where that is allowed; returns whether it did.
    mutating func sendError(_ error: ICMPError, about bytes: Span<UInt8>, _ ip: IPPacket) -> Bool {
        guard ICMPError.isAllowed(about: bytes, ip), !shared.settings.datagrams.broadcasts.contains(ip.destination)
        else {
            counters.droppedNoise += 1
            return false
        }
        guard icmpLimits.allow(ip.source, now: now) else {
            counters.icmpLimited += 1
            return false
        }
        var message = [UInt8](repeating: 0, count: ICMPError.maximumLength)
        var span = message.mutableSpan
        let length = error.write(about: bytes, ip, into: &span, withVirtio: false)
        output?.send(message.span.extracting(0..<length), counters: &counters)
        return true
    }

    /// Takes a Packet Too Big about one of our packets: a segment is sent again at once, smaller, and the next
    /// datagrams are cut.
    private mutating func lowerPathMTU(_ mtu: Int, _ quote: ICMPQuote, of bytes: Span<UInt8>) {
        let key = FlowKey(client: quote.destination, target: quote.source)
        if quote.transport == .udp { return lowerMTU(mtu, ofDatagrams: key, bytes) }
        guard quote.transport == .tcp, let sequence = quote.sequence else { return }
        guard let handle = table.find(key) else {
            let isOthers = handsOver(bytes, key, isChecksumTrusted: true, owners: shared.owners)
            if !isOthers { counters.icmpErrorsIgnored += 1 }
            return
        }
        guard flows[handle].endpoint.value.pathMTU(loweredTo: mtu, quotedSequence: sequence) else {
            counters.icmpErrorsIgnored += 1
            return
        }
        counters.icmpErrorsAccepted += 1
        touch(handle)
    }

    private mutating func lowerMTU(_ mtu: Int, ofDatagrams key: FlowKey, _ bytes: Span<UInt8>) {
        guard let handle = datagrams.find(key) else {
            let isOthers = handsOver(bytes, key, isChecksumTrusted: true, owners: shared.datagramOwners)
            if !isOthers { counters.icmpErrorsIgnored += 1 }
            return
        }
        // Below these it is rather an attack than a link (RFC 8200, section 5; RFC 791, section 3.2).
        let least = key.client.address.isIPv4 ? 576 : 1280
        guard mtu >= least, mtu < datagrams.flows[handle].mtu else {
            counters.icmpErrorsIgnored += 1
            return
        }
        datagrams.flows[handle].mtu = mtu
        counters.icmpErrorsAccepted += 1
    }

    /// Keeps a fragment until its datagram is whole, and takes that.
    mutating func takeFragment(_ bytes: Span<UInt8>, _ ip: IPPacket) {
        switch fragments.add(bytes, ip, now: now) {
        case .incomplete: break
        case .refused: counters.droppedFragment += 1
        case .complete(let datagram): receive(datagram.span, isChecksumTrusted: false)
        }
    }
}
