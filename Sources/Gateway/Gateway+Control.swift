/// What a running gateway listens to: signals, the kernel's network, the end of loans, and its workers' troubles.

import Addresses
import Bytes
import LinuxIO
import Network
import Routing
import Upstreams

/// What reading the configuration again has brought.
public enum Reloaded: Sendable {
    /// `needsRestart` names what has changed and cannot be changed while the gateway runs.
    case settings(RoutingSettings, needsRestart: [String])
    /// What is wrong with it; what runs goes on.
    case refused(String)
}

extension Gateway {
    private static var networkToken: UInt64 { 2 }

    /// Says that the gateway stands, what it does without, and where it listens.
    public func announce() {
        let policy = shared.policy
        say(.notice, "ready") { line in
            line.add("profile", policy.activeID)
            line.add("mode", policy.settings.profiles[policy.settings.active].rules.mode.rawValue)
            if let tunnelName { line.add("tun", tunnelName) }
            line.add("workers", shared.mailboxes.count)
            for listener in shared.listeners {
                line.add(listener.settings.kind.name, listener.settings.address.description)
            }
            if let service = shared.service, !service.addresses.isEmpty {
                line.add("dns", service.addresses.map(\.description).joined(separator: " "))
            }
            if !refusals.isEmpty { line.add("without", refusals.words) }
        }
    }

    /// Serves until a signal ends it or a worker cannot go on; returns whether the end was a wanted one.
    ///
    /// SIGHUP asks `reload` for what the configuration says now.
    public mutating func run(reload: () -> Reloaded) -> Bool {
        var events = [PolledEvent](repeating: .none, count: 8)
        while !shared.isFailed {
            discoverTranslation()
            let count = poller.wait(into: &events, until: nextDeadline)
            control.clear()
            for position in 0..<count where events[position].token == Self.networkToken { followNetwork() }
            takeBackLoans()
            watchNames()
            while let signal = signals.next() {
                switch signal {
                case .interrupt, .terminate:
                    stop()
                    return !shared.isFailed
                case .user1: printSnapshot()
                case .hangUp: take(reload())
                }
            }
        }
        stop()
        return false
    }

    private var nextDeadline: Instant? {
        var deadline = min(watch.deadline, translationDueAt)
        if keeper != nil, let end = keeper.value.nextDeadline { deadline = min(deadline, end) }
        return deadline == .never ? nil : deadline
    }

    /// Asks whether the network translates to IPv4: the resolvers' cache makes most of these questions free.
    private mutating func discoverTranslation() {
        guard translationDueAt <= Clock.now() else { return }
        translationDueAt = Clock.now() + .seconds(600)
        shared.discoverTranslation()
    }

    // MARK: Switching

