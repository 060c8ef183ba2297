/// One device as it is shown, and what the link says of it.

public import Addresses

/// What a neighbour table says: a MAC on an interface has an address.
public struct Sighting: Hashable, Sendable {
    public var address: IPAddress
    public var mac: MACAddress
    public var interface: String
    /// The second, counted from 1970, at which it last proved to be there.
    public var seen: Int64
    /// It says of itself that it is a router.
    public var isRouter: Bool

    public init(address: IPAddress, mac: MACAddress, interface: String, seen: Int64, isRouter: Bool = false) {
        self.address = address
        self.mac = mac
        self.interface = interface
        self.seen = seen
        self.isRouter = isRouter
    }
}

/// A device with all that is known of it.
public struct Device: Equatable, Sendable {
    public var identity: DeviceIdentity
    /// What people call it.
    public var name: String?
    public var mac: MACAddress?
    /// Where it was seen last.
    public var interface: String?
    /// IPv4 before IPv6, those of the link alone last.
    public var addresses: [IPAddress]
    /// What it calls itself when it asks for an address (DHCP).
    public var hostName: String?
    /// What to call it, for one without a name.
    public var proposal: NameProposal?
    /// The second, counted from 1970, of the first sighting; nil: never.
    public var firstSeen: Int64?
    public var seen: Int64?
    /// It says of itself that it is a router, so others may be behind it.
    public var isRouter: Bool
    public var assignment: Assignment?
    /// What it is called in a list: its name, else its MAC, else its address.
    public var label: String

    /// Whether people have named it or given it a profile.
    public var isKnown: Bool { name != nil || assignment != nil }
}

/// What a device without a name could be called.
public enum NameProposal: Equatable, Sendable, CustomStringConvertible {
    /// A name that is free.
    case name(String)
    /// A known device that is not seen any more, and calls itself the same: its MAC may have changed.
    case looksLike(String)

    public var description: String {
        switch self {
        case .name(let name): name
        case .looksLike(let name): "looks like \(name)"
        }
    }
}

/// Why a text is no device.
public enum DeviceError: Error, Equatable, Sendable, CustomStringConvertible {
    /// Neither a name nor a MAC nor an address.
    case unknown(String, near: String?)
    /// Several devices have the MAC.
    case severalInterfaces(MACAddress, [String])
    /// A MAC or an address of many.
    case notOne(String)

    public var description: String {
        switch self {
        case .unknown(let text, let near?): "no device is called \(Self.quoted(text)): did you mean `\(near)`?"
        case .unknown(let text, nil):
            "no device is called \(Self.quoted(text)): write a name, a MAC such as 3c:28:6d:12:34:56 or an address"
        case .severalInterfaces(let mac, let interfaces):
            "\(mac) is on \(interfaces.joined(separator: " and ")): write which, such as \(mac)@\(interfaces[0])"
        case .notOne(let text): "\(text) is not one device's: write the address of one"
        }
    }

    /// A text from outside, short and without what could move a terminal.
    private static func quoted(_ text: String) -> String {
        var shown = ""
        for scalar in text.unicodeScalars.prefix(64) {
            let isPlain = !scalar.properties.isDefaultIgnorableCodePoint && Self.isVisible(scalar)
            shown.unicodeScalars.append(isPlain ? scalar : "?")
        }
        return "`\(shown)\(text.unicodeScalars.count > 64 ? "…" : "")`"
    }

    private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: false
        default: true
        }
    }
}

extension IPAddress {
    /// IPv4 first, then by number; what is valid on its link alone comes last.
    static func isShownBefore(_ left: IPAddress, _ right: IPAddress) -> Bool {
        func rank(_ address: IPAddress) -> Int { (address.isLinkLocal ? 2 : 0) + (address.isIPv4 ? 0 : 1) }
        return (rank(left), left.high, left.low) < (rank(right), right.high, right.low)
    }
}
