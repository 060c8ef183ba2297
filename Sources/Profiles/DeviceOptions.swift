/// Devices that the administrator has named, and what becomes of all others.

public import Devices

/// A device with a name, and a profile of its own where the administrator wants one.
public struct DeviceOptions: Equatable, Sendable {
    /// An identifier that nobody could take for a MAC or an address.
    public var name: String
    public var identity: DeviceIdentity
    /// The `id` of a profile that the device has without an end; what the lab assigns is laid over it.
    public var profile: String?

    public init(name: String, identity: DeviceIdentity, profile: String? = nil) {
        self.name = name
        self.identity = identity
        self.profile = profile
    }
}

/// What becomes of a device that has neither a name nor an assignment.
public enum NewDevices: String, CaseIterable, Sendable {
    /// It has the profile of its interface, or the gateway's.
    case `default`
    /// Its flows go to their destination, around every profile.
    case direct
    /// Its flows are refused.
    case block
}
