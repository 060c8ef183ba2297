/// Own proxies: people bring one along for one device, within the bounds of `adhoc`, and for a while.
///
/// What is brought is a profile of the store, an assignment that ends, and a note that ties both together (`OwnProxy`).
/// `planned` tidies each state, so it does not matter who ends the assignment: a lease, a release, a switch, `giveUp`.

import Addresses
import Bytes
import Control
import Devices
import Gateway
import LinuxIO
import Page
import Profiles
import Routing

extension Administrator {
    /// The most own proxies at a time: stored profiles have a bound, and others want to push theirs.
    static let ownProxyLimit = 256
    /// The most entries of a list of domains that comes with one.
    static let ownDomainLimit = 256

    /// What may be brought, as the pages say it; nil: nothing.
    var ownProxyTerms: OwnProxyTerms? {
        plan.effective.configuration.adhoc.map { adhoc in
            OwnProxyTerms(
                lease: adhoc.lease.wholeSeconds, longest: adhoc.longest.wholeSeconds, from: adhoc.fromText,
                ports: adhoc.portsText)
        }
    }

    // MARK: Bringing one

    /// Gives a device a proxy that somebody has typed in, and returns the last second of it, counted from 1970.
    ///
    /// `server` is `10.20.3.77:8899` or the URL that the proxy's window shows; `domains` are entries as in a profile,
    /// between blanks, commas or line ends, none for everything; `by` is who asks, for the history. Throws what was
    /// found and what would be right, with the field that is wrong as `path` (`server` or `domains`); then nothing has
    /// changed.
    @discardableResult
    mutating func bringProxy(
        _ server: String, domains: String, for device: DeviceIdentity, _ by: String, _ gateway: inout Gateway
    ) throws(ControlError) -> Int64 {
        try give(ownProfile(server, domains: domains, for: device), to: device, from: nil, by, &gateway)
    }

    /// The profile of a proxy that somebody has typed in; throws what is wrong with it, as far as nobody has to be
    /// asked.
    func ownProfile(
        _ server: String, domains: String, for device: DeviceIdentity
    ) throws(ControlError) -> Profile {
        let adhoc = try adhocOptions()
        let upstream: Profiles.Upstream
        do throws(AdhocError) {
            upstream = try adhoc.upstream(server)
        } catch {
            throw ControlError(error, path: "server")
        }
        var profile = Profile(
            id: ownProfileID(of: device), name: "own proxy of \(devices.device(device).label)", upstream: upstream)
        profile.routes.domains = try Self.domainList(domains)
        try checkPlace(of: profile, for: device, adhoc)
        try checkDomains(of: profile)
        return profile
    }

    /// Gives a device a profile that is its own, in place of what it has; returns the last second of it.
    ///
    /// The same proxy again is more of the same time.
    mutating func give(
        _ profile: Profile, to device: DeviceIdentity, from laptop: DeviceIdentity?, _ by: String,
        _ gateway: inout Gateway
    ) throws(ControlError) -> Int64 {
        let adhoc = try adhocOptions()
        try checkPlace(of: profile, for: device, adhoc)
        try checkDomains(of: profile)
        let now = Clock.unixTime().seconds
        let former = plan.effective.assignments.first { $0.device == device }
        let isSame =
            former?.profile == profile.id && plan.lab.ownProxy(profile.id) != nil
            && plan.effective.configuration.profile(profile.id)?.upstream.server == profile.upstream.server
        let since = isSame ? plan.lab.ownProxy(profile.id)?.since ?? now : now
        let end = min(now + adhoc.lease.wholeSeconds, since + adhoc.longest.wholeSeconds)
        var assignment = Assignment(device: device, profile: profile.id, since: now, until: end, by: by)
        if isSame, let former { (assignment.direct, assignment.proxied) = (former.direct, former.proxied) }
        var state = plan.lab
        state.own.removeAll { $0.profile == profile.id }
        state.profiles.removeAll { $0.id == profile.id }
        guard state.own.count < Self.ownProxyLimit, state.profiles.count < LabState.profileLimit else {
            throw ControlError(
                .conflict, "found \(state.own.count) own proxies in use; expected fewer: one has to end first")
        }
        state.profiles.append(profile)
        state.own.append(OwnProxy(profile: profile.id, device: device, laptop: laptop, since: since))
        state.assignments.removeAll { $0.device == device }
        state.assignments.append(assignment)
        let words = "\(devices.device(device).label) uses \(profile.id): \(profile.name), \(profile.upstream.words)"
        let note = LabStore.Note(by: by, how: "own proxy", summary: words)
        _ = try change(to: state, note, drain: .seconds(2), &gateway)
        return end
    }

