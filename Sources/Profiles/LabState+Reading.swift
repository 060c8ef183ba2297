/// Reading and writing what the store keeps, and the part of it that can be replaced as a whole.

internal import Addresses
internal import Devices
internal import Routing

extension LabState {
    /// The most octets of a state.
    public static let sizeLimit = 16 << 20
    /// The most profiles of a state.
    public static let profileLimit = 1024

    /// Reads what `json` writes, or says what is wrong with it.
    public static func parse(_ bytes: Span<UInt8>) throws(ConfigurationError) -> LabState {
        try LabState(JSON5Reader.read(bytes, limit: sizeLimit), path: "")
    }

    init(_ value: JSON5Value, path: String) throws(ConfigurationError) {
        let section = try Section(value, path: path, keys: ConfigurationKeys.labState)
        self.init()
        active = try section.optionalIdentifier("active")
        profiles = try Self.profiles(section)
        devices = try Self.devices(section)
        assignments = try Self.assignments(section)
        own = try OwnProxy.list(section)
        spent = try Self.spent(section)
        unconfirmed = try section["unconfirmed"].map(Unconfirmed.init)
        stamps = try Self.stamps(section)
    }

    /// The state as the store has it; `parse` reads it.
    public var json: JSON {
        var members: [JSON.Member] = []
        if let active { members.add("active", .string(active)) }
        members.add("profiles", .array(profiles.map(\.json)), unless: .array([]))
        members.add("devices", .array(devices.map { .object($0.members) }), unless: .array([]))
        members.add("assignments", .array(assignments.map(\.json)), unless: .array([]))
        members.add("own", .array(own.map(\.json)), unless: .array([]))
        members.add("spent", .array(spent.map(\.json)), unless: .array([]))
        if let unconfirmed { members.add("unconfirmed", unconfirmed.json) }
        members.add("stamps", stampsJSON, unless: .array([]))
        return .object(members)
    }

    static func profiles(_ section: Section) throws(ConfigurationError) -> [Profile] {
        var profiles: [Profile] = []
        var ids: Set<String> = []
        for (index, value) in try section.list("profiles", "a list of profiles", limit: profileLimit).enumerated() {
            let path = "profiles[\(index)]"
            let profile = try Profile(value, path: path)
            try profile.checkSecret(value, path: path)
            guard ids.insert(profile.id).inserted else {
                throw ConfigurationError(
                    .duplicateKey, at: value.position(of: "id"), path: "\(path).id",
                    found: "\(Shown.text(profile.id)), which is there already", expected: "an id of its own")
            }
            profiles.append(profile)
        }
        return profiles
    }

    static func devices(_ section: Section) throws(ConfigurationError) -> [NamedDevice] {
        var devices: [NamedDevice] = []
        var names: Set<String> = []
        let expected = "a list of { name, mac or address }"
        for (index, value) in try section.list("devices", expected, limit: 65_536).enumerated() {
            let inner = try Section(value, path: "devices[\(index)]", keys: ConfigurationKeys.namedDevice)
            let device = try NamedDevice(inner)
            guard names.insert(device.name).inserted else {
                throw inner.error(
                    .duplicateKey, "name", found: "\(Shown.text(device.name)), which is there already",
                    expected: "a name of its own")
            }
            devices.append(device)
        }
        return devices
    }

    private static func assignments(_ section: Section) throws(ConfigurationError) -> [Assignment] {
        var assignments: [Assignment] = []
        var devices: Set<DeviceIdentity> = []
        let expected = "a list of { device, profile, since, until, by }"
        for (index, value) in try section.list("assignments", expected, limit: 65_536).enumerated() {
            let inner = try Section(value, path: "assignments[\(index)]", keys: ConfigurationKeys.assignment)
            let assignment = try Assignment(inner)
            guard devices.insert(assignment.device).inserted else {
                throw inner.error(
                    .duplicateKey, "device", found: "\(assignment.device), which is there already",
                    expected: "one profile for each device")
            }
            assignments.append(assignment)
        }
        return assignments
    }

