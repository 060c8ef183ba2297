/// The Internet checksum once more, written from RFC 1071 alone and as plain as it stands there, so that what the
/// gateway writes is not checked by the code that wrote it.

/// The one's complement sum of 16-bit words, an odd last octet being padded with zero (RFC 1071, section 1).
func onesComplementSum(_ bytes: some Sequence<UInt8>) -> UInt16 {
    var sum: UInt32 = 0
    var high: UInt32?
    for byte in bytes {
        if let first = high {
            sum += first << 8 | UInt32(byte)
            high = nil
        } else {
            high = UInt32(byte)
        }
        if sum > 0xffff { sum = (sum & 0xffff) + (sum >> 16) }
    }
    if let first = high { sum += first << 8 }
    while sum > 0xffff { sum = (sum & 0xffff) + (sum >> 16) }
    return UInt16(sum)
}

/// What TCP, UDP and ICMPv6 sum in front of their own octets (RFC 9293, section 3.1; RFC 8200, section 8.1).
func pseudoHeader(of packet: [UInt8], transportLength: Int) -> [UInt8] {
    let length = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: transportLength >> $0) }
    if packet[0] >> 4 == 4 { return Array(packet[12..<20]) + [0, packet[9]] + length[2...] }
    return Array(packet[8..<40]) + length + [0, 0, 0, packet[6]]
}

/// Whether both sums of a packet without IP options or extension headers are right.
func sumsAreRight(_ packet: [UInt8]) -> Bool {
    let isVersion4 = packet[0] >> 4 == 4
    let headerLength = isVersion4 ? 20 : 40
    if isVersion4, onesComplementSum(packet[..<20]) != 0xffff { return false }
    let transport = packet[headerLength...]
    let isICMP = isVersion4 && packet[9] == 1
    let front = isICMP ? [] : pseudoHeader(of: packet, transportLength: transport.count)
    return onesComplementSum(front + transport) == 0xffff
}