    /// Gives a device more time with its own proxy, and returns the last second of it.
    @discardableResult
    mutating func extendOwnProxy(
        of device: DeviceIdentity, by time: Interval, _ by: String, _ gateway: inout Gateway
    ) throws(ControlError) -> Int64 {
        let adhoc = try adhocOptions()
        let label = devices.device(device).label
        var state = plan.lab
        guard let index = state.assignments.firstIndex(where: { $0.device == device }),
            let own = state.ownProxy(state.assignments[index].profile), let until = state.assignments[index].until
        else { throw ControlError(.conflict, "\(label) has no own proxy that could last longer", path: "device") }
        let end = min(until + time.wholeSeconds, own.since + adhoc.longest.wholeSeconds)
        guard end > until else {
            let longest = Quantity.text(adhoc.longest)
            throw ControlError(
                .conflict,
                "found an own proxy that \(label) has for \(longest) already; expected at most that"
                    + " (adhoc.max): bring it again when it has ended")
        }
        state.assignments[index].until = end
        let note = LabStore.Note(by: by, how: "own proxy", summary: "\(label) keeps \(own.profile) for longer")
        _ = try change(to: state, note, drain: .seconds(2), &gateway)
        return end
    }

    // MARK: What is refused

    func adhocOptions() throws(ControlError) -> AdhocOptions {
        guard let adhoc = plan.effective.configuration.adhoc else {
            throw ControlError(
                .forbidden,
                "found an own proxy, and this gateway lets nobody bring one; expected `adhoc` in its configuration")
        }
        return adhoc
    }

    /// Refuses a proxy that is out of bounds, or no other machine's: nobody is led to this machine's own services, or
    /// back to themselves.
    func checkPlace(of profile: Profile, for device: DeviceIdentity?, _ adhoc: AdhocOptions) throws(ControlError) {
        guard let server = profile.upstream.server, case .address(let address) = server.host else {
            throw ControlError(.badValue, "server: found no address; expected one in \(adhoc.fromText)", path: "server")
        }
        do throws(AdhocError) {
            try adhoc.check(server)
            let machine: [IPAddress]
            do throws(SystemCallError) {
                machine = try NetworkInterface.addresses().map(\.address)
            } catch {
                throw AdhocError(
                    found: "that the kernel does not say whose \(address) is (\(error))", expected: "it to")
            }
            let elsewhere = "the address of the machine that the proxy runs on"
            guard !machine.contains(address) else {
                throw AdhocError(found: "\(address), this gateway itself", expected: elsewhere)
            }
            let dns = plan.effective.configuration.dns
            guard dns.mode == .off || !dns.pool.contains(address) && !dns.pool6.contains(address) else {
                throw AdhocError(found: "\(address), one of this gateway's fake addresses", expected: elsewhere)
            }
            if let device, devices.addresses(of: device).contains(address) {
                throw AdhocError(found: "\(address), the device itself that it is for", expected: elsewhere)
            }
        } catch {
            throw ControlError(error, path: "server")
        }
    }

    /// Cuts a text into the entries of a list.
    private static func domainList(_ text: String) throws(ControlError) -> [RuleText] {
        let entries = text.split { $0.isWhitespace || $0 == "," }.map(String.init)
        guard entries.count <= ownDomainLimit, entries.allSatisfy({ $0.utf8.count <= 1024 }) else {
            throw ControlError(
                .badValue,
                "domains: found \(entries.count) entries; expected at most \(ownDomainLimit), each of at most 1024 octets",
                path: "domains")
        }
        return entries.map { RuleText($0) }
    }

    private func checkDomains(of profile: Profile) throws(ControlError) {
        do throws(ConfigurationError) {
            try profile.check(in: plan.resolved)
        } catch {
            throw ControlError(
                .badValue, "\(error.path): found \(error.found); expected \(error.expected)", path: "domains",
                found: error.found, expected: error.expected, hint: error.hint)
        }
    }

    /// Refuses to push what somebody has brought along.
    func checkIsNobodysOwn(_ id: String) throws(ControlError) {
        guard plan.lab.ownProxy(id) != nil, plan.isStored(id) else { return }
        throw ControlError(.conflict, "id: found \(id), an own proxy of one device's; expected another id", path: "id")
    }

