/// A rule of the routing policy (ip-rule(8)): who asks which table.

public import Addresses
internal import CLinux
internal import Glibc

/// Rules are asked in the order of their priorities until one has an answer.
public struct KernelRule: Hashable, Sendable {
    /// What a packet that matches gets.
    public enum Action: Hashable, Sendable {
        case lookup(UInt32)
        /// Goes on with the first rule of a later priority.
        case `goto`(UInt32)
        case nothing
        case refuse
    }

    /// A mark that packets must bear.
    public struct Mark: Hashable, Sendable {
        public var value: UInt32
        public var mask: UInt32

        public init(value: UInt32, mask: UInt32) {
            self.value = value
            self.mask = mask
        }
    }

    public var isIPv4: Bool
    public var priority: UInt32
    public var source: IPPrefix?
    public var destination: IPPrefix?
    /// The interface by which a packet came; "lo" for those of this machine's own sockets.
    public var incoming: String?
    public var mark: Mark?
    /// The port of TCP that a packet comes from.
    public var sourcePort: UInt16?
    public var action: Action
    /// Answers of a prefix as short as this, or shorter, do not count.
    public var suppressed: Int?
    /// Whether the rule says something that this value cannot.
    public var hasMore = false

    public init(
        isIPv4: Bool, priority: UInt32, source: IPPrefix? = nil, destination: IPPrefix? = nil,
        incoming: String? = nil, mark: Mark? = nil, sourcePort: UInt16? = nil, _ action: Action,
        suppressed: Int? = nil
    ) {
        self.isIPv4 = isIPv4
        self.priority = priority
        self.source = source
        self.destination = destination
        self.incoming = incoming
        self.mark = mark
        self.sourcePort = sourcePort
        self.action = action
        self.suppressed = suppressed
    }

    init?(_ message: NetlinkMessage, family: UInt8) {
        let payload = message.payload
        guard message.type == UInt16(RTM_NEWRULE), payload.count >= 12, payload[0] == family else { return nil }
        let attributes = message.attributes(after: 12)
        isIPv4 = family == UInt8(AF_INET)
        priority = message.number(attributes[UInt16(FRA_PRIORITY)]) ?? 0
        source = message.address(attributes[UInt16(FRA_SRC)]).flatMap { IPPrefix($0, length: Int(payload[2])) }
        destination = message.address(attributes[UInt16(FRA_DST)]).flatMap { IPPrefix($0, length: Int(payload[1])) }
        incoming = message.text(attributes[UInt16(FRA_IIFNAME)])
        let mask = message.number(attributes[UInt16(FRA_FWMASK)]) ?? 0
        mark = mask == 0 ? nil : Mark(value: message.number(attributes[UInt16(FRA_FWMARK)]) ?? 0, mask: mask)
        // The kernel says "no suppression" as minus one.
        suppressed = message.number(attributes[UInt16(FRA_SUPPRESS_PREFIXLEN)]).flatMap { $0 == .max ? nil : Int($0) }
        switch CInt(payload[7]) {
        case CInt(FR_ACT_TO_TBL):
            action = .lookup(message.number(attributes[UInt16(FRA_TABLE)]) ?? UInt32(payload[4]))
        case CInt(FR_ACT_GOTO): action = .goto(message.number(attributes[UInt16(FRA_GOTO)]) ?? 0)
        case CInt(FR_ACT_NOP): action = .nothing
        default: action = .refuse
        }
        // Of another length they are there, and say nothing that we know.
        let carrier = attributes[UInt16(FRA_IP_PROTO)]
        let range = attributes[UInt16(FRA_SPORT_RANGE)]
        let protocolNumber = carrier.flatMap { $0.count == 1 ? payload[$0.lowerBound] : nil }
        let ports = range.flatMap {
            $0.count == 4 ? (payload.native16(at: $0.lowerBound), payload.native16(at: $0.lowerBound + 2)) : nil
        }
        if protocolNumber == UInt8(IPPROTO_TCP), let ports, ports.0 == ports.1 { sourcePort = ports.0 }
        let known = [FRA_PRIORITY, FRA_SRC, FRA_DST, FRA_IIFNAME, FRA_FWMASK, FRA_FWMARK, FRA_TABLE, FRA_GOTO]
        let harmless = [
            FRA_SUPPRESS_PREFIXLEN, FRA_PROTOCOL, FRA_PAD, FRA_SUPPRESS_IFGROUP, FRA_IP_PROTO, FRA_SPORT_RANGE,
            Self.sourcePortMask,
        ]
        hasMore =
            payload.native32(at: 8) & UInt32(FIB_RULE_INVERT) != 0
            || (carrier != nil || range != nil) && sourcePort == nil
            || attributes.keys.contains { !(known + harmless).map { UInt16($0) }.contains($0) }
    }

    /// FRA_SPORT_MASK (Linux 6.15), which the kernel adds to a rule of one port.
    private static let sourcePortMask = 28
}
