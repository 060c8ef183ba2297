/// What the kernel remembers of the packets that it forwards (nf_conntrack): who talks to whom, and under which
/// address.

public import Addresses
internal import Bytes
internal import Glibc

/// One exchange as the kernel tracks it.
public struct TrackedFlow: Hashable, Sendable {
    /// Who sent the first packet, and to whom, before any translation.
    public var source: IPAddress
    public var destination: IPAddress
    /// The protocol's number.
    public var transport: UInt8
    /// Whether the destination sees another source.
    public var isSourceTranslated: Bool
    public var mark: UInt32
    /// The attributes by which the kernel finds it again, as it wrote them.
    private var identity: [UInt8] = []

    public init(
        from source: IPAddress, to destination: IPAddress, transport: UInt8, isSourceTranslated: Bool = false,
        mark: UInt32 = 0
    ) {
        self.source = source
        self.destination = destination
        self.transport = transport
        self.isSourceTranslated = isSourceTranslated
        self.mark = mark
    }

    /// Those of one family that are wanted, in the network namespace of the calling thread; needs CAP_NET_ADMIN.
    public static func all(
        isIPv4: Bool, where isWanted: (TrackedFlow) -> Bool
    ) throws(SystemCallError) -> [TrackedFlow] {
        try NetlinkSocket(.netfilter).dump(Message.get, body: Message.head(isIPv4: isIPv4)) { message in
            TrackedFlow(message).flatMap { isWanted($0) ? $0 : nil }
        }
    }

    /// Has the kernel forget some: their next packets are looked at as if they were the first.
    ///
    /// One that is over by itself is no error.
    public static func forget(_ flows: [TrackedFlow]) throws(SystemCallError) {
        guard !flows.isEmpty else { return }
        let socket = try NetlinkSocket(.netfilter)
        for flow in flows {
            do throws(SystemCallError) {
                let head = Message.head(isIPv4: flow.source.isIPv4)
                try socket.request(Message.delete, body: head + flow.identity)
            } catch {
                guard error.errno == .noSuchFile else { throw error }
            }
        }
    }
}

/// The kernel's words (linux/netfilter/nfnetlink_conntrack.h); unlike other netlink, numbers are in network order.
private enum Message {
    static let get: UInt16 = 1 << 8 | 1
    static let delete: UInt16 = 1 << 8 | 2
    static let headLength = 4

    static let tuple: UInt16 = 1
    static let status: UInt16 = 3
    static let mark: UInt16 = 8
    static let id: UInt16 = 12
    static let zone: UInt16 = 18
    /// Inside of a tuple.
    static let addresses: UInt16 = 1
    static let transport: UInt16 = 2
    /// Inside of its addresses.
    static let source = (ipv4: UInt16(1), ipv6: UInt16(3))
    static let destination = (ipv4: UInt16(2), ipv6: UInt16(4))
    /// Inside of its transport.
    static let number: UInt16 = 1

    /// IPS_SRC_NAT.
    static let sourceIsTranslated: UInt32 = 1 << 4

    /// The family, version 0, no resource.
    static func head(isIPv4: Bool) -> [UInt8] { [UInt8(isIPv4 ? AF_INET : AF_INET6), 0, 0, 0] }
}

extension TrackedFlow {
    init?(_ message: NetlinkMessage) {
        let payload = message.payload
        guard payload.count >= Message.headLength else { return nil }
        let attributes = message.attributes(after: Message.headLength)
        guard let tuple = attributes[Message.tuple] else { return nil }
        let parts = NetlinkMessage.attributes(of: payload, in: tuple)
        guard let inner = parts[Message.addresses], let carrier = parts[Message.transport] else { return nil }
        let addresses = NetlinkMessage.attributes(of: payload, in: inner)
        guard
            let source = message.address(addresses[Message.source.ipv4] ?? addresses[Message.source.ipv6]),
            let destination = message.address(
                addresses[Message.destination.ipv4] ?? addresses[Message.destination.ipv6]),
            let number = NetlinkMessage.attributes(of: payload, in: carrier)[Message.number], number.count == 1
        else { return nil }
        func value(_ range: Range<Int>?) -> UInt32 {
            range.map { $0.count == 4 ? payload.span.uint32(at: $0.lowerBound) : 0 } ?? 0
        }
        self.init(
            from: source, to: destination, transport: payload[number.lowerBound],
            isSourceTranslated: value(attributes[Message.status]) & Message.sourceIsTranslated != 0,
            mark: value(attributes[Message.mark]))
        for key in [Message.tuple, Message.zone, Message.id] {
            guard let range = attributes[key] else { continue }
            // With its own header, which stands before the value, and up to where the next one begins.
            identity += payload[range.lowerBound - 4..<range.upperBound]
            identity += [UInt8](repeating: 0, count: -range.count & 3)
        }
    }
}
