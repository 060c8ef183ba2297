/// The switch: which device has which profile, from now on and for how long.

import Addresses
import Bytes
import Control
import Devices
import Gateway
import LinuxIO
import Profiles

extension Administrator {
    mutating func activate(
        _ activation: ControlCall.Activation, _ by: String, _ gateway: inout Gateway
    ) throws(ControlError) -> ControlAnswer {
        try checkProfile(activation.profile)
        var state = plan.lab
        let target = try assign(activation.profile, activation.scope, activation.duration, by, &state)
        state = try awaiting(activation.confirm, state)
        let note = LabStore.Note(by: by, how: "use", summary: "\(target.words) \(activation.profile)")
        return try switchTo(state, note, activation.manner, target, &gateway)
    }

    mutating func release(
        _ scope: ControlCall.Scope, _ manner: ControlCall.Manner, _ by: String, _ gateway: inout Gateway
    ) throws(ControlError) -> ControlAnswer {
        var state = plan.lab
        var target = SwitchTarget()
        switch scope {
        case .device(let text):
            let identity = try find(text)
            guard state.assignments.contains(where: { $0.device == identity }) else {
                throw ControlError(
                    .conflict, "\(devices.device(identity).label) has no profile of its own that could end",
                    path: "device")
            }
            state.assignments.removeAll { $0.device == identity }
            target.moved = [identity]
            target.words = "\(devices.device(identity).label) is released"
        case .all:
            target.moved = state.assignments.map(\.device)
            state.assignments = []
            target.words = "all devices are released"
        }
        let note = LabStore.Note(by: by, how: "release", summary: target.words)
        return try switchTo(state, note, manner, target, &gateway)
    }

    /// Whom a switch is for, and who keeps what it has.
    struct SwitchTarget {
        var moved: [DeviceIdentity] = []
        var kept: [Assignment] = []
        var until: Int64?
        /// What the history says: `pixel-7 uses`, and then the profile.
        var words = ""
    }

    /// Writes a switch into a state.
    func assign(
        _ profile: String, _ scope: ControlCall.Scope, _ duration: ControlCall.Duration, _ by: String,
        _ state: inout LabState
    ) throws(ControlError) -> SwitchTarget {
        var target = SwitchTarget()
        switch scope {
        case .device(let text):
            let identity = try find(text)
            let now = Clock.unixTime().seconds
            target.until = end(end(of: duration, from: now), with: profile)
            var assignment = Assignment(device: identity, profile: profile, since: now, until: target.until, by: by)
            // Its own lists go on with the profile that they were made for, and end with it.
            if let former = state.assignments.first(where: { $0.device == identity }), former.profile == profile {
                (assignment.direct, assignment.proxied) = (former.direct, former.proxied)
            }
            state.assignments.removeAll { $0.device == identity }
            state.assignments.append(assignment)
            target.moved = [identity]
            target.words = "\(devices.device(identity).label) uses"
        case .all(let override):
            state.active = profile
            target.kept = override ? [] : state.assignments
            let kept = Set(target.kept.map(\.device))
            target.moved = devices.devices.map(\.identity).filter { !kept.contains($0) }
            if override { state.assignments = [] }
            target.words = override ? "all devices without exception use" : "all devices use"
        }
        return target
    }

    func end(of duration: ControlCall.Duration, from now: Int64) -> Int64? {
        switch duration {
        case .forever: nil
        case .time(let time): now + time.nanoseconds / 1_000_000_000
        case .usual: plan.resolved.configuration.lease.map { now + $0.nanoseconds / 1_000_000_000 }
        }
    }

    mutating func switchTo(
        _ state: LabState, _ note: LabStore.Note, _ manner: ControlCall.Manner, _ target: SwitchTarget,
        _ gateway: inout Gateway, link: JSON? = nil
    ) throws(ControlError) -> ControlAnswer {
        let next = try planned(state)
        let change = try change(to: next, note, drain: manner.drain, &gateway)
        let profile = profile(after: target)
        let answer = ControlAnswer(
            .members([
                "revision": .integer(change.revision), "profile": .string(profile),
                "moved": .integer(target.moved.count),
                "devices": .strings(target.moved.map { devices.device($0).label }),
                "kept": .array(
                    target.kept.map {
                        .members(["device": .string(devices.device($0.device).label), "profile": .string($0.profile)])
                    }),
                "until": target.until.map { .integer(Int($0)) } ?? .null, "flows": change.counts.json,
                "pending": pendingJSON, "warnings": .strings(warnings(of: profile, gateway)), "link": link,
            ]))
        return preflighted(answer, to: profile, gateway)
    }

    /// The profile that those who were moved have now.
    private func profile(after target: SwitchTarget) -> String {
        guard target.moved.count == 1,
            case .profile(let id) = profileRules.choice(for: devices.device(target.moved[0])).route
        else { return plan.active.id }
        return id
    }

    /// What whoever switches should know, and what is no reason not to.
    private func warnings(of profile: String, _ gateway: borrowing Gateway) -> [String] {
        guard let position = plan.position(of: profile) else { return [] }
        switch gateway.condition(ofProfile: position) {
        case .lost: return ["nothing has come through \(profile)'s upstream lately"]
        case .credentialsRejected: return ["\(profile)'s upstream has rejected the credentials"]
        case .ok, .unknown: return []
        }
    }

    /// Refuses a profile that is not there.
    func checkProfile(_ id: String, path: String = "profile") throws(ControlError) {
        let configuration = plan.effective.configuration
        guard configuration.profile(id) == nil else { return }
        let ids = configuration.profiles.map(\.id)
        let near = NearMiss.suggestion(for: id, among: ids)
        throw ControlError(
            .notFound, "\(path): there is no such profile; expected one of \(ids.joined(separator: ", "))", path: path,
            expected: "one of \(ids.joined(separator: ", "))", hint: near.map { "did you mean \($0)?" })
    }

    /// The device that a text means.
    func find(_ text: String, path: String = "device") throws(ControlError) -> DeviceIdentity {
        do throws(DeviceError) {
            return try devices.find(text).identity
        } catch {
            throw ControlError(.notFound, "\(error)", path: path)
        }
    }
}
