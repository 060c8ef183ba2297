/// Changes that are taken back by themselves unless somebody confirms them, and going back by hand.

import Bytes
import Control
import Gateway
import LinuxIO
import Profiles
import Store

extension Administrator {
    /// The state with a note that it waits for its confirmation; nil seconds: it counts at once.
    func awaiting(_ seconds: Int?, _ state: LabState) throws(ControlError) -> LabState {
        guard let seconds else { return state }
        if let other = state.unconfirmed {
            throw ControlError(
                .conflict, "revision \(other.revision) waits for its confirmation; confirm it, or roll it back, first")
        }
        var state = state
        state.unconfirmed = LabState.Unconfirmed(
            revision: store.next, former: store.number, until: Clock.unixTime().seconds + Int64(seconds))
        return state
    }

    /// Takes back a change that nobody has confirmed, or that does not work; what others did meanwhile stays.
    mutating func takeBack(_ change: LabState.Unconfirmed, because why: String, _ gateway: inout Gateway) {
        do throws(ControlError) {
            var state = plan.lab.undoing(from: try state(of: change.former), to: try state(of: change.revision))
            state.unconfirmed = nil
            let note = LabStore.Note(
                by: "starshipd", how: "take back", summary: "revision \(change.revision) is undone: \(why)")
            _ = try self.change(to: state, note, drain: .seconds(2), &gateway)
        } catch {
            gateway.say(.error, "take-back") { $0.add("cause", "\(error)") }
            forgetUnconfirmed()
        }
    }

    /// What can't be taken back now can't be later: it counts, and is not tried again and again.
    private mutating func forgetUnconfirmed() {
        var state = plan.lab
        state.unconfirmed = nil
        if let next = try? planned(state) { plan = next }
    }

    mutating func confirm(_ revision: Int, _ by: String, _ gateway: inout Gateway) throws(ControlError) -> ControlAnswer
    {
        guard let unconfirmed = plan.lab.unconfirmed, unconfirmed.revision == revision else {
            let waiting = plan.lab.unconfirmed.map { "revision \($0.revision) does" } ?? "none does"
            throw ControlError(
                .notConfirmed, "revision \(revision) waits for no confirmation; \(waiting)", path: "revision")
        }
        var state = plan.lab
        state.unconfirmed = nil
        let note = LabStore.Note(by: by, how: "confirm", summary: "revision \(revision) stays")
        let change = try change(to: state, note, drain: .seconds(2), &gateway)
        return answer(to: change, ["revision \(revision) is confirmed"])
    }

    /// Makes an earlier state count again.
    mutating func rollBack(_ revision: Int, _ by: String, _ gateway: inout Gateway) throws(ControlError)
        -> ControlAnswer
    {
        var state = try state(of: revision)
        state.unconfirmed = nil
        // Nonces stay used: a link must not work again because somebody went back.
        state.spent = plan.lab.spent
        let note = LabStore.Note(by: by, how: "rollback", summary: "as in revision \(revision)")
        let before = plan.lab
        let change = try change(to: state, note, drain: .seconds(2), &gateway)
        return answer(to: change, state.changes(since: before))
    }

    /// A state that once counted; 0 is that of a new lab.
    func state(of revision: Int) throws(ControlError) -> LabState {
        guard revision != 0 else { return LabState() }
        do throws(StoreError) {
            return try store.state(of: revision)
        } catch {
            throw ControlError(.notFound, "\(error)", path: "revision")
        }
    }

    /// The answer to a change of what there is.
    func answer(
        to change: Change, _ changed: [String], warnings: [String] = [], needsRestart: [String]? = nil,
        status: Int = 200
    ) -> ControlAnswer {
        ControlAnswer(
            .members([
                "revision": .integer(change.revision), "changed": .strings(changed), "flows": change.counts.json,
                "pending": pendingJSON, "warnings": .strings(warnings), "needsRestart": needsRestart.map(JSON.strings),
            ]), status: status)
    }

    var pendingJSON: JSON {
        guard let unconfirmed = plan.lab.unconfirmed else { return .null }
        return .members(["revision": .integer(unconfirmed.revision), "until": .integer(Int(unconfirmed.until))])
    }
}

extension RerouteCounts {
    var json: JSON {
        .members(["reset": .integer(reset), "draining": .integer(draining), "untouched": .integer(untouched)])
    }
}
