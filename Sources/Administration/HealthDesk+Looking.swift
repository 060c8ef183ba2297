/// The desk at work: what is due is begun, and what has come is handed on.

import Bytes
import Health
import LinuxIO
import Network
import Profiles
import Upstreams
import Wire

extension HealthDesk {
    /// Does what is due, and returns what there is to be told.
    mutating func tend(at now: Instant) -> [HealthNews] {
        var news: [HealthNews] = []
        if uplinkDueAt <= now { news += lookAtUplink(at: now) }
        for id in watched.keys.sorted() where (watched[id]?.deadline ?? .never) <= now {
            if let since = watched[id]?.unusedSince, now - since >= Self.interest {
                forget(id)
                continue
            }
            // That something which nobody uses grows old is no news.
            let change = watched[id]?.health.refresh(at: now)
            if let change, watched[id]?.unusedSince == nil { news.append(.health(profile: id, change)) }
            if watched[id]?.health.round(at: now) ?? false { probe(id, at: now) }
        }
        return news + settle(at: now)
    }

    /// Has a round begin; it may be asked for by somebody.
    private mutating func probe(_ id: String, at now: Instant) {
        guard let one = watched[id] else { return }
        var request = ProbeRequest(one.upstream, page: one.options.probePage)
        request.timeout = one.options.timeout
        if one.certificateAt.map({ now - $0 >= Self.certificateInterval }) ?? true, one.upstream.server != nil {
            // A host that users visit anyway: nobody else is asked for anything.
            request.certificate = one.upstream.traffic.lastSecure
        }
        let ticket = newTicket()
        guard prober.begin(request, ticket: ticket) else {
            watched[id]?.health.finished(at: now)
            watched[id]?.health.hurry(at: now)
            return
        }
        watched[id]?.ticket = ticket
    }

    /// Takes what probes have found; returns also those of them that somebody waits for, `trials` among them.
    mutating func collect(
        at now: Instant, _ trials: (UInt64) -> Bool
    ) -> (news: [HealthNews], asked: [ProbeResult]) {
        var news: [HealthNews] = []
        let results = prober.takeAll()
        for result in results {
            guard let id = watched.first(where: { $0.value.ticket == result.ticket })?.key else { continue }
            news += take(result, of: id, at: now)
        }
        let asked = results.filter {
            questions[$0.ticket] != nil || authorities.awaits($0.ticket) || trials($0.ticket)
        }
        return (news + settle(at: now), asked)
    }

    private mutating func take(_ result: ProbeResult, of id: String, at now: Instant) -> [HealthNews] {
        var news: [HealthNews] = []
        watched[id]?.ticket = nil
        if let look = result.certificate {
            watched[id]?.certificate = look
            watched[id]?.certificateAt = now
        }
        let samples = [result.connect, result.request].compactMap(\.self)
        if case .good? = result.request?.outcome { watched[id]?.upstream.noteProbe(getsThrough: true) }
        if samples.contains(where: { $0.mayBeOurs }) { news += doubtUplink(at: now) }
        if let upstream = watched[id]?.upstream {
            watched[id]?.health.note(otherHosts: upstream.hostsOpened(since: now - .seconds(60)))
        }
        for sample in samples {
            if let change = watched[id]?.health.take(sample, at: now) { news.append(.health(profile: id, change)) }
        }
        if let change = watched[id]?.health.finished(at: now) { news.append(.health(profile: id, change)) }
        if watched[id]?.unusedSince != nil { watched[id]?.health.rest() }
        return news
    }

    /// Takes what users' streams have shown since the last time.
    mutating func heed(at now: Instant) -> [HealthNews] {
        var news: [HealthNews] = []
        for id in watched.keys.sorted() {
            guard let one = watched[id] else { continue }
            let traffic = one.upstream.traffic
            let samples = one.traffic.samples(until: traffic)
            guard !samples.isEmpty else { continue }
            if samples.contains(where: { $0.mayBeOurs }) { news += doubtUplink(at: now) }
            watched[id]?.health.note(otherHosts: one.upstream.hostsOpened(since: now - .seconds(60)))
            for sample in samples {
                if let change = watched[id]?.health.take(sample, at: now) { news.append(.health(profile: id, change)) }
            }
            watched[id]?.traffic = traffic
        }
        return news + settle(at: now)
    }

