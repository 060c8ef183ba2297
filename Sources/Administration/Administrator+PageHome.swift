/// The first look: what a device has, how that is, and what it can do about it.

import Addresses
import Bytes
import Control
import Devices
import Gateway
import Health
import LinuxIO
import Network
import Page
import Profiles
import Routing
import Upstreams

/// What the first look says besides what is so.
struct HomeWords {
    var notice: PageNotice?
    var refusal: String?
    /// What was typed for a name, and not taken.
    var naming: FormField?
}

extension Administrator {
    mutating func home(_ caller: PageCaller, _ words: HomeWords, _ gateway: inout Gateway) -> PageAnswer {
        let device = caller.device
        let look = lookForPage(gateway)
        let choice = profileRules.choice(for: device)
        let first = firstVisit(device.identity)
        var view = HomeView(
            device: caller.view, way: way(choice, of: device, gateway), origin: origin(choice, caller),
            choices: choices, lease: plan.resolved.configuration.lease.map { $0.nanoseconds / 1_000_000_000 },
            isFirstVisit: first != nil)
        view.asksName = first.map { !$0.isNamed } ?? false
        view.naming = words.naming ?? FormField(Self.proposal(for: device))
        (view.notice, view.refusal) = (words.notice, words.refusal)
        view.warnings = Self.marks(of: device, look.insistences.map(\.description), look.shared)
        let left = page.left.value(of: device.identity, at: Clock.now())
        if left != profile(of: device).flatMap({ kind(of: $0.id) }) { view.leftCertificate = left }
        view.usesProxyScript = device.mac == nil && proxyPort(for: caller) != nil
        return view.answer(in: caller.context)
    }

    // MARK: What is so

    /// The profiles that anybody may pick.
    var choices: [HomeView.Choice] {
        plan.effective.configuration.profiles.filter(\.isSelfService).map { HomeView.Choice(id: $0.id, name: $0.name) }
    }

    private func way(_ choice: ProfileChoice, of device: Device, _ gateway: borrowing Gateway) -> HomeView.Way {
        switch choice.route {
        case .direct: .direct
        case .block: .blocked
        case .profile(let id):
            plan.effective.configuration.profile(id).map { profile in
                .profile(view(of: profile, besides: device.assignment?.proxied ?? [], gateway))
            } ?? .blocked
        }
    }

    private func origin(_ choice: ProfileChoice, _ caller: PageCaller) -> HomeView.Origin {
        switch choice.reason {
        case .assignment:
            guard let own = caller.device.assignment else { return .standard }
            let by = own.by == caller.by ? "this phone" : own.by
            return .assignment(by: by, since: own.since, until: own.until)
        case .file: return .file
        case .interface: return .interface(caller.device.interface ?? "its network")
        case .default: return .standard
        case .new: return .newcomer
        case .unheard: return .unheard
        }
    }

    /// What a device has, in a word or two.
    func nowWords(_ device: Device) -> String {
        switch profileRules.choice(for: device).route {
        case .direct: "no proxy"
        case .block: "no way out"
        case .profile(let id): plan.effective.configuration.profile(id)?.name ?? id
        }
    }

    /// The profile that a device has, where it has one.
    func profile(of device: Device) -> Profile? {
        guard case .profile(let id) = profileRules.choice(for: device).route else { return nil }
        return plan.effective.configuration.profile(id)
    }

    private static func proposal(for device: Device) -> String {
        if let name = device.name { return name }
        guard case .name(let name)? = device.proposal else { return "" }
        return name
    }

    /// The device's first visit, while it lasts.
    private mutating func firstVisit(_ device: DeviceIdentity) -> PageDesk.FirstVisit? {
        let now = Clock.now()
        if let first = page.callers.value(of: device, at: now) {
            return now - first.at < PageDesk.firstVisit ? first : nil
        }
        let first = PageDesk.FirstVisit(at: now)
        page.callers.note(first, of: device, at: now)
        return first
    }

    /// What can be said of devices by their packets and questions; however many ask, few look.
    mutating func lookForPage(_ gateway: borrowing Gateway) -> PageDesk.Look {
        let now = Clock.now()
        if let look = page.look, now - look.at < PageDesk.lookTime { return look }
        let look = PageDesk.Look(at: now, insistences: gateway.insistences(), shared: look(gateway))
        page.look = look
        return look
    }

    /// Which of the other pages there are for a device.
    func offers(to caller: PageCaller) -> PageOffers {
        var offers: PageOffers = []
        if let profile = profile(of: caller.device), authorityPlace(of: profile.id) != nil {
            offers.insert(.certificate)
        }
        if ownProxyTerms != nil { offers.insert(.ownProxy) }
        if mayViewBoard(caller) { offers.insert(.board) }
        if proxyPort(for: caller) != nil { offers.insert(.proxyScript) }
        if running.dns.mode != .off { offers.insert(.learn) }
        return offers
    }
}

