/// Switching: the configuration was read again, and everything follows it without a restart.

import Bytes
import LinuxIO
import Names
import Network
import Routing

/// What reading the configuration again has brought.
public enum Reloaded: Sendable {
    /// `needsRestart` names what has changed and cannot be changed while the gateway runs.
    case settings(RoutingSettings, needsRestart: [String])
    /// What is wrong with it; what runs goes on.
    case refused(String)
}

extension Gateway {
    mutating func take(_ reloaded: Reloaded) {
        switch reloaded {
        case .refused(let why):
            say(.error, "reload") { line in
                line.add("refused", why)
                line.add("meaning", "what was running goes on")
            }
        case .settings(let routing, let needsRestart):
            if !needsRestart.isEmpty {
                say(.warning, "reload") { $0.add("needs-restart", needsRestart.joined(separator: " ")) }
            }
            switchTo(routing)
        }
    }

    /// New flows go the new way first, then the routes follow, then flows whose way has changed are reset.
    private mutating func switchTo(_ routing: RoutingSettings) {
        let old = shared.policy
        watch.follow(routing.watchedNames, now: Clock.now())
        do throws(GatewayError) {
            let new = try Self.policy(completed(routing), after: old)
            shared.board.replace(by: new)
            do throws(NetworkError) {
                try route(from: old, to: new)
            } catch {
                shared.board.replace(by: old)
                throw .network(error)
            }
            for mailbox in shared.mailboxes { mailbox.send(.reroute) }
            say(.notice, "switch") { line in
                line.add("profile", new.activeID)
                line.add("mode", new.settings.profiles[new.settings.active].rules.mode.rawValue)
            }
        } catch {
            say(.error, "switch") { line in
                line.add("refused", "\(error)")
                line.add("meaning", "what was running goes on")
            }
        }
    }

    private mutating func route(from old: Policy, to new: Policy) throws(NetworkError) {
        guard keeper != nil else { return }
        let seen = shared.names?.seenAnswers() ?? SeenAnswers()
        report(try keeper.value.follow(from: old, to: new, seen, now: Clock.now()))
    }
}
