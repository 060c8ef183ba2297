/// Lists of one device: what it sends direct, and what it has proxied, for as long as its assignment lasts.

import Bytes
import Control
import Devices
import Gateway
import LinuxIO
import Profiles
import Routing

extension Administrator {
    /// Replaces the lists that are given; a device without an assignment gets one to the profile that it has.
    mutating func putLists(
        _ wish: ControlCall.ListWish, _ by: String, _ gateway: inout Gateway
    ) throws(ControlError) -> ControlAnswer {
        let device = devices.device(try find(wish.device))
        let lists = try Self.lists(wish, after: lists(of: device))
        let change = try give(lists, to: device, wish.manner, by, &gateway)
        return answer(lists, of: device.identity, change)
    }

    /// What a device sends elsewhere than its profile says; nil where it has no such list.
    func lists(of device: Device) -> DeviceRules? { device.assignment.flatMap { plan.lists[$0.device] } }

    /// Has lists count for a device in place of those that it has; nil where they are the same.
    mutating func give(
        _ lists: DeviceRules, to device: Device, _ manner: ControlCall.Manner, _ by: String, _ gateway: inout Gateway,
        how: String = "lists"
    ) throws(ControlError) -> Change? {
        let former = self.lists(of: device)
        guard lists != former, former != nil || !lists.isEmpty else { return nil }
        var assignment: Assignment
        if let own = device.assignment { assignment = own } else { assignment = try usualAssignment(of: device, by) }
        (assignment.direct, assignment.proxied) = (lists.direct, lists.proxied)
        var state = plan.lab
        // One that the store still has without its profile counts no more.
        state.assignments.removeAll { $0.device == assignment.device }
        state.assignments.append(assignment)
        let note = LabStore.Note(
            by: by, how: how, summary: "\(device.label) \(lists.words(since: former)) (\(assignment.profile))")
        return try change(to: state, note, drain: manner.drain, &gateway)
    }

    /// The profile that a device has anyway, for the usual time.
    private func usualAssignment(of device: Device, _ by: String) throws(ControlError) -> Assignment {
        guard case .profile(let id) = profileRules.choice(for: device).route else {
            throw ControlError(
                .conflict, "\(device.label) has no profile (newDevices); expected it to be given one first",
                path: "device", expected: "a device with a profile")
        }
        let now = Clock.unixTime().seconds
        return Assignment(device: device.identity, profile: id, since: now, until: end(of: .usual, from: now), by: by)
    }

    /// Where one list alone is given, what it has leaves the other one.
    private static func lists(
        _ wish: ControlCall.ListWish, after former: DeviceRules?
    ) throws(ControlError) -> DeviceRules {
        do throws(RoutingError) {
            var direct = wish.direct ?? former?.direct ?? []
            var proxied = wish.proxied ?? former?.proxied ?? []
            if wish.proxied == nil {
                let new = try DeviceRules(direct: direct, proxied: []).direct
                proxied.removeAll(where: new.contains)
            } else if wish.direct == nil {
                let new = try DeviceRules(direct: [], proxied: proxied).proxied
                direct.removeAll(where: new.contains)
            }
            return try DeviceRules(direct: direct, proxied: proxied)
        } catch {
            let path = error.line.map { "\(error.list)[\($0 - 1)]" } ?? error.list
            throw ControlError(
                .badValue, "\(path): found \(error.found); expected \(error.expected)", path: path,
                found: error.found, expected: error.expected, hint: error.hint)
        }
    }

    private func answer(_ lists: DeviceRules, of identity: DeviceIdentity, _ change: Change?) -> ControlAnswer {
        let device = devices.device(identity)
        var profile: String?
        if case .profile(let id) = profileRules.choice(for: device).route { profile = id }
        let warnings = lists.shadowed.map { "\($0.proxied) stays direct: \($0.by) is in direct, which is asked first" }
        return ControlAnswer(
            .members([
                "revision": .integer(change?.revision ?? store.number), "device": .string(device.label),
                "profile": profile.map(JSON.string) ?? .null,
                "until": (device.assignment?.until).map { .integer(Int($0)) } ?? .null,
                "direct": .strings(lists.direct), "proxied": .strings(lists.proxied),
                "flows": (change?.counts ?? RerouteCounts()).json, "warnings": .strings(warnings),
            ]))
    }
}

extension DeviceRules {
    /// `sends a.example direct, has b.example proxied`: what is new, and what is no longer so.
    fileprivate func words(since former: DeviceRules?) -> String {
        var parts: [String] = []
        let pairs = [
            ("sends", "direct", direct, former?.direct ?? []), ("has", "proxied", proxied, former?.proxied ?? []),
        ]
        for (verb, list, now, before) in pairs {
            let (new, gone) = (now.filter { !before.contains($0) }, before.filter { !now.contains($0) })
            if !new.isEmpty { parts.append("\(verb) \(Self.few(new)) \(list)") }
            if !gone.isEmpty { parts.append("no longer \(verb) \(Self.few(gone)) \(list)") }
        }
        return parts.isEmpty ? "has its lists in another order" : parts.joined(separator: ", ")
    }

    /// The first three, and how many there are besides.
    private static func few(_ entries: [String]) -> String {
        let shown = entries.prefix(3).joined(separator: ", ")
        return entries.count > 3 ? "\(shown) and \(entries.count - 3) more" : shown
    }
}
