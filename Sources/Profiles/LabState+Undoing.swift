/// Two states side by side: what is between them in words, and a change taken out of what came after it.

internal import Devices

extension LabState {
    /// This state without a change that was made earlier, from one state to another; what others did since then stays.
    public func undoing(from former: LabState, to changed: LabState) -> LabState {
        var state = self
        if former.active != changed.active { state.active = former.active }
        state.profiles = Self.undo(profiles, former.profiles, changed.profiles, by: \.id)
        state.devices = Self.undo(devices, former.devices, changed.devices, by: \.identity)
        state.assignments = Self.undo(assignments, former.assignments, changed.assignments, by: \.device)
        state.own = Self.undo(own, former.own, changed.own, by: \.profile)
        // A nonce that was used stays used.
        return state
    }

    private static func undo<Element: Equatable, Key: Hashable>(
        _ now: [Element], _ former: [Element], _ changed: [Element], by key: (Element) -> Key
    ) -> [Element] {
        let before = Dictionary(former.map { (key($0), $0) }) { first, _ in first }
        let after = Dictionary(changed.map { (key($0), $0) }) { first, _ in first }
        let isTouched = { (key: Key) in before[key] != after[key] }
        var elements = now.compactMap { isTouched(key($0)) ? before[key($0)] : $0 }
        let present = Set(elements.map(key))
        elements += former.filter { isTouched(key($0)) && !present.contains(key($0)) }
        return elements
    }

    /// What is new since another state, a line each.
    public func changes(since former: LabState) -> [String] {
        var lines: [String] = []
        if active != former.active {
            lines.append("active: \(former.active ?? "as in the file") → \(active ?? "as in the file")")
        }
        lines += Self.changes(profiles, former.profiles, "profiles", by: \.id)
        lines += Self.changes(devices, former.devices, "devices", by: \.name)
        lines += Self.changes(assignments, former.assignments, "assignments", by: \.device.description)
        return lines
    }

    private static func changes<Element: Equatable>(
        _ now: [Element], _ former: [Element], _ what: String, by key: (Element) -> String
    ) -> [String] {
        let before = Dictionary(former.map { (key($0), $0) }) { first, _ in first }
        let after = Dictionary(now.map { (key($0), $0) }) { first, _ in first }
        return Set(before.keys).union(after.keys).sorted().compactMap { name in
            switch (before[name], after[name]) {
            case (nil, .some): "\(what).\(name) is new"
            case (.some, nil): "\(what).\(name) is gone"
            case (let old?, let new?): old == new ? nil : "\(what).\(name) is changed"
            case (nil, nil): nil
            }
        }
    }
}
