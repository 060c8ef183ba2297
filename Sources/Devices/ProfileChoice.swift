/// Which profile a device has, and why: one rule for what is shown and for what is done.
///
///     its assignment ─ else ▶ the file's profile for it ─ else ▶ its interface's default ─ else ▶ the gateway's

public import Addresses

/// Where a device's flows go.
public enum DeviceRoute: Hashable, Sendable {
    /// Through the profile of this id.
    case profile(String)
    /// To their destination, around every profile.
    case direct
    /// Nowhere.
    case block
}

/// A route, and what has decided it.
public struct ProfileChoice: Hashable, Sendable {
    /// Who has decided it, or what.
    public enum Reason: String, CaseIterable, Sendable {
        case assignment
        /// The administrator's file gives the device a profile.
        case file
        case interface
        case `default`
        /// It has neither a name nor an assignment, and such devices are treated apart.
        case new
        /// As `new`, while this gateway has not heard yet what its peers know of devices.
        case unheard
    }

    public var route: DeviceRoute
    public var reason: Reason

    public init(_ route: DeviceRoute, _ reason: Reason) {
        self.route = route
        self.reason = reason
    }
}

/// What decides, apart from the device itself; profiles are ids.
public struct ProfileRules: Equatable, Sendable {
    /// The gateway's default.
    public var standard: String
    /// The defaults of LAN interfaces.
    public var interfaces: [String: String]
    /// What the file gives to devices.
    public var fixed: [DeviceIdentity: String]
    /// What becomes of devices without a name or an assignment; nil: the same as of all others.
    public var newDevices: DeviceRoute?
    /// Whether peers may know a device that is not known here: until they were heard it goes nowhere.
    public var awaitsPeers = false

    public init(
        standard: String, interfaces: [String: String] = [:], fixed: [DeviceIdentity: String] = [:],
        newDevices: DeviceRoute? = nil
    ) {
        self.standard = standard
        self.interfaces = interfaces
        self.fixed = fixed
        self.newDevices = newDevices
    }

    /// What a device gets.
    public func choice(for device: Device) -> ProfileChoice {
        choice(
            for: device.identity, assignment: device.assignment, isKnown: device.isKnown, on: device.interface)
    }

    func choice(
        for identity: DeviceIdentity, assignment: Assignment?, isKnown: Bool, on interface: String?
    ) -> ProfileChoice {
        if let assignment { return ProfileChoice(.profile(assignment.profile), .assignment) }
        if let profile = fixed[identity] { return ProfileChoice(.profile(profile), .file) }
        return choice(isKnown: isKnown, on: interface)
    }

    private func choice(isKnown: Bool, on interface: String?) -> ProfileChoice {
        if !isKnown, awaitsPeers { return ProfileChoice(.block, .unheard) }
        if !isKnown, let newDevices { return ProfileChoice(newDevices, .new) }
        if let interface, let profile = interfaces[interface] { return ProfileChoice(.profile(profile), .interface) }
        return ProfileChoice(.profile(standard), .default)
    }
}

extension DeviceTable {
    /// What is decided for an address.
    public struct AddressChoice: Hashable, Sendable {
        public var device: DeviceIdentity
        /// Whether people have named the device or given it a profile.
        public var isKnown: Bool
        public var choice: ProfileChoice
        /// What its assignment is tied to; nil where it has none.
        public var assigned: DeviceIdentity?
    }

    /// The choice for each address whose device is known; it stays the same while `generation` does.
    public func choices(by rules: ProfileRules) -> [IPAddress: AddressChoice] {
        var choices: [IPAddress: AddressChoice] = [:]
        var made: [DeviceIdentity: AddressChoice] = [:]
        for (address, identity) in addressBook {
            let choice = made[identity] ?? self.choice(for: identity, by: rules)
            made[identity] = choice
            choices[address] = choice
        }
        return choices
    }

    /// The choice for each MAC that has a name or a profile, for addresses that are not known yet to be its own.
    ///
    /// The keys are MACs alone: on an interface that has none of its own the one without an interface counts. It stays
    /// the same while `generation` does.
    public func stationChoices(by rules: ProfileRules) -> [DeviceIdentity: AddressChoice] {
        var choices: [DeviceIdentity: AddressChoice] = [:]
        for held in Set(names.keys).union(assigned.keys) {
            switch held {
            case .address: continue
            case .mac(_, nil): choices[held] = choice(for: held, by: rules)
            case .mac(let mac, let interface?):
                choices[held] = choice(for: identity(of: Owner(mac: mac, interface: interface)), by: rules)
            }
        }
        return choices
    }

    private func choice(for identity: DeviceIdentity, by rules: ProfileRules) -> AddressChoice {
        let assignment = assignment(of: identity)
        let isKnown = assignment != nil || names[identity] != nil
        let choice = rules.choice(for: identity, assignment: assignment, isKnown: isKnown, on: interface(of: identity))
        return AddressChoice(device: identity, isKnown: isKnown, choice: choice, assigned: assignment?.device)
    }
}
