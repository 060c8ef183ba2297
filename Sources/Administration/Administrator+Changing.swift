/// A change of the lab's state, from its check to its effect.

import Bytes
import Control
import Gateway
import LinuxIO
import Profiles
import Routing
import Store

/// What has become of a change.
struct Change {
    var revision: Int
    var counts = RerouteCounts()
}

extension Administrator {
    /// Makes another state count: it is checked, kept, and carried out, in this order.
    ///
    /// Where the kernel refuses, the store is told that the former one counts.
    mutating func change(
        to state: LabState, _ note: LabStore.Note, drain: Interval, _ gateway: inout Gateway
    ) throws(ControlError) -> Change {
        let next = try planned(state)
        return try change(to: next, note, drain: drain, &gateway)
    }

    /// What a state would mean, without what is left of own proxies in it.
    ///
    /// Where there are peers, what changes gets a stamp: ours, or that of the peer that `merge` has it from.
    func planned(_ state: LabState, _ merge: SharedMerge? = nil) throws(ControlError) -> Plan {
        var state = state.tidied(longest: plan.effective.configuration.adhoc?.longest)
        if peers.isEmpty {
            state.stamps = [:]
        } else {
            state = state.restamped(
                since: plan.lab, by: keys.gateway, at: Clock.unixTime().inMilliseconds,
                heard: merge?.state, received: merge?.taken ?? [:])
        }
        try checkOwnProxies(in: state)
        let next: Plan
        do throws(StartupError) {
            next = try Plan(plan, lab: state, running: running)
        } catch {
            throw ControlError(error)
        }
        try checkOwnProxies(areNamedByNobodyIn: next)
        return next
    }

    mutating func change(
        to next: Plan, _ note: LabStore.Note, drain: Interval, _ gateway: inout Gateway
    ) throws(ControlError) -> Change {
        let former = plan
        try keep(next.lab, note)
        adopt(next)
        do throws(GatewayError) {
            var change = Change(revision: store.number)
            change.counts = try gateway.switchTo(routing(), drain: drain)
            tellPeers(since: former)
            say(note, change, &gateway)
            followHealth(&gateway)
            return change
        } catch {
            adopt(former)
            try? keep(former.lab, LabStore.Note(by: "starshipd", how: "undo", summary: "not applied: \(note.summary)"))
            gateway.say(.error, "switch") { line in
                line.add("refused", "\(error)")
                line.add("meaning", "what was running goes on")
            }
            throw ControlError(.notApplied, "not applied, what was running goes on: \(error)")
        }
    }

    private mutating func keep(_ state: LabState, _ note: LabStore.Note) throws(ControlError) {
        do throws(StoreError) {
            try store.keep(state, note)
        } catch {
            var code = ControlError.Code.storeFailed
            if case .tooLarge = error { code = .tooLarge }
            throw ControlError(code, "not kept, what was running goes on: \(error)")
        }
    }

    private mutating func adopt(_ next: Plan) {
        let former = decryptingKinds(ofThoseWhoMoveTo: next)
        plan = next
        nameDevices()
        noteLeft(former)
    }

    private mutating func say(_ note: LabStore.Note, _ change: Change, _ gateway: inout Gateway) {
        let profile = plan.active
        let mode = plan.resolved.rules(of: profile.id).mode.rawValue
        gateway.say(.notice, "switch") { line in
            line.add("profile", profile.id)
            line.add("mode", mode)
            line.add("by", note.by)
            line.add("how", note.how)
            line.add("what", note.summary)
            line.add("revision", change.revision)
            line.add("reset", change.counts.reset)
            line.add("draining", change.counts.draining)
        }
        publish(
            .switch,
            [
                "profile": .string(profile.id), "by": .string(note.by), "how": .string(note.how),
                "revision": .integer(change.revision), "flows": change.counts.json, "text": .string(note.summary),
            ])
    }
}
