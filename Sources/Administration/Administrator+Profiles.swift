/// Profiles that are pushed, and the file beside them.

import Bytes
import Control
import Devices
import Gateway
import Health
import LinuxIO
import Profiles
import Store

extension Administrator {
    func profiles(_ gateway: inout Gateway) -> ControlAnswer {
        let users = profilesOfDevices()
        var list: [JSON] = []
        for profile in plan.effective.configuration.profiles {
            list.append(json(profile, isStored: plan.isStored(profile.id), users: users[profile.id] ?? []))
        }
        for profile in plan.lab.profiles where plan.effective.hiddenProfiles.contains(profile.id) {
            list.append(json(profile, isStored: true, isHidden: true, users: []))
        }
        return ControlAnswer(.members(["profiles": .array(list)]))
    }

    private func json(_ profile: Profile, isStored: Bool, isHidden: Bool = false, users: [String]) -> JSON {
        let mode = profile.routes.domains.isEmpty ? "global" : "domain"
        return .members([
            "id": .string(profile.id), "name": .string(profile.name), "source": isStored ? "store" : "file",
            "hidden": .boolean(isHidden), "active": .boolean(!isHidden && profile.id == plan.active.id),
            "selfService": .boolean(profile.isSelfService), "own": plan.lab.ownProxy(profile.id) == nil ? nil : true,
            "mode": .string(mode),
            "upstream": .string(profile.upstream.words), "devices": .strings(users),
            "health": healthSummary(of: profile.id),
            "chosen": desk?.groups[profile.id].map { group in
                group.choice.order.first.map { .string(group.options.members[$0]) } ?? .null
            },
        ])
    }

    /// The devices that have each profile for themselves, by the profile's id.
    private func profilesOfDevices() -> [String: [String]] {
        var users: [String: [String]] = [:]
        let rules = profileRules
        for device in devices.devices {
            let choice = rules.choice(for: device)
            guard choice.isOwn, case .profile(let id) = choice.route else { continue }
            users[id, default: []].append(device.label)
        }
        return users
    }

    func profile(_ id: String) throws(ControlError) -> ControlAnswer {
        try checkProfile(id, path: "profiles")
        let stored = plan.isStored(id) ? plan.lab.profiles.first { $0.id == id } : nil
        guard let profile = stored ?? plan.effective.configuration.profile(id) else {
            throw ControlError(.notFound, "there is no such profile")
        }
        return ControlAnswer(profile.json)
    }

    mutating func put(
        _ id: String, _ body: [UInt8], _ confirm: Int?, _ by: String, _ gateway: inout Gateway
    ) throws(ControlError) -> ControlAnswer {
        let profile: Profile
        do throws(ConfigurationError) {
            profile = try Profile.parse(body.span, id: id)
            try profile.check(in: plan.resolved)
        } catch {
            throw ControlError(error)
        }
        guard plan.file.profile(id) == nil else {
            throw ControlError(
                .conflict,
                "\(id) is a profile of the configuration file, which is the administrator's; expected another id",
                path: "id")
        }
        try checkIsNobodysOwn(id)
        var state = plan.lab
        let isNew = !state.profiles.contains { $0.id == id }
        if isNew {
            state.profiles.append(profile)
        } else {
            state.profiles = state.profiles.map { $0.id == id ? profile : $0 }
        }
        state = try awaiting(confirm, state)
        let note = LabStore.Note(by: by, how: "push", summary: "profile \(id)")
        return try push(state, note, isNew: isNew, &gateway)
    }

    /// Carries a push out, and has its upstreams tried.
    private mutating func push(
        _ state: LabState, _ note: LabStore.Note, isNew: Bool = false, _ gateway: inout Gateway
    ) throws(ControlError) -> ControlAnswer {
        let (before, former) = (plan, store.number)
        let colours = desk?.watched.mapValues { $0.health.report.colour } ?? [:]
        let change = try change(to: state, note, drain: .seconds(2), &gateway)
        let words = tryUpstreams(of: change.revision, former: former, since: before, colours, gateway)
        return answer(to: change, state.changes(since: before.lab), warnings: words, status: isNew ? 201 : 200)
    }

