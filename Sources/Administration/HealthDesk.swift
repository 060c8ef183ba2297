/// # Who looks after upstreams
///
/// The desk has one `UpstreamHealth` for each profile that is in use, or that somebody has asked about, and one
/// `GroupChoice` for each group. It decides nothing itself: it has rounds of probes begin when they are due, and hands
/// on what comes back, from probes and from users' streams.
///
///     due ──▶ Prober ── ProbeResult ──▶ samples ──▶ UpstreamHealth ──▶ news: log, event, colour for workers
///     workers ── UpstreamTraffic ─────▶ samples ─┘        └──▶ GroupChoice ──▶ another order ──▶ Gateway.switchTo

import Bytes
import Devices
import Gateway
import Health
import LinuxIO
import Profiles
import Routing
import Upstreams

/// One profile's upstream, and what is known of it.
struct Watched {
    let profile: String
    /// The same object that workers dial through, so that both learn of each other.
    var upstream: Upstreams.Upstream
    var options: HealthOptions
    var health: UpstreamHealth
    /// How long it has been red.
    var giveUp: GiveUp
    /// What users' streams had shown when they were last looked at.
    var traffic: UpstreamTraffic
    /// Since when nobody has had reason to look at it; nil: it is in use.
    var unusedSince: Instant?
    /// The number of the round that is under way.
    var ticket: UInt64?
    /// Who signs what comes through it, and when that was looked at.
    var certificate: CertificateLook?
    var certificateAt: Instant?
    var greenSince: Instant?
    /// The colour that workers were told of.
    var told: Colour?

    init(_ profile: String, _ upstream: Upstreams.Upstream, _ options: HealthOptions, seed: UInt64, at now: Instant) {
        self.profile = profile
        self.upstream = upstream
        self.options = options
        health = UpstreamHealth(options.settings, seed: seed, at: now)
        giveUp = GiveUp(after: options.giveUp)
        traffic = upstream.traffic
    }

    var deadline: Instant {
        let end = unusedSince.map { $0 + HealthDesk.interest } ?? .never
        return min(health.deadline, giveUp.deadline, end)
    }
}

/// A group, and which of its members are asked.
struct WatchedGroup {
    var options: GroupOptions
    var choice: GroupChoice
    /// How often another member was chosen.
    var changes = 0

    init(_ options: GroupOptions) {
        self.options = options
        choice = GroupChoice(options.kind, members: options.members.count, returnAfter: options.returnAfter)
    }
}

extension GroupOptions {
    var kind: GroupKind {
        switch choose {
        case .fallback: .fallback
        case .fastest: .fastest(tolerance: tolerance)
        case .balance: .balance
        }
    }
}

/// Something that somebody should hear of.
enum HealthNews {
    case health(profile: String, HealthChange)
    /// One is seen otherwise, and nothing has changed about the upstream itself.
    case seen(profile: String, HealthChange)
    case group(profile: String, GroupChange, members: [String])
    /// The members behind the first one of a group stand in another order: nothing that anybody has to hear of.
    case reordered
    /// An upstream has been red for as long as its profile says.
    case gaveUp(profile: String)
}

struct HealthDesk {
    var watched: [String: Watched] = [:]
    var groups: [String: WatchedGroup] = [:]
    let prober: Prober
    var random = SystemRandom()
    private var lastTicket: UInt64 = 0
    /// What is waited for by the number of a probe.
    var questions: [UInt64: [ProbeQuestion]] = [:]
    /// The certificates of proxies that decrypt.
    var authorities = AuthorityDesk()
    /// What leads around the gateway.
    var wayAround: WayAround?
    /// What is missing on the gateway's own way out.
    var uplinkTrouble: String?
    /// The default routes, as they were last seen.
    var waysOut: [KernelRoute]?
    /// When it was last looked at.
    var uplinkSeenAt: Instant?
    /// When it is looked at again while it is missing.
    var uplinkDueAt = Instant.never

    /// How long is remembered what nobody uses any more, or has only asked about; it is not probed by itself.
    static let interest = Interval.seconds(300)
    /// How long a look at a certificate counts.
    static let certificateInterval = Interval.seconds(900)
    /// While the way out is missing it is looked for this often.
    static let uplinkInterval = Interval.seconds(1)
    /// What users' streams miss comes in bursts, and the kernel is not asked for each of them.
    static let uplinkPause = Interval.milliseconds(200)

