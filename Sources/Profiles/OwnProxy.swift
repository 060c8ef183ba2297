/// # Own proxies: brought along for one device
///
/// Whoever has a proxy of their own gives it to one phone. In the lab's state that is three things that come and go
/// together: a profile, the device's assignment to it, which always ends, and the note that says what both are.
/// `tidied` keeps them together, whoever ends or replaces the assignment.

internal import Addresses
public import Bytes
public import Devices

/// The note that a stored profile is an own proxy.
public struct OwnProxy: Equatable, Sendable {
    /// The profile's id.
    public var profile: String
    /// The only device that may have it.
    public var device: DeviceIdentity
    /// The machine that the proxy runs on, where that has offered it itself: the profile follows its address.
    public var laptop: DeviceIdentity?
    /// When the device got it, in seconds since 1970: what its longest time counts from.
    public var since: Int64

    public init(profile: String, device: DeviceIdentity, laptop: DeviceIdentity? = nil, since: Int64) {
        self.profile = profile
        self.device = device
        self.laptop = laptop
        self.since = since
    }
}

extension LabState {
    /// The note on a profile; nil where it is no own proxy.
    public func ownProxy(_ profile: String) -> OwnProxy? { own.first { $0.profile == profile } }

    /// This state without what is left of own proxies: profiles whose device has another one, or none, by now.
    ///
    /// With the longest time that a device may have one, no assignment to one lasts longer.
    public func tidied(longest: Interval?) -> LabState {
        guard !own.isEmpty else { return self }
        var state = self
        let ids = Set(profiles.map(\.id))
        let isInUse = { (own: OwnProxy) in
            ids.contains(own.profile)
                && assignments.contains { $0.device == own.device && $0.profile == own.profile }
        }
        let over = Set(own.filter { !isInUse($0) }.map(\.profile))
        state.own.removeAll { over.contains($0.profile) }
        state.profiles.removeAll { over.contains($0.id) }
        if let longest { state.shorten(to: longest.nanoseconds / 1_000_000_000) }
        return state
    }

    private mutating func shorten(to seconds: Int64) {
        for own in own {
            let end = own.since + seconds
            for index in assignments.indices where assignments[index].profile == own.profile {
                assignments[index].until = min(assignments[index].until ?? end, end)
            }
        }
    }
}

extension OwnProxy {
    /// Reads the notes of a state.
    static func list(_ top: Section) throws(ConfigurationError) -> [OwnProxy] {
        var list: [OwnProxy] = []
        let expected = "a list of { profile, device, laptop, since }"
        for (index, value) in try top.list("own", expected, limit: 1024).enumerated() {
            let section = try Section(value, path: "own[\(index)]", keys: ConfigurationKeys.ownProxy)
            let own = OwnProxy(
                profile: try section.identifier("profile"), device: try section.oneDevice("device"),
                laptop: section["laptop"] == nil ? nil : try section.oneDevice("laptop"),
                since: try section.second("since"))
            guard !list.contains(where: { $0.profile == own.profile }) else {
                throw section.error(
                    .duplicateKey, "profile", found: "\(Shown.text(own.profile)), which is there already",
                    expected: "one note for each profile")
            }
            list.append(own)
        }
        return list
    }

    var json: JSON {
        .members([
            "profile": .string(profile), "device": .string(device.description),
            "laptop": laptop.map { .string($0.description) }, "since": .integer(Int(since)),
        ])
    }
}
