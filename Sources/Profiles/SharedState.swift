/// # What gateways of one lab share, and which of two changes counts
///
/// The lab's state is made of items: the default profile, each stored profile, each name of a device, each assignment,
/// each note on an own proxy, each nonce that was used. With an item goes a stamp, whether the item is there or gone:
/// when it was changed, and at which gateway. Of two versions of an item the later one counts, of two from one
/// millisecond that of the gateway whose id comes later. So whatever is told in whatever order, however often, all
/// gateways end with the same items, and nothing has to be kept for one that is away but the items themselves.
///
///     a change here ── restamped ──▶ its items have our stamp ──▶ SharedUpdate to each peer
///     SharedUpdate from a peer ── merging ──▶ its items that are later than ours, and what was in conflict
///
/// A clock that is behind loses nothing: a change is stamped later than the version that it replaces.

public import Devices

/// An item of the lab's state.
public enum SharedItem: Hashable, Sendable {
    /// The gateway's default profile.
    case active
    case profile(String)
    /// What a device is called.
    case name(DeviceIdentity)
    case assignment(DeviceIdentity)
    /// The note that a profile is an own proxy.
    case own(String)
    /// A nonce that was used: it comes, and goes by itself at each gateway.
    case spent(key: String, once: String)
}

/// When an item was changed, and where.
public struct SharedStamp: Hashable, Comparable, Sendable {
    /// Milliseconds since 1970.
    public var at: Int64
    /// The id of the gateway.
    public var by: String
    /// `at` of the newest version by another gateway that this change was made in knowledge of; 0: of none.
    public var base: Int64

    public init(at: Int64, by: String, base: Int64 = 0) {
        self.at = at
        self.by = by
        self.base = base
    }

    public static func < (left: SharedStamp, right: SharedStamp) -> Bool {
        (left.at, left.by) < (right.at, right.by)
    }

    /// Whether a version was replaced without its author's change being known.
    func isConflict(replacing former: SharedStamp) -> Bool { by != former.by && former.at > base }
}

/// One version of an item.
enum SharedValue: Equatable {
    case active(String)
    case profile(Profile)
    case name(NamedDevice)
    case assignment(Assignment)
    case own(OwnProxy)
    case spent(LabState.SpentNonce)
}

extension LabState {
    /// How long it is remembered that an item is gone, in milliseconds: a gateway that was away for longer brings it
    /// back.
    public static let graveTime: Int64 = 30 * 86_400_000
    /// How far ahead of our clock a stamp may be, in milliseconds; more would keep everybody else's changes out for
    /// good.
    public static let farthestStamp: Int64 = 86_400_000

    /// All items that are there.
    var sharedValues: [SharedItem: SharedValue] {
        var values: [SharedItem: SharedValue] = [:]
        if let active { values[.active] = .active(active) }
        for profile in profiles { values[.profile(profile.id)] = .profile(profile) }
        for device in devices { values[.name(device.identity)] = .name(device) }
        for assignment in assignments { values[.assignment(assignment.device)] = .assignment(assignment) }
        for own in own { values[.own(own.profile)] = .own(own) }
        for nonce in spent { values[.spent(key: nonce.key, once: nonce.once)] = .spent(nonce) }
        return values
    }

    /// Everything that peers are told: what is there, and what is known to be gone.
    public var sharedItems: Set<SharedItem> { Set(sharedValues.keys).union(stamps.keys) }

    /// The version of an item, nil for one that was never heard of.
    ///
    /// One that was there before anybody stamped is older than all others.
    func stamp(of item: SharedItem, isThere: Bool, at gateway: String) -> SharedStamp? {
        stamps[item] ?? (isThere ? SharedStamp(at: 0, by: gateway) : nil)
    }

    /// This state with the stamps of what has changed since a former one, and the former stamps of the rest.
    ///
    /// `received` are the stamps of what a peer has changed in it, as far as `heard` still says the same. `now` is in
    /// milliseconds since 1970.
    public func restamped(
        since former: LabState, by gateway: String, at now: Int64, heard: LabState? = nil,
        received: [SharedItem: SharedStamp] = [:]
    ) -> LabState {
        var state = self
        state.stamps = former.stamps
        let (before, after, said) = (former.sharedValues, sharedValues, heard?.sharedValues ?? [:])
        for item in Set(before.keys).union(after.keys).union(received.keys) {
            if let stamp = received[item], after[item] == said[item] {
                state.stamps[item] = stamp
            } else if before[item] != after[item] {
                let last = former.stamp(of: item, isThere: before[item] != nil, at: gateway)
                let base = last.map { $0.by == gateway ? $0.base : $0.at } ?? 0
                state.stamps[item] = SharedStamp(at: max(now, (last?.at ?? 0) + 1), by: gateway, base: base)
            }
        }
        state.stamps = state.stamps.filter { item, stamp in
            if after[item] != nil { return true }
            if case .spent = item { return false }
            return stamp.at > now - Self.graveTime
        }
        return state
    }

