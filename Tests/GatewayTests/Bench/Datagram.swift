/// IP packets that are no TCP, octet by octet from the RFCs.

import Addresses

enum Datagram {
    /// An IPv4 packet without options (RFC 791).
    static func ipv4(
        _ transport: UInt8, from source: String, to destination: String, _ payload: [UInt8],
        identification: UInt16 = 0, fragment: UInt16 = 0
    ) -> [UInt8] {
        var header: [UInt8] = [0x45, 0] + word(UInt16(20 + payload.count)) + word(identification) + word(fragment)
        header += [64, transport, 0, 0] + octets(source) + octets(destination)
        seal(&header, at: 10, over: header)
        return header + payload
    }

    /// An IPv6 packet without extension headers (RFC 8200, section 3).
    static func ipv6(_ transport: UInt8, from source: String, to destination: String, _ payload: [UInt8]) -> [UInt8] {
        [0x60, 0, 0, 0] + word(UInt16(payload.count)) + [transport, 64] + octets(source) + octets(destination)
            + payload
    }

    /// A packet of the family of its addresses whose checksum stands at `place` of the payload.
    static func packet(
        _ transport: UInt8, from source: String, to destination: String, _ payload: [UInt8], sumAt place: Int
    ) -> [UInt8] {
        let isVersion4 = source.contains(".")
        var packet =
            isVersion4
            ? ipv4(transport, from: source, to: destination, payload)
            : ipv6(transport, from: source, to: destination, payload)
        let start = packet.count - payload.count
        let front = transport == 1 ? [] : pseudoHeader(of: packet, transportLength: payload.count)
        seal(&packet, at: start + place, over: front + payload)
        return packet
    }

    static func udp(
        from source: String, _ sourcePort: UInt16 = 50001, to destination: String, _ port: UInt16, _ data: [UInt8]
    ) -> [UInt8] {
        let header = word(sourcePort) + word(port) + word(UInt16(8 + data.count)) + [0, 0]
        return packet(17, from: source, to: destination, header + data, sumAt: 6)
    }

    /// An echo request (RFC 792; RFC 4443, section 4.1).
    static func ping(
        from source: String, to destination: String, id: UInt16 = 7, sequence: UInt16 = 1, _ data: [UInt8]
    ) -> [UInt8] {
        let isVersion4 = source.contains(".")
        let message: [UInt8] = [isVersion4 ? 8 : 128, 0, 0, 0] + word(id) + word(sequence) + data
        return packet(isVersion4 ? 1 : 58, from: source, to: destination, message, sumAt: 2)
    }

    /// A router's word that `quoted` is too big (RFC 1191, section 4; RFC 4443, section 3.2).
    static func tooBig(from source: String, to destination: String, mtu: UInt16, about quoted: [UInt8]) -> [UInt8] {
        let isVersion4 = source.contains(".")
        let quote = Array(quoted.prefix(isVersion4 ? 28 : 1232))
        // The field has 16 bits, in ICMPv6 32.
        let message: [UInt8] = (isVersion4 ? [3, 4] : [2, 0]) + [0, 0, 0, 0] + word(mtu) + quote
        return packet(isVersion4 ? 1 : 58, from: source, to: destination, message, sumAt: 2)
    }

    /// A packet without options in fragments for links of this MTU (RFC 791, section 3.2; RFC 8200, section 4.5).
    static func fragments(of packet: [UInt8], mtu: Int) throws -> [[UInt8]] {
        let isVersion4 = packet[0] >> 4 == 4
        let headerLength = isVersion4 ? 20 : 40
        let payload = Array(packet[headerLength...])
        let size = (mtu - headerLength - (isVersion4 ? 0 : 8)) / 8 * 8
        return stride(from: 0, to: payload.count, by: size).map { start in
            let piece = Array(payload[start..<min(start + size, payload.count)])
            let isLast = start + size >= payload.count
            var header = Array(packet[..<headerLength])
            guard isVersion4 else {
                header.replaceSubrange(4..<7, with: word(UInt16(8 + piece.count)) + [44])
                return header + [packet[6], 0] + word(UInt16(start) | (isLast ? 0 : 1)) + [0, 0, 0, 77] + piece
            }
            header.replaceSubrange(2..<4, with: word(UInt16(20 + piece.count)))
            header.replaceSubrange(6..<8, with: word(UInt16(start / 8) | (isLast ? 0 : 0x2000)))
            header.replaceSubrange(10..<12, with: [0, 0])
            seal(&header, at: 10, over: header)
            return header + piece
        }
    }

    static func word(_ value: UInt16) -> [UInt8] { [UInt8(value >> 8), UInt8(truncatingIfNeeded: value)] }

    private static func seal(_ bytes: inout [UInt8], at place: Int, over covered: [UInt8]) {
        let sum = ~onesComplementSum(covered)
        bytes[place] = UInt8(sum >> 8)
        bytes[place + 1] = UInt8(truncatingIfNeeded: sum)
    }

    private static func octets(_ text: String) -> [UInt8] {
        let address = Bench.address(text, 0).address
        let high = (0..<8).map { UInt8(truncatingIfNeeded: address.high >> (56 - 8 * $0)) }
        let low = (0..<8).map { UInt8(truncatingIfNeeded: address.low >> (56 - 8 * $0)) }
        return address.isIPv4 ? Array(low[4...]) : high + low
    }
}
