/// What a device does to itself by the page: each change is a switch like any other, for this device alone.

import Bytes
import Control
import Devices
import Gateway
import Health
import LinuxIO
import Page
import Profiles

extension Administrator {
    /// How the history says by what a device has changed something.
    static let byPage = "page"
    /// By how much a device makes its lease longer, and how far away its end may be then, in seconds.
    private static let extraTime: (step: Int64, limit: Int64) = (3600, 86_400)
    /// A try that is no older counts as a new one.
    private static let retryPause = Interval.seconds(2)
    /// How many names and assignments there may be for another one to be made here: who is on the LAN can make up
    /// devices.
    private static let roomForDevices = 4096

    /// Does what a form says, or says why not; nothing is half done.
    mutating func carryOut(
        _ change: PageChange, _ caller: PageCaller, _ gateway: inout Gateway
    ) throws(ControlError) -> PageAnswer {
        switch change {
        case .switchTo(let profile): return .done(try switchTo(profile, caller, &gateway))
        case .activate(let query): return .done(try activate(query, caller, &gateway))
        case .release: return .done(try release(caller, &gateway))
        case .tryAgain: return .done(try tryAgain(caller, gateway))
        case .extend: return .done(try extend(caller, &gateway))
        case .handOver: return .done(try handOver(caller, &gateway))
        case .name(let name): return .done(try giveName(name, caller, &gateway))
        case .direct(let host): return .done(try send(host, direct: true, caller, &gateway))
        case .proxy(let host): return .done(try send(host, direct: false, caller, &gateway))
        case .learn:
            _ = try learn(caller.text, &gateway)
            return .done(.learning)
        case .addDomains(let domains): return .done(try add(domains, caller, &gateway))
        case .bringProxy(let server, let domains): return try bring(server, domains, caller, &gateway)
        case .bringLaptop(let port): return bringLaptop(port, caller, &gateway)
        }
    }

    // MARK: Switching

    private mutating func switchTo(
        _ profile: String, _ caller: PageCaller, _ gateway: inout Gateway
    ) throws(ControlError) -> PageNotice {
        guard Link.isIdentifier(profile) else {
            throw ControlError(.badRequest, "profile: found no id; expected the id of a self-service profile")
        }
        // What a device may pick is what a link without a signature may say.
        let meaning = try meaning(of: Link(profile: profile, form: .starship))
        try assign(meaning, caller, &gateway)
        return .switched
    }

    /// Gives the asking device what a link or a button means, for the usual time.
    mutating func assign(
        _ meaning: Meaning, _ caller: PageCaller, _ gateway: inout Gateway
    ) throws(ControlError) {
        try checkRoom(for: caller.device)
        var state = plan.lab
        lay(meaning, over: &state)
        let by = meaning.grant.map { "\(caller.by) by key \($0.key)" } ?? caller.by
        let target = try assign(meaning.profile, .device(caller.text), .usual, by, &state)
        let note = LabStore.Note(by: by, how: Self.byPage, summary: "\(target.words) \(meaning.profile)")
        _ = try self.change(to: state, note, drain: ControlCall.Manner().drain, &gateway)
    }

    private mutating func release(
        _ caller: PageCaller, _ gateway: inout Gateway
    ) throws(ControlError) -> PageNotice {
        guard try end(caller, "is released", &gateway) else {
            throw ControlError(.conflict, "\(caller.device.label) has no profile of its own that could end")
        }
        return .released
    }

    /// Ends what a device has for itself; false where that is nothing.
    private mutating func end(
        _ caller: PageCaller, _ words: String, _ gateway: inout Gateway
    ) throws(ControlError) -> Bool {
        guard let own = caller.device.assignment else { return false }
        var state = plan.lab
        state.assignments.removeAll { $0.device == own.device }
        try keep(state, words, caller, &gateway)
        return true
    }