    private mutating func take(_ reloaded: Reloaded) {
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
        var routing = routing
        if keeper != nil { (routing.lanNetworks, routing.scopes) = keeper.value.networks() }
        watch.follow(routing.watchedNames, now: Clock.now())
        routing.foundMachines = watch.addresses(of: routing.upstreamNames)
        do throws(GatewayError) {
            let new = try Self.policy(routing, after: old)
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
        if let names = shared.names { keeper.value.lend(names.seenAnswers(), from: old, to: new, now: Clock.now()) }
        report(try keeper.value.apply(new))
    }

    // MARK: Names that the kernel has to know by their addresses

    /// Asks for watched names when it is time to, and has policy and routes follow their addresses.
    private mutating func watchNames() {
        guard let service = shared.service else { return }
        let now = Clock.now()
        watch.ask(service, now: now)
        guard watch.collect(now: now) else { return }
        let policy = shared.policy
        var routing = policy.settings
        routing.foundMachines = watch.addresses(of: routing.upstreamNames)
        guard let new = try? Self.policy(routing, after: policy) else { return }
        shared.board.replace(by: new)
        guard keeper != nil else { return }
        keeper.value.capturedAddresses = watch.addresses(of: routing.profiles.flatMap(\.capturedNames))
        do throws(NetworkError) {
            report(try keeper.value.apply(new))
        } catch {
            say(.error, "network") { $0.add("cause", "\(error)") }
        }
    }

    // MARK: The machine's network

    /// Makes routes and rules, if that is ours to do.
    mutating func setUpNetwork() throws(GatewayError) {
        guard let network = settings.network, let tunnelName else { return }
        do throws(SystemCallError) {
            let pools = settings.names.map { [$0.pool, $0.pool6] } ?? []
            let keeper = try NetworkKeeper(
                network, tunnel: tunnelName, pools: pools, dnsPort: shared.service?.addresses.first?.port)
            for descriptor in keeper.monitor.descriptors {
                try poller.add(descriptor, token: Self.networkToken, events: .readable)
            }
            self.keeper = consume keeper
        } catch {
            throw .system(error)
        }
        refreshScopes()
        do throws(NetworkError) {
            report(try keeper.value.apply(shared.policy))
        } catch {
            throw .network(error)
        }
    }

    private mutating func followNetwork() {
        guard keeper != nil else { return }
        // News come in bursts, and the network may not know the question.
        translationDueAt = min(translationDueAt, Clock.now() + .seconds(1))
        refreshScopes()
        do throws(NetworkError) {
            report(try keeper.value.refresh())
        } catch {
            say(.error, "network") { $0.add("cause", "\(error)") }
        }
    }

    /// Has the policy know the networks that the LAN interfaces have now.
    private mutating func refreshScopes() {
        let networks = keeper.value.networks()
        let policy = shared.policy
        var routing = policy.settings
        guard networks.all != routing.lanNetworks || networks.scopes != routing.scopes else { return }
        (routing.lanNetworks, routing.scopes) = networks
        guard let new = try? Self.policy(routing, after: policy) else { return }
        shared.board.replace(by: new)
    }

    private mutating func takeBackLoans() {
        guard keeper != nil, let deadline = keeper.value.nextDeadline, deadline <= Clock.now() else { return }
        do throws(NetworkError) {
            try keeper.value.expireLoans(shared.policy, now: Clock.now())
        } catch {
            say(.error, "network") { $0.add("cause", "\(error)") }
        }
    }

    mutating func takeDownNetwork() {
        guard keeper != nil else { return }
        do throws(NetworkError) {
            try keeper.value.undo()
        } catch {
            say(.error, "network") { line in
                line.add("cause", "\(error)")
                line.add("mend", "starshipd cleanup")
            }
        }
        keeper = nil
    }

    private func report(_ notices: [NetworkNotice]) {
        for notice in notices { say(.warning, "network") { $0.add("notice", "\(notice)") } }
    }

    // MARK: Saying

    /// Writes one line, if its level is wanted.
    private func say(_ level: LogLevel, _ event: String, _ fill: (inout LogLine) -> Void) {
        guard level <= settings.logLevel else { return }
        Self.say(level, event, isJournal: settings.isJournal, fill)
    }

    static func say(_ level: LogLevel, _ event: String, isJournal: Bool, _ fill: (inout LogLine) -> Void) {
        var line = LogLine(level, event: event, journal: isJournal)
        fill(&line)
        line.finish()
        StandardError.write(String(decoding: line.bytes, as: UTF8.self))
    }

    /// Asks every worker for a report and prints them together; a worker that does not answer within a second
    /// is left out.
    private mutating func printSnapshot() {
        let box = ReportBox(waking: control)
        for mailbox in shared.mailboxes { mailbox.send(.report(box)) }
        let deadline = Clock.now() + .seconds(1)
        var events = [PolledEvent](repeating: .none, count: 1)
        // Signals that come meanwhile have to wait, and must not wake this loop.
        poller.remove(signals.descriptor.number)
        defer { try? poller.add(signals.descriptor.number, token: 0, events: .readable) }
        while box.content.count < shared.mailboxes.count, Clock.now() < deadline {
            _ = poller.wait(into: &events, until: deadline)
            control.clear()
        }
        let policy = shared.policy
        let line = Snapshot.json(
            box.content, profile: policy.activeID,
            learned: Snapshot.Learned(
                usesAbsoluteForm: policy.active.usesAbsoluteForm,
                rejectsCredentials: policy.active.credentialsAreLockedOut(at: Clock.now())),
            routing: routingReport(policy),
            descriptors: DescriptorLimit.used(),
            residentKiB: ProcessMemory.resident() >> 10)
        StandardError.write(line + "\n")
    }
}

extension Gateway {
    private func routingReport(_ policy: Policy) -> Snapshot.Routing {
        var report = Snapshot.Routing()
        report.mode = policy.settings.profiles[policy.settings.active].rules.mode.rawValue
        switch policy.capture(ofProfile: policy.settings.active) {
        case .names: report.capture = "names"
        case .all(let because): (report.capture, report.because) = ("all", because)
        }
        if let figures = shared.names?.figures {
            (report.fakeNames, report.seenAnswers) = (figures.names, figures.seen)
        }
        report.counters = shared.service?.counters.named ?? []
        return report
    }
}

extension GatewaySettings.Listener.Kind {
    var name: String {
        switch self {
        case .socks: "socks"
        case .http: "http"
        }
    }
}