    init(resolvingTargets resolver: TargetResolver?) throws(SystemCallError) {
        prober = try Prober(resolvingTargets: resolver)
    }

    /// When `tend` has something to do.
    var deadline: Instant {
        var deadline = uplinkDueAt
        for one in watched.values { deadline = min(deadline, one.deadline) }
        for group in groups.values { deadline = min(deadline, group.choice.deadline) }
        return deadline
    }

    // MARK: Whom it looks after

    /// Looks after the profiles that are in use from now on; those that are new to it are tried at once.
    mutating func follow(_ plan: Plan, _ gateway: borrowing Gateway, at now: Instant) {
        let configuration = plan.effective.configuration
        let used = Self.profilesInUse(plan)
        for (id, one) in watched {
            guard let profile = configuration.profile(id), let options = configuration.health(of: profile),
                profile.upstream.group == nil, let position = plan.position(of: id),
                gateway.upstream(ofProfile: position).isSame(as: one.upstream)
            else {
                forget(id)
                continue
            }
            change(id, gateway.upstream(ofProfile: position), options, isUsed: used.contains(id), at: now)
        }
        for id in used where watched[id] == nil { begin(id, plan, gateway, at: now) }
        followGroups(configuration)
    }

    private mutating func change(
        _ id: String, _ upstream: Upstreams.Upstream, _ options: HealthOptions, isUsed: Bool, at now: Instant
    ) {
        watched[id]?.upstream = upstream
        if let former = watched[id]?.options, former != options {
            watched[id]?.options = options
            watched[id]?.health.change(options.settings, at: now)
            watched[id]?.giveUp = GiveUp(after: options.giveUp)
            // The page may be another one.
            watched[id]?.health.hurry(at: now)
        }
        if isUsed {
            if watched[id]?.unusedSince != nil { watched[id]?.health.hurry(at: now) }
            watched[id]?.unusedSince = nil
        } else if watched[id]?.unusedSince == nil {
            watched[id]?.unusedSince = now
            watched[id]?.health.rest()
        }
    }

    /// Begins to look after a profile; false where there is nothing to probe.
    @discardableResult
    mutating func begin(_ id: String, _ plan: Plan, _ gateway: borrowing Gateway, at now: Instant) -> Bool {
        let configuration = plan.effective.configuration
        guard let profile = configuration.profile(id), profile.upstream.group == nil,
            let options = configuration.health(of: profile), let position = plan.position(of: id)
        else { return false }
        watched[id] = Watched(
            id, gateway.upstream(ofProfile: position), options, seed: random.next(), at: now)
        watched[id]?.health.hurry(at: now)
        // Somebody has only asked; `follow` knows better.
        watched[id]?.unusedSince = Self.profilesInUse(plan).contains(id) ? nil : now
        return true
    }

    mutating func forget(_ id: String) {
        if let ticket = watched[id]?.ticket, questions[ticket] == nil { prober.cancel(ticket) }
        watched[id] = nil
    }

    private mutating func followGroups(_ configuration: Configuration) {
        let now = configuration.profiles.compactMap { profile in profile.upstream.group.map { (profile.id, $0) } }
        let options = Dictionary(now) { first, _ in first }
        for (id, group) in groups where options[id] != group.options { groups[id] = nil }
        for (id, group) in now where groups[id] == nil { groups[id] = WatchedGroup(group) }
    }

    /// The profiles whose upstreams somebody depends on: the default, what devices and networks have, what rules and
    /// `egress` name, and the members of groups among these.
    static func profilesInUse(_ plan: Plan) -> Set<String> {
        let configuration = plan.effective.configuration
        var used: Set<String> = [configuration.active]
        used.formUnion(plan.effective.assignments.map(\.profile))
        used.formUnion(configuration.devices.compactMap(\.profile))
        used.formUnion(configuration.network.lan.compactMap(\.profile))
        if case .profile(let id) = configuration.egress { used.insert(id) }
        for id in used { used.formUnion(plan.resolved.rules(of: id).profiles) }
        for id in used { used.formUnion(configuration.profile(id)?.upstream.group?.members ?? []) }
        return used
    }

    /// A number that no other probe has.
    mutating func newTicket() -> UInt64 {
        lastTicket += 1
        return lastTicket
    }
}
