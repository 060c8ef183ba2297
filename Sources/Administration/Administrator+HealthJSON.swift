/// Health as the control API shows it.

import Bytes
import Control
import Gateway
import Health
import LinuxIO
import Profiles
import Upstreams

extension Administrator {
    /// How a profile's upstream is; of a group the one that is asked first.
    func healthJSON(of profile: String) -> JSON {
        guard let group = desk?.groups[profile] else { return healthJSON(ofOne: profile) }
        guard let first = group.choice.order.first else {
            let sentence = "none of its upstreams gets through: \(group.options.members.joined(separator: ", "))"
            return .members([
                "colour": .string(Colour.red.rawValue),
                "cause": .members(["code": "all_red", "text": .string(sentence)]), "note": .null, "since": .null,
                "layers": .members(["connect": .null, "request": .null, "traffic": .null]), "nextProbe": .null,
            ])
        }
        let member = group.options.members[first]
        return healthJSON(ofOne: member)
    }

    /// The colour and the cause alone, for lists.
    func healthSummary(of profile: String) -> JSON {
        let health = healthJSON(of: profile)
        return .members(["colour": health["colour"] ?? .null, "cause": health["cause"] ?? .null])
    }

    /// How an upstream is seen; the active one also where nobody looks after it, for it may be left aside all the same.
    func seen(_ profile: String) -> HealthReport {
        if let seen = desk?.seen(profile) { return seen }
        let untried = HealthReport.untried(since: Clock.now())
        return profile == plan.active.id ? untried.seen(beside: desk?.wayAround) : untried
    }

    private func healthJSON(ofOne profile: String) -> JSON {
        let report = seen(profile)
        guard let one = desk?.watched[profile] else {
            return .members([
                "colour": .string(report.colour.rawValue), "cause": Self.json(report.cause, profile),
                "note": report.note.map(JSON.string) ?? .null, "since": .null,
                "layers": .members(["connect": .null, "request": .null, "traffic": .null]), "nextProbe": .null,
            ])
        }
        return .members([
            "colour": .string(report.colour.rawValue), "cause": Self.json(report.cause, profile),
            "note": report.note.map(JSON.string) ?? .null, "since": .integer(Self.time(report.since)),
            "layers": .members([
                "connect": Self.json(report.connect, profile), "request": Self.json(report.request, profile),
                "traffic": Self.json(report.traffic, profile),
            ]),
            "lastGood": report.lastGood.map { .integer(Self.time($0)) } ?? .null,
            "nextProbe": one.health.nextRound.map { .integer(Self.time($0)) } ?? .null,
        ])
    }

    private static func json(_ layer: LayerReport?, _ profile: String) -> JSON {
        guard let layer else { return .null }
        var failure: Cause?
        if case .bad(let cause) = layer.outcome { failure = cause }
        return .members([
            "ok": .boolean(failure == nil), "ms": layer.latency.map { .integer(Int($0.milliseconds)) } ?? .null,
            "at": .integer(time(layer.at)), "misses": .integer(layer.misses), "cause": json(failure, profile),
        ])
    }

    static func json(_ cause: Cause?, _ profile: String) -> JSON {
        guard let cause else { return .null }
        return .members(["code": .string(cause.word), "text": .string(cause.sentence(profile))])
    }

    /// Seconds since 1970 of a moment on the monotonic clock.
    static func time(_ moment: Instant) -> Int {
        let distance = moment == .never ? Interval.zero : moment - Clock.now()
        return Int(Clock.unixTime().seconds) + Int(distance.nanoseconds / 1_000_000_000)
    }

    /// The groups among the profiles.
    var groupsJSON: JSON {
        guard let desk else { return .array([]) }
        return .array(
            desk.groups.sorted { $0.key < $1.key }.map { id, group in
                let names = group.options.members
                let members = names.map { member in
                    JSON.members([
                        "id": .string(member),
                        "colour": .string((desk.seen(member)?.colour ?? .grey).rawValue),
                    ])
                }
                let chosen = group.choice.order.first.map { JSON.string(names[$0]) } ?? .null
                return .members([
                    "profile": .string(id), "choose": .string(group.options.choose.rawValue),
                    "members": .array(members), "chosen": chosen,
                ])
            })
    }

    /// Who signs what comes through a profile's upstream, where that is not the hosts' own authorities.
    func decryptsJSON(_ profile: String, _ gateway: borrowing Gateway) -> JSON {
        guard let one = desk?.watched[profile] else { return .null }
        var members: [JSON.Member] = []
        if case .issuer(let name)? = one.certificate { members.append(JSON.Member("issuer", .string(name))) }
        guard !members.isEmpty || one.upstream.decrypts(at: Clock.now()) else { return .null }
        members.append(JSON.Member("refused", .boolean(one.upstream.decrypts(at: Clock.now()))))
        return .object(members)
    }

    var uplinkJSON: JSON {
        let trouble = desk?.uplinkTrouble
        return .members(["up": .boolean(trouble == nil), "words": trouble.map(JSON.string) ?? .null])
    }

    /// What flows carry, all of it and in a second.
    mutating func trafficJSON(_ tally: FlowTally) -> JSON {
        let rates = meter.take(up: tally.octetsUp, down: tally.octetsDown, at: Clock.now())
        return .members([
            "up": .integer(Int(clamping: tally.octetsUp)), "down": .integer(Int(clamping: tally.octetsDown)),
            "upRate": .integer(rates.up), "downRate": .integer(rates.down),
        ])
    }
}
