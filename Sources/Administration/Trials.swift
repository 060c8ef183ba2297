/// Upstreams that a change has brought into use are tried, beside everything else, and a change that does not work is
/// taken back.

import Bytes
import Control
import Devices
import Gateway
import Health
import LinuxIO
import Profiles
import Synchronization
import Upstreams

/// What trials have found, on its way from their threads.
final class Trials: Sendable {
    /// An upstream that does not work.
    struct Failure: Sendable {
        /// The revision that has brought it, and the one before.
        var revision: Int
        var former: Int
        var profile: String
        var words: String
    }

    private let failures = Mutex<[Failure]>([])
    /// Rung when there is a failure.
    let bell: WakeUp

    init() throws(SystemCallError) { bell = try WakeUp() }

    func put(_ failure: Failure) {
        failures.withLock { $0.append(failure) }
        bell.wake()
    }

    func takeAll() -> [Failure] {
        bell.clear()
        return failures.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
    }

    /// Tries a profile's upstream in a thread of its own.
    func begin(_ profile: RoutingSettings.Profile, revision: Int, former: Int) {
        guard let upstream = try? Upstreams.Upstream(profile.upstream) else { return }
        let id = profile.id
        // Without a thread there is no trial; flows will show.
        try? WorkerThread.startDetached(name: "trial") { [self] in
            guard let failure = (try? UpstreamTrial.run(upstream)) ?? nil, let target = upstream.server else { return }
            put(Failure(revision: revision, former: former, profile: id, words: failure.sentence(for: target)))
        }
    }
}

/// A push to a profile whose upstream was green.
struct JudgedPush {
    var revision: Int
    var former: Int
}

extension Administrator {
    /// Takes a push back when the profile's colour has become worse by it: that is, by an answer, and not because one
    /// try was lost.
    mutating func judge(_ change: HealthChange, of profile: String, _ gateway: inout Gateway) {
        guard let push = judged[profile] else { return }
        let isSure = change.colour == .red || change.colour == .yellow && change.cause?.isAnswer ?? false
        guard isSure || change.colour == .green else { return }
        judged[profile] = nil
        guard change.colour != .green, store.number == push.revision, plan.lab.unconfirmed == nil else { return }
        let undone = LabState.Unconfirmed(revision: push.revision, former: push.former, until: 0)
        takeBack(undone, because: change.sentence(profile), &gateway)
    }

    /// Tries the upstreams that are in use since a push, and were not, or were others, before it; returns what whoever
    /// pushed should know.
    mutating func tryUpstreams(
        of revision: Int, former: Int, since before: Plan, _ coloursBefore: [String: Colour],
        _ gateway: borrowing Gateway
    ) -> [String] {
        let used = Set([plan.active.id] + plan.effective.assignments.map(\.profile))
        var words: [String] = []
        for profile in plan.effective.configuration.profiles where used.contains(profile.id) {
            guard before.effective.configuration.profile(profile.id)?.upstream != profile.upstream,
                let position = plan.position(of: profile.id), profile.upstream.server != nil, let trials
            else { continue }
            trials.begin(gateway.routing.profiles[position], revision: revision, former: former)
            if coloursBefore[profile.id] == .green {
                judged[profile.id] = JudgedPush(revision: revision, former: former)
            }
            words.append(
                "\(profile.upstream.words) is tried now: if it doesn't answer, revision \(revision) is taken back")
        }
        return words
    }

    /// Takes back a change whose upstream does not work: at once, or at the end of the time that a person has to
    /// confirm it.
    mutating func judge(_ gateway: inout Gateway) {
        for failure in trials?.takeAll() ?? [] {
            gateway.say(.warning, "trial") { line in
                line.add("profile", failure.profile)
                line.add("revision", failure.revision)
                line.add("cause", failure.words)
            }
            guard store.number == failure.revision, plan.lab.unconfirmed == nil else { continue }
            let change = LabState.Unconfirmed(revision: failure.revision, former: failure.former, until: 0)
            takeBack(change, because: "\(failure.profile): \(failure.words)", &gateway)
        }
    }
}