    mutating func delete(
        _ id: String, _ moveTo: String?, _ by: String, _ gateway: inout Gateway
    ) throws(ControlError) -> ControlAnswer {
        guard plan.lab.profiles.contains(where: { $0.id == id }) else {
            try checkProfile(id, path: "profiles")
            throw ControlError(.conflict, "\(id) is a profile of the configuration file: it is taken out there")
        }
        let isHidden = plan.effective.hiddenProfiles.contains(id)
        let groups = isHidden ? [] : plan.effective.configuration.groups(with: id)
        guard groups.isEmpty else {
            let names = groups.joined(separator: ", ")
            throw ControlError(.conflict, "\(id) is a member of \(names); expected it to be taken out there first")
        }
        var state = plan.lab
        state.profiles.removeAll { $0.id == id }
        let users = isHidden ? [] : state.assignments.filter { $0.profile == id }
        let isActive = !isHidden && plan.active.id == id
        if !users.isEmpty || isActive {
            guard let moveTo else {
                var words = users.map { devices.device($0.device).label }
                if isActive { words.append("every device without a profile of its own") }
                throw ControlError(
                    .conflict,
                    "\(id) is in use by \(words.joined(separator: ", ")); expected moveTo: a profile, or default",
                    path: "moveTo", expected: "the id of another profile, or default")
            }
            try move(from: id, to: moveTo, &state)
        }
        let note = LabStore.Note(by: by, how: "delete", summary: "profile \(id)")
        let change = try change(to: state, note, drain: .seconds(2), &gateway)
        return answer(to: change, ["profiles.\(id) is gone"])
    }

    private func move(from id: String, to moveTo: String, _ state: inout LabState) throws(ControlError) {
        guard moveTo != id else {
            throw ControlError(.badRequest, "moveTo: found the profile that goes; expected another one", path: "moveTo")
        }
        if moveTo == "default" {
            state.assignments.removeAll { $0.profile == id }
            if state.active == id { state.active = nil }
            return
        }
        try checkProfile(moveTo, path: "moveTo")
        for index in state.assignments.indices where state.assignments[index].profile == id {
            state.assignments[index].profile = moveTo
        }
        if state.active == id { state.active = moveTo }
    }

    // MARK: The configuration as a whole

    func configuration() -> ControlAnswer {
        ControlAnswer(
            .members([
                "file": .string(options.configuration), "overlay": plan.lab.overlay,
                "effective": plan.effective.configuration.json,
            ]))
    }

    mutating func put(
        _ body: [UInt8], _ confirm: Int?, _ by: String, _ gateway: inout Gateway
    ) throws(ControlError) -> ControlAnswer {
        let overlay: Overlay
        do throws(ConfigurationError) {
            overlay = try Overlay.parse(body.span)
        } catch {
            throw ControlError(error)
        }
        if case .profile(let id)? = overlay.active {
            let ids = (overlay.profiles ?? plan.lab.profiles).map(\.id) + plan.file.profiles.map(\.id)
            guard ids.contains(id) else {
                throw ControlError(
                    .badValue, "active: there is no such profile; expected one of \(ids.joined(separator: ", "))",
                    path: "active")
            }
        }
        for profile in overlay.profiles ?? [] { try checkIsNobodysOwn(profile.id) }
        for profile in overlay.profiles ?? [] where plan.file.profile(profile.id) != nil {
            throw ControlError(
                .conflict, "profiles: \(profile.id) is a profile of the configuration file; expected another id",
                path: "profiles")
        }
        let state = try awaiting(confirm, overlay.laid(over: plan.lab))
        return try push(state, LabStore.Note(by: by, how: "push", summary: "configuration"), &gateway)
    }

    func history() -> ControlAnswer {
        ControlAnswer(
            .members([
                "current": .integer(store.number),
                "revisions": .array(
                    store.history.map { revision in
                        .members([
                            "revision": .integer(revision.number), "at": .integer(Int(revision.at)),
                            "by": .string(revision.by), "how": .string(revision.how),
                            "summary": .string(revision.summary),
                        ])
                    }),
            ]))
    }

    func differences() -> ControlAnswer {
        let running = plan.resolved.withSections(of: self.running).configuration
        return ControlAnswer(.members(["differences": .array(running.differences(from: plan.file).map(\.json))]))
    }

    func export() -> ControlAnswer { ControlAnswer(plan.effective.configuration.json) }
}
