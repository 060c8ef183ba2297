/// The `devices` list: names that stay names, and one identity for each.

internal import Addresses
public import Devices

extension NamedDevice {
    /// Reads `name` with `mac` and perhaps `interface`, or with `address`.
    init(_ section: Section) throws(ConfigurationError) {
        let name = try section.identifier("name")
        if let likeness = Self.likeness(of: name) {
            throw section.error(
                .badValue, "name", found: "\(Shown.text(name)), which could be \(likeness)",
                expected: "a name that is no MAC and no address")
        }
        self.init(name: name, identity: try Self.identity(section))
    }

    /// What a name could be taken for where a MAC, an address or a name may stand.
    static func likeness(of name: String) -> String? {
        let digits = name.unicodeScalars.filter { $0 != "." && $0 != "-" }
        let isHexadecimal = digits.allSatisfy { $0.hexDigit != nil }
        if isHexadecimal, digits.count == 12 { return "a MAC" }
        if name.contains("."), digits.allSatisfy(\.isDecimalDigit) { return "an address" }
        return nil
    }

    private static func identity(_ section: Section) throws(ConfigurationError) -> DeviceIdentity {
        let expected = "`mac` or `address`: what the device is known by"
        switch (section["mac"] != nil, section["address"] != nil) {
        case (true, true):
            throw section.error(.conflict, "address", found: "an address beside `mac`", expected: "one of both")
        case (true, false): return try mac(section)
        case (false, true): return try address(section)
        case (false, false): throw section.error(.missingKey, "mac", found: "no such key", expected: expected)
        }
    }

    private static func mac(_ section: Section) throws(ConfigurationError) -> DeviceIdentity {
        let expected = "the MAC of one device, such as \"3c:28:6d:12:34:56\""
        let text = try section.text("mac", expected) ?? ""
        guard let mac = MACAddress(parsing: text) else {
            throw section.error(.badValue, "mac", found: Shown.text(text), expected: expected)
        }
        guard !mac.isGroup, mac.bits != 0 else {
            let found = mac.bits == 0 ? "which is nobody's" : "which names a group of devices"
            throw section.error(.badValue, "mac", found: "\(mac), \(found)", expected: expected)
        }
        return .mac(mac, interface: try section.interface("interface"))
    }

    private static func address(_ section: Section) throws(ConfigurationError) -> DeviceIdentity {
        let expected = "the address of one device, such as \"192.168.50.40\""
        guard section["interface"] == nil else {
            throw section.error(
                .conflict, "interface", found: "an interface beside `address`", expected: "an interface beside `mac`")
        }
        let text = try section.text("address", expected) ?? ""
        guard let address = IPAddress(parsing: text) else {
            throw section.error(.badValue, "address", found: Shown.text(text), expected: expected)
        }
        guard address.isOfOneDevice else {
            throw section.error(
                .badValue, "address", found: "\(address), which is no device's own", expected: expected)
        }
        return .address(address)
    }

    /// The name and what the device is known by, as `init` reads them.
    var members: [JSON.Member] {
        [JSON.Member("name", .string(name))] + identity.members
    }
}

extension DeviceIdentity {
    /// `mac` and `interface`, or `address`.
    var members: [JSON.Member] {
        switch self {
        case .address(let address): return [JSON.Member("address", .string(address.description))]
        case .mac(let mac, let interface):
            var members = [JSON.Member("mac", .string(mac.description))]
            if let interface { members.append(JSON.Member("interface", .string(interface))) }
            return members
        }
    }

    /// The same device wherever it is.
    var onEachInterface: DeviceIdentity {
        if case .mac(let mac, _) = self { .mac(mac, interface: nil) } else { self }
    }

    /// Whether one device could be both.
    func overlaps(_ other: DeviceIdentity) -> Bool {
        switch (self, other) {
        case (.mac(let mac, let interface), .mac(let otherMAC, let otherInterface)):
            mac == otherMAC && (interface == nil || otherInterface == nil || interface == otherInterface)
        case (.address(let address), .address(let other)): address == other
        case (.mac, .address), (.address, .mac): false
        }
    }
}

extension IPAddress {
    /// Whether a single machine of the lab can have the address on its own.
    var isOfOneDevice: Bool {
        !isUnspecified && !isLoopback && !isMulticast && !isLimitedBroadcast && (isIPv4 || !isLinkLocal)
    }
}

extension DeviceOptions {
    /// Reads the devices at the top of the file.
    static func list(_ top: Section) throws(ConfigurationError) -> [DeviceOptions] {
        let expected = "a list of { name, mac or address, profile }"
        var devices: [DeviceOptions] = []
        for (index, value) in try top.list("devices", expected, limit: 4096).enumerated() {
            let section = try Section(value, path: "devices[\(index)]", keys: ConfigurationKeys.device)
            let device = try NamedDevice(section)
            devices.append(
                DeviceOptions(
                    name: device.name, identity: device.identity,
                    profile: try section.text("profile", "the id of a profile")))
        }
        return devices
    }
}

extension NamedDevice {
    /// What a name has to be, in words.
    public static let nameWords =
        "1 to 64 letters, digits, hyphens, dots and underscores that are no MAC and no address"

    /// Whether a device may be called so.
    public static func isName(_ text: String) -> Bool { LinkValues.isIdentifier(text) && likeness(of: text) == nil }
}