    /// Refuses a state in which somebody else depends on a proxy that one device has brought along.
    func checkOwnProxies(in state: LabState) throws(ControlError) {
        for own in state.own where plan.file.profile(own.profile) == nil {
            let owner = devices.device(own.device).label
            let found = "found \(own.profile), an own proxy of one device's"
            guard state.active != own.profile else {
                throw ControlError(.conflict, "\(found); expected another profile for all", path: "profile")
            }
            let stranger = state.assignments.first { $0.profile == own.profile && $0.device != own.device }
            guard stranger == nil else {
                throw ControlError(.conflict, "\(found); expected \(owner), which it was brought for", path: "device")
            }
        }
    }

    /// Refuses other profiles that name one: they would be wrong when it ends.
    func checkOwnProxies(areNamedByNobodyIn next: Plan) throws(ControlError) {
        let own = Set(next.lab.own.map(\.profile)).intersection(next.effective.storedProfiles)
        guard !own.isEmpty else { return }
        for profile in next.effective.configuration.profiles where !own.contains(profile.id) {
            let named = next.resolved.rules(of: profile.id).profiles + (profile.upstream.group?.members ?? [])
            guard let name = named.first(where: own.contains) else { continue }
            throw ControlError(
                .conflict,
                "profiles: found \(name) named by \(profile.id), an own proxy that ends by itself; expected another one",
                path: "profiles")
        }
    }

    // MARK: Its end

    /// The end of an assignment to a profile: no own proxy lasts longer than it may in all.
    func end(_ wanted: Int64?, with profile: String) -> Int64? {
        guard let own = plan.lab.ownProxy(profile), let adhoc = plan.effective.configuration.adhoc else {
            return wanted
        }
        return min(wanted ?? .max, own.since + adhoc.longest.wholeSeconds)
    }

    /// The assignments to own proxies that are over, or that the configuration, which has changed since, has no room
    /// for.
    func endedOwnProxies(at now: Int64) -> [Assignment] {
        guard !plan.lab.own.isEmpty else { return [] }
        return plan.lab.assignments.filter { assignment in
            guard let own = plan.lab.ownProxy(assignment.profile) else { return false }
            return assignment.isOver(at: now) || !isAllowed(own, at: now)
        }
    }

    private func isAllowed(_ own: OwnProxy, at now: Int64) -> Bool {
        guard let adhoc = plan.effective.configuration.adhoc, plan.isStored(own.profile),
            let server = plan.effective.configuration.profile(own.profile)?.upstream.server
        else { return false }
        do throws(AdhocError) {
            try adhoc.check(server)
            return own.since + adhoc.longest.wholeSeconds >= now
        } catch {
            return false
        }
    }

    // MARK: What it is called

    /// `own proxy of mac-7`; nil for any other profile.
    func ownProxyWords(_ profile: String) -> String? {
        guard plan.lab.ownProxy(profile) != nil, plan.isStored(profile) else { return nil }
        return plan.effective.configuration.profile(profile)?.name
    }

    /// The id of a device's own proxy: the one that it has, or else `own-` and what it is called.
    func ownProfileID(of device: DeviceIdentity) -> String {
        if let own = plan.lab.own.first(where: { $0.device == device }), plan.file.profile(own.profile) == nil {
            return own.profile
        }
        var id = "own-"
        for scalar in devices.device(device).label.unicodeScalars.prefix(48) {
            let isPlain = scalar.isASCII && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil)
            id.unicodeScalars.append(isPlain || scalar == "." || scalar == "_" ? scalar : "-")
        }
        let isTaken = { (id: String) in
            plan.file.profile(id) != nil || plan.lab.profiles.contains { $0.id == id }
        }
        let stem = id
        var number = 1
        while isTaken(id) {
            number += 1
            id = "\(stem)-\(number)"
        }
        return id
    }
}

extension ControlError {
    /// What is wrong with a proxy that somebody brings, in the field where it was typed.
    init(_ error: AdhocError, path: String) {
        self.init(.badValue, "\(path): \(error)", path: path, found: error.found, expected: error.expected)
    }

    /// The error beside the field that it is about, which needs no name there; a list's entry keeps its number.
    var besideField: String {
        guard let found, let expected, path != "domains" else { return message }
        return "found \(found); expected \(expected)"
    }
}

extension Interval {
    var wholeSeconds: Int64 { nanoseconds / 1_000_000_000 }
}
