/// Any bytes as a packet of a link, and as what a DHCP server offers: an offer has what it says within the message.

import Addresses
import Bytes
import Wire

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let bytes = unsafe [UInt8](UnsafeBufferPointer(start: start, count: count))
    if let payload = DHCPMessage.payload(of: bytes.span) {
        precondition(payload.upperBound <= count, "a message leaves its packet")
    }
    guard count >= 34 else { return 0 }
    // So that what the fuzzer finds is an answer to us, its own transaction and client are asked for.
    let client = bytes[28..<34].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    guard let offer = try? DHCPMessage.offer(bytes.span, to: bytes.span.uint32(at: 4), of: MACAddress(bits: client))
    else { return 0 }
    precondition(4 * (offer.routers.count + offer.resolvers.count) <= count, "more addresses than there is room for")
    precondition(offer.address.isIPv4 && offer.routers.allSatisfy(\.isIPv4), "an address of another family")
    return 0
}
