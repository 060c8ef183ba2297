/// The file is read again: on a signal, or when somebody asks.

import Addresses
import Bytes
import Control
import Gateway
import LinuxIO
import Profiles
import Routing

extension Administrator {
    /// Reads the file again and follows it, whole or not at all.
    mutating func reload(_ by: String, _ gateway: inout Gateway) throws(ControlError) -> ControlAnswer {
        let manager = gateway.manager
        manager?.say(.reloading(since: Clock.now()))
        defer { manager?.say(.ready) }
        let former = plan
        let next: Plan
        let ring: KeyRing
        do throws(StartupError) {
            next = try Plan(reading: options, lab: plan.lab, running: running)
            ring = try KeyRing(
                next.effective.configuration, besides: options.configuration, startedAt: startedAt.seconds, former: keys
            )
        } catch {
            throw ControlError(error)
        }
        try checkListeners(of: next)
        let move = try pageMove(to: next, gateway)
        plan = next
        nameDevices()
        let counts: RerouteCounts
        do throws(GatewayError) {
            counts = try gateway.switchTo(routing(), pagePort: next.pagePort, drain: .seconds(2))
        } catch {
            plan = former
            nameDevices()
            throw ControlError(.notApplied, "not applied, what was running goes on: \(error)")
        }
        keys = ring
        if let move { pageMove = move }
        report(former, by, counts, &gateway)
        followHealth(&gateway)
        let changed = next.effective.configuration.differences(from: former.effective.configuration).map(\.description)
        return answer(
            to: Change(revision: store.number, counts: counts), changed, warnings: next.effective.notices,
            needsRestart: next.needsRestart)
    }

    /// Refuses a file whose new listeners could not be opened: the next start would fail.
    private func checkListeners(of next: Plan) throws(ControlError) {
        let old = Self.listeners(of: running)
        for (path, address) in Self.listeners(of: next.file) where !old.contains(where: { $0.address == address }) {
            do throws(SystemCallError) {
                _ = try Socket.listen(on: address)
            } catch {
                throw ControlError(
                    .conflict, "\(options.configuration): \(path): \(address) can't be listened on: \(error)",
                    path: path,
                    found: address.description, expected: "an address of this machine with a port that is free")
            }
        }
    }

    static func listeners(of configuration: Configuration) -> [(path: String, address: SocketAddress)] {
        let parts: [(String, [SocketAddress])] = [
            ("socks.listen", configuration.socks?.listen ?? []), ("http.listen", configuration.http?.listen ?? []),
            ("push.listen", configuration.push?.listen ?? []), ("metrics.listen", configuration.metrics?.listen ?? []),
        ]
        return parts.flatMap { part in part.1.map { (part.0, $0) } }
    }

    /// As `reload`, on a signal.
    mutating func reload(_ gateway: inout Gateway) { reloadUnasked("SIGHUP", &gateway) }

    /// As `reload`, where nobody waits for the answer.
    mutating func reloadUnasked(_ by: String, _ gateway: inout Gateway) {
        do throws(ControlError) {
            _ = try reload(by, &gateway)
        } catch {
            gateway.say(.error, "reload") { line in
                line.add("refused", "\(error)")
                line.add("meaning", "what was running goes on")
            }
        }
    }

    private func report(_ former: Plan, _ by: String, _ counts: RerouteCounts, _ gateway: inout Gateway) {
        let needsRestart = plan.needsRestart
        if !needsRestart.isEmpty {
            gateway.say(.warning, "reload") { $0.add("needs-restart", needsRestart.joined(separator: " ")) }
        }
        for notice in plan.effective.notices where !former.effective.notices.contains(notice) {
            gateway.say(.notice, "configuration") { $0.add("notice", notice) }
        }
        let profile = plan.active.id
        let mode = plan.resolved.rules(of: profile).mode.rawValue
        gateway.say(.notice, "switch") { line in
            line.add("profile", profile)
            line.add("mode", mode)
            line.add("by", by)
            line.add("how", "reload")
            line.add("reset", counts.reset)
            line.add("draining", counts.draining)
        }
    }
}

extension ControlError {
    /// What is wrong with the file, or with what it names.
    init(_ error: StartupError) {
        switch error {
        case .configuration(let file, let wrong):
            self.init(wrong)
            message = "\(file): \(message)"
        default:
            self.init(.unavailable, "\(error)")
        }
    }
}