extension Administrator {
    // MARK: Profiles and proxies

    /// A profile as a device has it that also has some names proxied for itself.
    func view(of profile: Profile, besides own: [String] = [], _ gateway: borrowing Gateway) -> ProfileView {
        var mode = ProfileView.Mode.everything
        let domains = profile.routes.domains.map(\.text)
        let isKnown = plan.effective.configuration.profile(profile.id) == profile
        let isGlobal = isKnown ? plan.resolved.rules(of: profile.id).mode == .global : domains.isEmpty
        if profile.upstream.type == .direct {
            mode = .nothing
        } else if !isGlobal {
            mode = .domains(domains + own)
        }
        return ProfileView(id: profile.id, name: profile.name, mode: mode, upstream: upstreamView(of: profile))
    }

    /// How a profile's proxy is; of a group the member that is asked first.
    func upstreamView(of profile: Profile) -> UpstreamView {
        guard let group = profile.upstream.group else { return memberView(of: profile) }
        let order = desk?.groups[profile.id]?.choice.order ?? [0]
        guard let first = order.first, let member = plan.effective.configuration.profile(group.members[first]) else {
            let members = group.members.joined(separator: ", ")
            return UpstreamView(address: members, colour: .red, cause: .unreachable("none of its members gets through"))
        }
        return memberView(of: member)
    }

    private func memberView(of profile: Profile) -> UpstreamView {
        let upstream = profile.upstream
        var view = UpstreamView(
            address: upstream.server?.description, kind: UpstreamView.Kind(upstream.kind), colour: .grey,
            cause: .neverTried)
        if view.kind.decrypts { view.reading = .decrypts(issuer: nil) }
        // A link may bring another proxy under the name of one that is there.
        guard plan.effective.configuration.profile(profile.id)?.upstream == upstream else { return view }
        let report = seen(profile.id)
        (view.colour, view.cause, view.note) = (report.colour, report.cause, report.note)
        guard let watched = desk?.watched[profile.id] else { return view }
        view.since = Int64(Self.time(report.since))
        view.lastGood = report.lastGood.map { Int64(Self.time($0)) }
        var issuer: String?
        if case .issuer(let name)? = watched.certificate { issuer = name }
        let isProxys = issuer.map { name in
            Profiles.Upstream.Kind.decrypting.contains { name.lowercased().contains($0.rawValue) }
        }
        if view.kind.decrypts || isProxys ?? false || watched.upstream.decrypts(at: Clock.now()) {
            view.reading = .decrypts(issuer: issuer)
        }
        return view
    }

    /// Which program a profile's proxy is.
    func kind(of profile: String) -> UpstreamView.Kind? {
        if let place = authorityPlace(of: profile) { return UpstreamView.Kind(place.kind) }
        return (plan.effective.configuration.profile(profile)?.upstream.kind).map(UpstreamView.Kind.init)
    }

    // MARK: Certificates that stay behind

    /// Which certificates the devices may have that another plan moves to another profile.
    func decryptingKinds(ofThoseWhoMoveTo next: Plan) -> [DeviceIdentity: UpstreamView.Kind] {
        let isDecrypting = plan.effective.configuration.profiles.contains { $0.upstream.kind.certificateSource != nil }
        guard isDecrypting else { return [:] }
        let profiles = { (plan: Plan) in
            Dictionary(plan.effective.assignments.map { ($0.device, $0.profile) }) { first, _ in first }
        }
        let (before, after) = (profiles(plan), profiles(next))
        var kinds: [DeviceIdentity: UpstreamView.Kind] = [:]
        for identity in Set(before.keys).union(after.keys) where before[identity] != after[identity] {
            guard let profile = profile(of: devices.device(identity)), let kind = kind(of: profile.id), kind.decrypts
            else { continue }
            kinds[identity] = kind
        }
        return kinds
    }

    /// Remembers who has left a proxy that decrypts: its certificate is of no more use, and of some danger.
    mutating func noteLeft(_ former: [DeviceIdentity: UpstreamView.Kind]) {
        for (identity, kind) in former {
            let now = profile(of: devices.device(identity)).flatMap { self.kind(of: $0.id) }
            if now != kind { page.left.note(kind, of: identity, at: Clock.now()) }
        }
    }
}

extension UpstreamView.Kind {
    init(_ kind: Profiles.Upstream.Kind) { self = UpstreamView.Kind(rawValue: kind.rawValue) ?? .plain }
}