    /// Sets an item to a version, or takes it out.
    mutating func set(_ item: SharedItem, to value: SharedValue?) {
        switch item {
        case .active: active = nil
        case .profile(let id): profiles.removeAll { $0.id == id }
        case .name(let device): devices.removeAll { $0.identity == device }
        case .assignment(let device): assignments.removeAll { $0.device == device }
        case .own(let profile): own.removeAll { $0.profile == profile }
        case .spent(let key, let once): spent.removeAll { $0.key == key && $0.once == once }
        }
        switch value {
        case .active(let id): active = id
        case .profile(let profile): profiles.append(profile)
        case .name(let device):
            // A name is one device's: the one that was given it last has it.
            devices.removeAll { $0.name == device.name }
            devices.append(device)
        case .assignment(let assignment): assignments.append(assignment)
        case .own(let note): own.append(note)
        case .spent(let nonce): spent.append(nonce)
        case nil: break
        }
    }
}

extension SharedItem {
    /// What stands in a stamp: the sort, and what tells it from others of the sort.
    var words: [String] {
        switch self {
        case .active: ["active"]
        case .profile(let id): ["profile", id]
        case .name(let device): ["name", device.description]
        case .assignment(let device): ["assignment", device.description]
        case .own(let profile): ["own", profile]
        case .spent(let key, let once): ["spent", key, once]
        }
    }

    /// In an order in which nothing comes before what it needs.
    public var rank: String {
        let sorts = ["profile", "own", "assignment", "name", "active", "spent"]
        return "\(sorts.firstIndex(of: words[0]) ?? sorts.count) " + words.joined(separator: " ")
    }

    init?(words: [String]) {
        switch (words.first, words.count) {
        case ("active", 1): self = .active
        case ("profile", 2) where LinkValues.isIdentifier(words[1]): self = .profile(words[1])
        case ("own", 2) where LinkValues.isIdentifier(words[1]): self = .own(words[1])
        case ("name", 2):
            guard let device = DeviceIdentity(parsing: words[1]) else { return nil }
            self = .name(device)
        case ("assignment", 2):
            guard let device = DeviceIdentity(parsing: words[1]) else { return nil }
            self = .assignment(device)
        case ("spent", 3) where words.dropFirst().allSatisfy(LinkValues.isIdentifier):
            self = .spent(key: words[1], once: words[2])
        default: return nil
        }
    }
}

/// Reading and writing the stamps, in the store and in what peers are told.
extension LabState {
    static func stamps(_ section: Section) throws(ConfigurationError) -> [SharedItem: SharedStamp] {
        var stamps: [SharedItem: SharedStamp] = [:]
        let expected = "a list of { item, at, by, base }"
        for (index, value) in try section.list("stamps", expected, limit: 262_144).enumerated() {
            let inner = try Section(value, path: "stamps[\(index)]", keys: ConfigurationKeys.stamp)
            _ = try inner.required("item", "the words of an item")
            let words = try inner.texts("item", "the words of an item", limit: 3).map(\.text)
            guard let item = SharedItem(words: words), stamps[item] == nil else {
                throw inner.error(
                    .badValue, "item", found: "another item, or one that is there already",
                    expected: "an item of the lab's state, once")
            }
            stamps[item] = SharedStamp(
                at: try inner.millisecond("at"), by: try inner.identifier("by"),
                base: inner["base"] == nil ? 0 : try inner.millisecond("base"))
        }
        return stamps
    }

    var stampsJSON: JSON {
        .array(
            stamps.sorted { $0.key.rank < $1.key.rank }.map { item, stamp in
                .members([
                    "item": .strings(item.words), "at": .integer(Int(stamp.at)), "by": .string(stamp.by),
                    "base": stamp.base == 0 ? nil : .integer(Int(stamp.base)),
                ])
            })
    }
}

extension Section {
    /// Reads a millisecond that is counted from 1970.
    func millisecond(_ key: String) throws(ConfigurationError) -> Int64 {
        _ = try required(key, "a millisecond, counted from 1970")
        var number = 0
        try read(key, into: &number, within: 0...Int(LinkGrant.latest) * 1000)
        return Int64(number)
    }
}
