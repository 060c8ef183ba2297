/// What follows when the calendar was set.

import Bytes
import Control
import Devices
import Gateway
import LinuxIO
import Profiles

extension Administrator {
    /// Moves the ends of what was asked for "for so long" along with the calendar, and says that it has jumped.
    mutating func heedCalendar(_ gateway: inout Gateway) {
        guard let step = calendar.step() else { return }
        gateway.say(.warning, "clock") { line in
            line.add("moved", "\(step > 0 ? "+" : "")\(step)s")
            line.add("meaning", "leases and confirmations keep their length")
        }
        lookedAt += step
        var state = plan.lab
        state.shiftEnds(by: step)
        guard state != plan.lab else { return }
        let note = LabStore.Note(
            by: "starshipd", how: "clock", summary: "the clock was moved by \(step) s: leases keep their length")
        do throws(ControlError) {
            _ = try change(to: state, note, drain: .seconds(2), &gateway)
        } catch {
            gateway.say(.error, "clock") { $0.add("cause", "\(error)") }
        }
    }

    /// How long the gateway has been running.
    var uptime: Interval { Clock.sinceBoot() - startedSinceBoot }
}

extension LabState {
    /// Moves what ends after a time; links end at a moment of the calendar, so their nonces stay.
    fileprivate mutating func shiftEnds(by seconds: Int64) {
        for index in assignments.indices {
            guard let until = assignments[index].until else { continue }
            assignments[index].since += seconds
            assignments[index].until = until + seconds
        }
        unconfirmed?.until += seconds
    }
}