    private mutating func extend(
        _ caller: PageCaller, _ gateway: inout Gateway
    ) throws(ControlError) -> PageNotice {
        guard let own = caller.device.assignment,
            let index = plan.lab.assignments.firstIndex(where: { $0.device == own.device })
        else {
            throw ControlError(.conflict, "\(caller.device.label) has no profile of its own that could last longer")
        }
        if plan.lab.ownProxy(own.profile) != nil {
            try extendOwnProxy(of: own.device, by: .seconds(Self.extraTime.step), caller.by, &gateway)
            return .extended
        }
        guard let until = own.until else {
            throw ControlError(.conflict, "it has no end: it lasts until somebody releases it")
        }
        let (step, limit) = Self.extraTime
        guard until + step <= caller.now + limit else {
            throw ControlError(
                .conflict,
                "it lasts for \((until - caller.now) / 3600) hours yet; expected less than \((limit - step) / 3600)")
        }
        var state = plan.lab
        state.assignments[index].until = until + step
        try keep(state, "has \(own.profile) for an hour more", caller, &gateway)
        return .extended
    }

    private mutating func handOver(
        _ caller: PageCaller, _ gateway: inout Gateway
    ) throws(ControlError) -> PageNotice {
        _ = try end(caller, "is handed over", &gateway)
        let device = caller.device
        lessons[device.identity] = nil
        gateway.forgetRequests(of: addresses(of: device).union([caller.address]))
        page.forget(device.identity)
        return .handedOver
    }

    /// Has another state count that a device has made.
    private mutating func keep(
        _ state: LabState, _ words: String, _ caller: PageCaller, _ gateway: inout Gateway
    ) throws(ControlError) {
        let note = LabStore.Note(by: caller.by, how: Self.byPage, summary: "\(caller.device.label) \(words)")
        _ = try change(to: state, note, drain: ControlCall.Manner().drain, &gateway)
    }

    /// What the store takes is bounded, and what goes beyond that it could not be read again with.
    func checkRoom(for device: Device) throws(ControlError) {
        guard device.assignment == nil, plan.lab.assignments.count >= Self.roomForDevices else { return }
        throw ControlError(
            .conflict, "found \(plan.lab.assignments.count) devices with a profile of their own; expected fewer",
            hint: "whoever looks after the gateway can release some")
    }

    // MARK: The rest

    /// Has the proxy be tried now; what comes of it is seen here.
    private mutating func tryAgain(
        _ caller: PageCaller, _ gateway: borrowing Gateway
    ) throws(ControlError) -> PageNotice {
        guard let profile = profile(of: caller.device) else {
            throw ControlError(.conflict, "\(caller.device.label) has no profile whose proxy could be tried")
        }
        let now = Clock.now()
        var isTried = false
        for id in profile.upstream.group?.members ?? [profile.id] {
            if desk?.watched[id] == nil { desk?.begin(id, plan, gateway, at: now) }
            // However often somebody taps, a proxy is not flooded with tries.
            let isFresh = desk?.watched[id]?.health.report.connect.map { now - $0.at < Self.retryPause } ?? false
            if isFresh || desk?.ask(id, at: now) != nil { isTried = true }
        }
        guard isTried else {
            throw ControlError(.conflict, "\(profile.name) is not tried: its profile says `health: false`")
        }
        return .tried
    }

    private mutating func giveName(
        _ typed: String, _ caller: PageCaller, _ gateway: inout Gateway
    ) throws(ControlError) -> PageNotice {
        let device = caller.device
        // Keyboards of phones put a blank behind a word.
        let name = String(typed.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
        guard name != device.name else {
            page.named(device.identity, at: Clock.now())
            return .named
        }
        guard NamedDevice.isName(name) else {
            throw ControlError(.badValue, "found no name; expected \(NamedDevice.nameWords)")
        }
        // Whose name it is is nobody else's business.
        let isTaken = plan.effective.configuration.devices.contains { $0.name == name }
        guard !isTaken else {
            throw ControlError(.conflict, "found \(name), which is another device's name; expected one of its own")
        }
        guard device.name != nil || plan.lab.devices.count < Self.roomForDevices else {
            throw ControlError(
                .conflict, "found \(plan.lab.devices.count) devices with names; expected fewer",
                hint: "whoever looks after the gateway can forget some")
        }
        _ = try self.name(caller.text, name, caller.by, &gateway, how: Self.byPage)
        page.named(device.identity, at: Clock.now())
        return .named
    }
}
