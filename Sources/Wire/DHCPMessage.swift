/// DHCP messages (RFC 2131): what a client asks, and what a server offers.
///
/// As much of it as it takes to find out whether a server is on a link: nothing is ever requested.

public import Addresses
internal import Bytes

/// Why octets are no answer of a DHCP server to us.
public enum DHCPError: Error, Equatable, Sendable {
    case truncated(needed: Int, got: Int)
    /// A request, or an address that is not of Ethernet.
    case notAReply
    /// Another client's.
    case otherTransaction
    /// BOOTP without the cookie of RFC 2131, section 3.
    case noCookie
    /// An option that is longer than what is there, or shorter than what it says.
    case option(UInt8)
    /// No OFFER: nothing else answers a DISCOVER.
    case notAnOffer
}

/// What a server offers to a client that has asked who is there.
public struct DHCPOffer: Hashable, Sendable {
    /// The server's address (option 54); nil where it does not say, though it has to.
    public var server: IPAddress?
    /// The address that the client could have.
    public var address: IPAddress
    /// The routers that the client would use, the first one first (option 3).
    public var routers: [IPAddress]
    /// The resolvers that it would ask (option 6).
    public var resolvers: [IPAddress]
}

public enum DHCPMessage {
    public static let serverPort: UInt16 = 67
    public static let clientPort: UInt16 = 68
    /// What a BOOTP message has at least (RFC 1542, section 2.1): some servers drop shorter ones.
    static let minimumLength = 300
    /// Octets in front of the options, the cookie among them (RFC 2131, figure 1).
    static let fixedLength = 240
    private static let cookie: UInt32 = 0x6382_5363

    /// Options by their numbers (RFC 2132).
    private enum Option {
        static let pad: UInt8 = 0
        static let router: UInt8 = 3
        static let resolver: UInt8 = 6
        static let overload: UInt8 = 52
        static let kind: UInt8 = 53
        static let server: UInt8 = 54
        static let wanted: UInt8 = 55
        static let end: UInt8 = 255
    }

    private static let discoverKind: UInt8 = 1
    private static let offerKind: UInt8 = 2

    /// A DISCOVER of a client without an address, to be answered by broadcast (RFC 2131, section 4.1).
    ///
    /// `seconds` is how long the client has been asking; servers that stand in for others wait for it to grow.
    public static func discover(_ transaction: UInt32, from mac: MACAddress, seconds: UInt16) -> [UInt8] {
        var octets = [UInt8](repeating: 0, count: minimumLength)
        // BOOTREQUEST, Ethernet, six octets of address, no relay yet.
        octets.replaceSubrange(0..<4, with: [1, 1, 6, 0])
        octets.replaceSubrange(4..<8, with: octetsOf(transaction))
        octets.replaceSubrange(8..<10, with: [UInt8(seconds >> 8), UInt8(seconds & 0xff)])
        octets[10] = 0x80
        octets.replaceSubrange(28..<34, with: (0..<6).map { UInt8(mac.bits >> UInt64(40 - 8 * $0) & 0xff) })
        octets.replaceSubrange(236..<240, with: octetsOf(cookie))
        let options = [
            Option.kind, 1, discoverKind, Option.wanted, 4, 1, Option.router, Option.resolver, 51, Option.end,
        ]
        octets.replaceSubrange(fixedLength..<fixedLength + options.count, with: options)
        return octets
    }

    private static func octetsOf(_ word: UInt32) -> [UInt8] {
        [UInt8(word >> 24), UInt8(word >> 16 & 0xff), UInt8(word >> 8 & 0xff), UInt8(word & 0xff)]
    }

    /// Reads an OFFER to a client's DISCOVER.
    public static func offer(
        _ octets: Span<UInt8>, to transaction: UInt32, of mac: MACAddress
    ) throws(DHCPError) -> DHCPOffer {
        guard octets.count >= fixedLength else { throw .truncated(needed: fixedLength, got: octets.count) }
        guard octets[0] == 2, octets[1] == 1, octets[2] == 6 else { throw .notAReply }
        let client = (0..<6).reduce(UInt64(0)) { $0 << 8 | UInt64(octets[28 + $1]) }
        guard octets.uint32(at: 4) == transaction, client == mac.bits else { throw .otherTransaction }
        guard octets.uint32(at: 236) == cookie else { throw .noCookie }
        let options = try self.options(octets)
        guard options[Option.kind] == [offerKind] else { throw .notAnOffer }
        return DHCPOffer(
            server: try addresses(options, Option.server).first, address: IPAddress(v4: octets.uint32(at: 16)),
            routers: try addresses(options, Option.router), resolvers: try addresses(options, Option.resolver))
    }

    /// All options; those that stand in `file` and `sname` too, where a server says so (option 52).
    ///
    /// One that stands twice is one long option (RFC 3396, section 7).
    private static func options(_ octets: Span<UInt8>) throws(DHCPError) -> [UInt8: [UInt8]] {
        var options: [UInt8: [UInt8]] = [:]
        try read(octets.extracting(fixedLength..<octets.count), into: &options)
        let overload = options[Option.overload]?.first ?? 0
        if overload & 1 != 0 { try read(octets.extracting(108..<236), into: &options) }
        if overload & 2 != 0 { try read(octets.extracting(44..<108), into: &options) }
        return options
    }

    private static func read(_ field: Span<UInt8>, into options: inout [UInt8: [UInt8]]) throws(DHCPError) {
        var position = 0
        while position < field.count {
            let option = field[position]
            position += 1
            if option == Option.end { return }
            if option == Option.pad { continue }
            guard position < field.count, position + 1 + Int(field[position]) <= field.count else {
                throw .option(option)
            }
            let end = position + 1 + Int(field[position])
            options[option, default: []].append(copying: field.extracting(position + 1..<end))
            position = end
        }
    }

    /// The IPv4 addresses of an option: none where it is missing, else one at least.
    private static func addresses(
        _ options: [UInt8: [UInt8]], _ option: UInt8
    ) throws(DHCPError) -> [IPAddress] {
        guard let octets = options[option] else { return [] }
        guard !octets.isEmpty, octets.count % 4 == 0 else { throw .option(option) }
        let span = octets.span
        return stride(from: 0, to: octets.count, by: 4).map { IPAddress(v4: span.uint32(at: $0)) }
    }
}

extension DHCPMessage {
    /// A packet from a client without an address to every server of its link: its source is 0.0.0.0, whatever other
    /// addresses the interface has (RFC 2131, section 4.1).
    public static func packet(_ message: [UInt8]) -> [UInt8] {
        let udp = OutgoingUDP(
            source: SocketAddress(IPAddress(v4: 0), clientPort),
            destination: SocketAddress(IPAddress(v4: 0xffff_ffff), serverPort), payloadCount: message.count)
        var sum = InternetChecksum()
        sum.add(message.span)
        var packet = [UInt8](repeating: 0, count: IPv4.headerLength + UDPHeader.length)
        var space = packet.mutableSpan
        _ = udp.write(into: &space, withVirtio: false, payloadSum: sum)
        return packet + message
    }

    /// The message in a packet to a client; nil for any other packet.
    public static func payload(of packet: Span<UInt8>) -> Range<Int>? {
        guard let ip = try? IPPacket.parse(packet), let udp = try? UDPHeader.parse(packet, of: ip),
            ip.fragment == nil, udp.sourcePort == serverPort, udp.destinationPort == clientPort
        else { return nil }
        return udp.payload
    }
}
