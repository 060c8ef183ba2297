/// What is no TCP: echo requests are answered, UDP is refused at once so that QUIC falls back to TCP, and
/// errors about our own segments are believed when they quote a flow that exists.

import Addresses
import Bytes
import Flows
import Streams
import Wire

extension Worker {
    mutating func receiveUDP(_ bytes: Span<UInt8>, _ ip: IPPacket) throws(WireError) {
        _ = try UDPHeader.parse(bytes, of: ip)
        guard sendError(.portUnreachable, about: bytes, ip) else { return }
        counters.udpRefused += 1
    }

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

    /// Answers a ping: what is behind the tunnel is reached through a proxy, so the answer is ours.
    private mutating func answerEcho(_ bytes: Span<UInt8>, _ ip: IPPacket) {
        guard ip.isUnicast else {
            counters.droppedNoise += 1
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
        output?.send(answer.span.extracting(0..<length), counters: &counters)
    }

    /// Sends an ICMP error about a packet where that is allowed; returns whether it did.
    private mutating func sendError(_ error: ICMPError, about bytes: Span<UInt8>, _ ip: IPPacket) -> Bool {
        guard ICMPError.isAllowed(about: bytes, ip) else {
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

    /// Takes a Packet Too Big about one of our segments: it is sent again at once, smaller.
    private mutating func lowerPathMTU(_ mtu: Int, _ quote: ICMPQuote, of bytes: Span<UInt8>) {
        let key = FlowKey(client: quote.destination, target: quote.source)
        guard quote.transport == .tcp, let sequence = quote.sequence else { return }
        guard let handle = table.find(key) else {
            if !handsOver(bytes, key, isChecksumTrusted: true) { counters.icmpErrorsIgnored += 1 }
            return
        }
        guard flows[handle].endpoint.value.pathMTU(loweredTo: mtu, quotedSequence: sequence) else {
            counters.icmpErrorsIgnored += 1
            return
        }
        counters.icmpErrorsAccepted += 1
        touch(handle)
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
