/// What the daemon gives up once everything is open, and the companion that keeps some of it.

import Control
import Gateway
import LinuxIO
import Network
import Profiles

extension Administrator {
    /// Watches the companion, or sends it home where the machine's network is not ours to change.
    mutating func settle(_ settings: GatewaySettings, _ gateway: inout Gateway) throws(GatewayError) {
        guard let companion else { return }
        if settings.network == nil || settings.tunnel == nil {
            dismissTools()
        } else {
            try gateway.watch(companion.descriptor, as: Watches.Number.tools)
        }
    }

    /// Gives up what is not needed any more, and says what is left, or why it is still there.
    mutating func lockDown(_ gateway: borrowing Gateway) {
        guard options.isLockedDown else {
            lockdown = LockdownReport(missing: ["everything: --no-lockdown keeps all rights, for debugging alone"])
            return gateway.say(.warning, "lockdown") { line in
                line.add("off", "--no-lockdown")
                line.add("meaning", "this process may run programs and keeps every right that it was started with")
            }
        }
        let report = Lockdown.engage()
        lockdown = report
        gateway.say(report.holds ? .notice : .warning, "lockdown") { line in
            line.add("capabilities", report.capabilities.description)
            if !report.bounding.isEmpty { line.add("bounding", "kept, CAP_SETPCAP is missing") }
            if let calls = report.systemCalls { line.add("calls", calls) }
            line.add("threads", report.threads)
            for words in report.missing { line.add("missing", words) }
        }
    }

    /// Whether the companion has ended, which is said: without it the machine's network cannot be kept right.
    func hasLostTools(_ gateway: borrowing Gateway) -> Bool {
        guard let words = companion?.ending else { return false }
        gateway.say(.error, "tools") { line in
            line.add("cause", "the process that runs ip and nft: \(words)")
            line.add("meaning", "a new one takes a new start, so this one ends")
        }
        return true
    }

    /// Sends the companion home.
    public mutating func dismissTools() {
        companion?.end()
        companion = nil
    }

    var lockdownJSON: JSON {
        guard let lockdown else { return .null }
        return .members([
            "holds": .boolean(lockdown.holds), "capabilities": .string(lockdown.capabilities.description),
            "systemCalls": lockdown.systemCalls.map { .integer($0) } ?? .null, "missing": .strings(lockdown.missing),
        ])
    }
}
