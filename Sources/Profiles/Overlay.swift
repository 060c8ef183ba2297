/// What `PUT /v1/config` replaces: parts of the lab's state, each as a whole.

public import Devices

/// The parts that a request names; the others stay.
public struct Overlay: Equatable, Sendable {
    public var profiles: [Profile]?
    public var active: Active?
    public var devices: [NamedDevice]?

    /// The gateway's default profile.
    public enum Active: Equatable, Sendable {
        /// What the file says (`null`).
        case file
        case profile(String)
    }

    public init() {}

    /// Reads a body; one that names no part is refused (B164).
    public static func parse(_ bytes: Span<UInt8>) throws(ConfigurationError) -> Overlay {
        do throws(ConfigurationError) {
            let expected = "an object with at least one of profiles, active and devices"
            let value = try Body.object(bytes, expected: expected)
            let section = try Section(value, path: "", keys: ConfigurationKeys.overlay)
            var overlay = Overlay()
            if section["profiles"] != nil { overlay.profiles = try LabState.profiles(section) }
            if section["devices"] != nil { overlay.devices = try LabState.devices(section) }
            if let active = section["active"] {
                if active.content == .null {
                    overlay.active = .file
                } else {
                    overlay.active = .profile(try section.identifier("active"))
                }
            }
            return overlay
        } catch {
            throw error.recognising(bytes)
        }
    }

    /// A state with these parts in place of its own.
    public func laid(over state: LabState) -> LabState {
        var state = state
        // What people have brought along for their phones is theirs, and ends by itself.
        if let profiles { state.profiles = profiles + state.profiles.filter { state.ownProxy($0.id) != nil } }
        if let devices { state.devices = devices }
        switch active {
        case .profile(let id)?: state.active = id
        case .file?: state.active = nil
        case nil: break
        }
        return state
    }
}

extension LabState {
    /// The parts that `PUT /v1/config` can replace, as it reads them.
    public var overlay: JSON {
        .object([
            JSON.Member("profiles", .array(profiles.filter { ownProxy($0.id) == nil }.map(\.json))),
            JSON.Member("active", active.map(JSON.string) ?? .null),
            JSON.Member("devices", .array(devices.map { .object($0.members) })),
        ])
    }
}
