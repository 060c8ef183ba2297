/// What follows when the process stood still, or the machine slept.

import Bytes
import Control
import Gateway
import Profiles

extension Administrator {
    /// Says that nothing was done for a while: what devices sent meanwhile waited, or was lost.
    mutating func note(stall: Interval, _ gateway: inout Gateway) {
        let seconds = Int(stall.milliseconds / 1000)
        let meaning = "the process was stopped or the machine slept: what devices sent meanwhile had to wait"
        gateway.say(.warning, "stalled") { line in
            line.add("seconds", seconds)
            line.add("meaning", meaning)
        }
        publish(
            .stalled,
            ["seconds": .integer(seconds), "text": .string("the gateway stood still for \(seconds) s: \(meaning)")])
    }
}