    private static func spent(_ section: Section) throws(ConfigurationError) -> [SpentNonce] {
        var spent: [SpentNonce] = []
        for (index, value) in try section.list("spent", "a list of { key, once, expires }", limit: 65_536).enumerated()
        {
            let inner = try Section(value, path: "spent[\(index)]", keys: ConfigurationKeys.spent)
            spent.append(
                SpentNonce(
                    key: try inner.identifier("key"), once: try inner.identifier("once"),
                    expires: try inner.second("expires")))
        }
        return spent
    }
}

extension LabState.SpentNonce {
    fileprivate var json: JSON {
        .members(["key": .string(key), "once": .string(once), "expires": .integer(Int(expires))])
    }
}

extension LabState.Unconfirmed {
    fileprivate init(_ value: JSON5Value) throws(ConfigurationError) {
        let section = try Section(value, path: "unconfirmed", keys: ConfigurationKeys.unconfirmed)
        var numbers = (revision: 0, former: 0)
        for key in ConfigurationKeys.unconfirmed { _ = try section.required(key, "a whole number") }
        try section.read("revision", into: &numbers.revision, within: 1...Int(Int32.max))
        try section.read("former", into: &numbers.former, within: 0...Int(Int32.max))
        self.init(revision: numbers.revision, former: numbers.former, until: try section.second("until"))
    }

    fileprivate var json: JSON {
        .members(["revision": .integer(revision), "former": .integer(former), "until": .integer(Int(until))])
    }
}

extension Assignment {
    fileprivate init(_ section: Section) throws(ConfigurationError) {
        let device = try section.oneDevice("device")
        let by = "who made the assignment"
        _ = try section.required("by", by)
        self.init(
            device: device, profile: try section.identifier("profile"), since: try section.second("since"),
            until: section["until"] == nil ? nil : try section.second("until"), by: try section.text("by", by) ?? "")
        try readLists(section)
    }

    private mutating func readLists(_ section: Section) throws(ConfigurationError) {
        let expected = "a list such as [\"example.com\", \"*.example.org\"]"
        let (direct, proxied) = (
            try section.texts("direct", expected, limit: DeviceRules.limit),
            try section.texts("proxied", expected, limit: DeviceRules.limit)
        )
        do throws(RoutingError) {
            let lists = try DeviceRules(direct: direct.map(\.text), proxied: proxied.map(\.text))
            (self.direct, self.proxied) = (lists.direct, lists.proxied)
        } catch {
            throw section.error(.rule, error.list, found: error.found, expected: error.expected, hint: error.hint)
        }
    }

    fileprivate var json: JSON {
        .members([
            "device": .string(device.description), "profile": .string(profile), "since": .integer(Int(since)),
            "until": until.map { .integer(Int($0)) }, "by": .string(by),
            "direct": direct.isEmpty ? nil : .strings(direct), "proxied": proxied.isEmpty ? nil : .strings(proxied),
        ])
    }
}

extension DeviceIdentity {
    fileprivate var isOfOneDevice: Bool {
        switch self {
        case .address(let address): address.isOfOneDevice
        case .mac(let mac, let interface): mac.bits != 0 && interface.map(Section.isInterface) ?? true
        }
    }
}

extension Section {
    /// Reads what a device is known by.
    func oneDevice(_ key: String) throws(ConfigurationError) -> DeviceIdentity {
        let expected = "a MAC, a MAC and its interface, or an address"
        _ = try required(key, expected)
        let text = try text(key, expected) ?? ""
        guard let device = DeviceIdentity(parsing: text), device.isOfOneDevice else {
            throw error(.badValue, key, found: "another text", expected: expected)
        }
        return device
    }

    /// Reads a second that is counted from 1970.
    func second(_ key: String) throws(ConfigurationError) -> Int64 {
        _ = try required(key, "a second, counted from 1970")
        var second = 0
        try read(key, into: &second, within: 0...Int(LinkGrant.latest))
        return Int64(second)
    }
}
