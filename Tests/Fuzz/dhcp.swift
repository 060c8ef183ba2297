/// Any bytes as a packet of a link, and as what a DHCP server offers: an offer has what it says within the message.

import Addresses
import Bytes
import Wire

func fuzzDHCP(_ bytes: [UInt8]) {
    if let payload = DHCPMessage.payload(of: bytes.span) {
        precondition(payload.upperBound <= bytes.count, "a message leaves its packet")
    }
    guard bytes.count >= 34 else { return }
    // So that what the fuzzer finds is an answer to us, its own transaction and client are asked for.
    let client = bytes[28..<34].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    guard let offer = try? DHCPMessage.offer(bytes.span, to: bytes.span.uint32(at: 4), of: MACAddress(bits: client))
    else { return }
    precondition(4 * (offer.routers.count + offer.resolvers.count) <= bytes.count, "more than there is room for")
    precondition(offer.address.isIPv4 && offer.routers.allSatisfy(\.isIPv4), "an address of another family")
    // Octets that pad mean nothing (RFC 2132, section 3.1).
    let padded = bytes + [0, 0]
    let mac = MACAddress(bits: client)
    precondition((try? DHCPMessage.offer(padded.span, to: bytes.span.uint32(at: 4), of: mac)) == offer, "another offer")
    let other = MACAddress(bits: client ^ 1)
    precondition((try? DHCPMessage.offer(bytes.span, to: bytes.span.uint32(at: 4), of: other)) == nil, "not for us")
}