    /// Looks at the way out because something was missed, unless that was done a moment ago.
    private mutating func doubtUplink(at now: Instant) -> [HealthNews] {
        if let seen = uplinkSeenAt, now - seen < Self.uplinkPause { return [] }
        return lookAtUplink(at: now)
    }

    /// Looks whether the gateway itself has a way out; over another way everything is tried anew.
    mutating func lookAtUplink(at now: Instant) -> [HealthNews] {
        uplinkSeenAt = now
        uplinkDueAt = now + Self.uplinkInterval
        // Without a descriptor to ask with nothing is known; it is asked again.
        guard let network = try? KernelNetwork.read() else { return [] }
        var news: [HealthNews] = []
        uplinkTrouble = network.trouble(towards: nil)
        uplinkDueAt = uplinkTrouble == nil ? .never : now + Self.uplinkInterval
        let former = waysOut
        waysOut = network.waysOut
        if let former, former != waysOut { hurry(at: now) }
        for id in watched.keys.sorted() {
            guard let one = watched[id] else { continue }
            var trouble = uplinkTrouble
            if case .address(let address)? = one.upstream.server?.host { trouble = network.trouble(towards: address) }
            if trouble != nil { uplinkDueAt = now + Self.uplinkInterval }
            if let change = watched[id]?.health.uplink(trouble, at: now) { news.append(.health(profile: id, change)) }
        }
        return news
    }

    /// Follows what leads around the gateway; who is in use is seen otherwise, the active profile in any case.
    mutating func follow(waysAround ways: [String], active: String, at now: Instant) -> [HealthNews] {
        let (former, words) = (wayAround, ways.joined(separator: "; "))
        guard words != former?.words ?? "" else { return [] }
        wayAround = words.isEmpty ? nil : WayAround(words, since: former?.since ?? now)
        let used = watched.keys.filter { watched[$0]?.unusedSince == nil }
        return Set(used + [active]).subtracting(groups.keys).sorted().compactMap { id in
            let own = watched[id]?.health.report ?? .untried(since: now)
            let (before, after) = (own.seen(beside: former), own.seen(beside: wayAround))
            guard (before.colour, before.cause) != (after.colour, after.cause) else { return nil }
            return .seen(
                profile: id,
                HealthChange(former: before.colour, colour: after.colour, cause: after.cause, note: after.note))
        }
    }

    /// An upstream as it is seen; nil: nobody looks after it.
    func seen(_ id: String) -> HealthReport? { watched[id]?.health.report.seen(beside: wayAround) }

    /// What follows from colours: which members of groups are asked, and for whom it has been too long.
    private mutating func settle(at now: Instant) -> [HealthNews] {
        var news: [HealthNews] = []
        for id in watched.keys.sorted() {
            guard let colour = watched[id]?.health.report.colour else { continue }
            let greenSince = watched[id]?.greenSince
            watched[id]?.greenSince = colour == .green ? greenSince ?? now : nil
            if colour == .red, watched[id]?.told != .red { watched[id]?.upstream.noteProbe(getsThrough: false) }
            watched[id]?.told = colour
            if watched[id]?.giveUp.update(colour, at: now) ?? false { news.append(.gaveUp(profile: id)) }
        }
        for id in groups.keys.sorted() {
            guard let group = groups[id] else { continue }
            let states = group.options.members.map(state)
            let change = groups[id]?.choice.update(states, at: now)
            if groups[id]?.choice.order != group.choice.order { news.append(.reordered) }
            if let change {
                groups[id]?.changes += 1
                news.append(.group(profile: id, change, members: group.options.members))
            }
        }
        return news
    }

    private func state(of member: String) -> MemberState {
        guard let one = watched[member] else { return MemberState(colour: .grey, cause: .neverTried) }
        let report = one.health.report
        return MemberState(
            colour: report.colour, cause: report.cause, latency: one.health.recent.typical, greenSince: one.greenSince)
    }

    // MARK: Asking

    /// The number under which somebody waits for the next round of a profile; nil where there is none.
    mutating func ask(_ id: String, at now: Instant) -> UInt64? {
        guard watched[id] != nil else { return nil }
        if watched[id]?.ticket == nil, watched[id]?.health.roundNow(at: now) ?? false { probe(id, at: now) }
        return watched[id]?.ticket
    }

    /// Has everything that is in use be tried at once: after a change of the network.
    mutating func hurry(at now: Instant) {
        for id in watched.keys where watched[id]?.unusedSince == nil { watched[id]?.health.hurry(at: now) }
    }
}
