/// What a gateway tells a peer, and what becomes of it there.

internal import Devices

/// The body of `PUT /v1/peers/ID`: some items of the sender's state, each with its stamp.
public struct SharedUpdate: Equatable, Sendable {
    /// When the sender's program was started, in milliseconds since 1970: another number, and it may have forgotten us.
    public var life: Int64
    /// The receiver's, as the sender has heard it; 0 before it has heard any.
    public var reader: Int64
    /// Whether the sender knows of nothing else that the receiver lacks.
    public var isComplete: Bool
    /// The items; one that has a stamp and isn't there is gone.
    public var lab: LabState

    public init(life: Int64, reader: Int64, isComplete: Bool, lab: LabState) {
        self.life = life
        self.reader = reader
        self.isComplete = isComplete
        self.lab = lab
    }

    /// The most items of one update, so that a program that reads it does not stand still.
    public static let itemLimit = 128
    /// The most octets, unless a single profile is longer.
    public static let size = 256 << 10

    public static func parse(_ bytes: Span<UInt8>) throws(ConfigurationError) -> SharedUpdate {
        let value = try Body.object(bytes, expected: "{ life, reader, complete, lab }")
        let section = try Section(value, path: "", keys: ConfigurationKeys.update)
        var isComplete = false
        try section.read("complete", into: &isComplete)
        let lab = try LabState(try section.required("lab", "items of a lab's state"), path: "lab")
        guard lab.unconfirmed == nil else {
            throw section.error(
                .badValue, "lab", found: "a change on trial", expected: "items of a lab's state alone")
        }
        guard lab.stamps.count <= 2 * itemLimit else {
            throw section.error(
                .badValue, "lab", found: "\(lab.stamps.count) items", expected: "\(2 * itemLimit) at most")
        }
        if let bare = lab.sharedValues.keys.first(where: { lab.stamps[$0] == nil }) {
            throw section.error(
                .badValue, "lab", found: "\(bare.words.joined(separator: " ")) without a stamp",
                expected: "a stamp for each item")
        }
        return SharedUpdate(
            life: try section.millisecond("life"), reader: try section.millisecond("reader"),
            isComplete: isComplete, lab: lab)
    }

    public var json: JSON {
        .members([
            "life": .integer(Int(life)), "reader": .integer(Int(reader)), "complete": .boolean(isComplete),
            "lab": lab.json,
        ])
    }
}

extension LabState {
    /// A part of this state for a peer: these items, or as many of them as one update holds, with their stamps.
    ///
    /// What belongs to one own proxy goes together: a part of it alone would be tidied away.
    public func part(of items: Set<SharedItem>, by gateway: String) -> LabState {
        let values = sharedValues
        var part = LabState()
        var size = 0
        var left = items
        for first in items.sorted(by: { $0.rank < $1.rank }) where left.contains(first) {
            for item in companions(of: first) where part.stamps[item] == nil {
                let value = values[item]
                guard let stamp = stamp(of: item, isThere: value != nil, at: gateway) else { continue }
                part.stamps[item] = stamp
                part.set(item, to: value)
                if case .profile(let profile)? = value { size += profile.json.text.utf8.count }
                size += 256
                left.remove(item)
            }
            if part.stamps.count >= SharedUpdate.itemLimit || size >= SharedUpdate.size { break }
        }
        return part
    }

    /// This state's stamped items in parts, each of which makes sense alone.
    public var units: [LabState] {
        let values = sharedValues
        var units: [LabState] = []
        var left = Set(stamps.keys)
        for first in stamps.keys.sorted(by: { $0.rank < $1.rank }) where left.contains(first) {
            var unit = LabState()
            for item in companions(of: first) {
                guard let stamp = stamps[item], left.remove(item) != nil else { continue }
                unit.stamps[item] = stamp
                unit.set(item, to: values[item])
            }
            units.append(unit)
        }
        return units
    }

    private func companions(of item: SharedItem) -> [SharedItem] {
        let note: OwnProxy?
        switch item {
        case .profile(let id), .own(let id): note = ownProxy(id)
        case .assignment(let device): note = own.first { $0.device == device }
        case .active, .name, .spent: note = nil
        }
        guard let note else { return [item] }
        return [.profile(note.profile), .own(note.profile), .assignment(note.device)]
    }
}

/// What a peer's update changes here.
public struct SharedMerge: Equatable, Sendable {
    /// The state with everything of the update that is later.
    public var state: LabState
    /// The stamps of what was taken.
    public var taken: [SharedItem: SharedStamp] = [:]
    /// Items of ours that are later: the sender lacks them.
    public var newer: Set<SharedItem> = []
    /// Versions that were replaced, or not taken, while both sides had changed the item.
    public var conflicts: [SharedItem: Conflict] = [:]
    /// What was not taken, and why.
    public var refused: [SharedItem: String] = [:]

    /// Two versions of one item, neither made in knowledge of the other.
    public struct Conflict: Equatable, Sendable {
        public var won: SharedStamp
        public var lost: SharedStamp
    }
}

extension LabState {
    /// Lays a peer's items over this state where they are later; `now` is in milliseconds since 1970.
    ///
    /// `objection` says why an item may not come from this peer; nil: it may.
    public func merging(
        _ update: LabState, at gateway: String, now: Int64, objection: (SharedItem, Profile?) -> String?
    ) -> SharedMerge {
        var merge = SharedMerge(state: self)
        let (ours, theirs) = (sharedValues, update.sharedValues)
        for (item, stamp) in update.stamps.sorted(by: { $0.key.rank < $1.key.rank }) {
            let own = self.stamp(of: item, isThere: ours[item] != nil, at: gateway)
            if let own, stamp < own {
                merge.newer.insert(item)
                if own.isConflict(replacing: stamp), ours[item] != theirs[item] {
                    merge.conflicts[item] = SharedMerge.Conflict(won: own, lost: stamp)
                }
                continue
            }
            if let own, stamp.at == own.at, stamp.by == own.by { continue }
            // Nobody has heard of it, and it is gone already.
            guard own != nil || theirs[item] != nil else {
                merge.taken[item] = stamp
                continue
            }
            if case .name(let device)? = theirs[item], let other = owner(of: device, laterThan: stamp, at: gateway) {
                merge.newer.insert(.name(other))
                continue
            }
            var profile: Profile?
            if case .profile(let its)? = theirs[item] { profile = its }
            let isFar = stamp.at > now + Self.farthestStamp
            if let words = isFar ? "its stamp is more than a day ahead of our clock" : objection(item, profile) {
                merge.refused[item] = words
                continue
            }
            if let own, stamp.isConflict(replacing: own), ours[item] != theirs[item] {
                merge.conflicts[item] = SharedMerge.Conflict(won: stamp, lost: own)
            }
            merge.taken[item] = stamp
            merge.state.set(item, to: theirs[item])
        }
        return merge
    }

    /// Another device that was given the same name, and later: it keeps the name.
    private func owner(
        of name: NamedDevice, laterThan stamp: SharedStamp, at gateway: String
    ) -> DeviceIdentity? {
        let other = devices.first { $0.name == name.name && $0.identity != name.identity }
        guard let other, let own = self.stamp(of: .name(other.identity), isThere: true, at: gateway), stamp < own else {
            return nil
        }
        return other.identity
    }
}
