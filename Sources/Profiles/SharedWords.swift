/// What became of an item, for the history and the log.

internal import Bytes
public import Devices

extension LabState {
    /// What this state says of items: `pixel-7 uses whistle-qa, profile whistle-qa`; `name` says what a device is
    /// called.
    public func words(
        for items: some Collection<SharedItem>, most: Int = 4, name: (DeviceIdentity) -> String
    ) -> String {
        let values = sharedValues
        let all = items.sorted { $0.rank < $1.rank }.compactMap { words(for: $0, values[$0], name) }
        let shown = all.prefix(most).joined(separator: ", ")
        return all.count > most ? "\(shown) and \(all.count - most) more" : shown
    }

    private func words(
        for item: SharedItem, _ value: SharedValue?, _ name: (DeviceIdentity) -> String
    ) -> String? {
        switch (item, value) {
        case (_, .active(let id)): "all devices use \(id)"
        case (_, .profile(let profile)): "profile \(profile.id)"
        case (_, .name(let device)): "\(device.identity) is called \(device.name)"
        case (_, .assignment(let one)): "\(name(one.device)) uses \(one.profile)"
        case (_, .spent): "a link that works once was used"
        case (.active, _): "all devices use what the file says"
        case (.profile(let id), _): "profile \(id) is gone"
        case (.name(let device), _): "the name of \(device) is gone"
        case (.assignment(let device), _): "\(name(device)) is released"
        case (.own, _), (.spent, _): nil
        }
    }
}

extension SharedItem {
    /// `assignment of pixel-7`; `name` says what a device is called.
    public func words(name: (DeviceIdentity) -> String) -> String {
        switch self {
        case .active: "the default profile"
        case .profile(let id): "profile \(id)"
        case .name(let device): "the name of \(device)"
        case .assignment(let device): "the assignment of \(name(device))"
        case .own(let profile): "own proxy \(profile)"
        case .spent: "a used link"
        }
    }
}

extension SharedMerge.Conflict: CustomStringConvertible {
    /// `lab-2's change of 2026-08-01T12:00:04.000Z in place of lab-1's of 2026-08-01T12:00:01.000Z`.
    public var description: String {
        "\(won.by)'s change of \(Self.time(won)) in place of \(lost.by)'s of \(Self.time(lost))"
    }

    private static func time(_ stamp: SharedStamp) -> UnixTime {
        UnixTime(seconds: stamp.at / 1000, nanoseconds: Int32(stamp.at % 1000) * 1_000_000)
    }
}
