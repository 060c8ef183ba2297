/// The machine's network and the gateway: each follows the other.

import Addresses
import Bytes
import LinuxIO
public import Network
import Routing

extension Gateway {
    /// What is wanted of the machine's network, and what nft(8) showed of our table when it was made.
    public var networkIntent: (plan: NetworkPlan?, firewall: String?) {
        keeper != nil ? keeper.value.intent : (nil, nil)
    }

    /// What leads around the gateway now, each in one sentence.
    public var waysAround: [String] {
        keeper != nil ? keeper.value.notices.filter(\.isWayAround).map(\.description) : []
    }

    /// Makes routes and rules, if that is ours to do.
    mutating func setUpNetwork() throws(GatewayError) {
        guard let network = shared.settings.network, let tunnelName else { return }
        do throws(SystemCallError) {
            let pools = shared.settings.names.map { [$0.pool, $0.pool6] } ?? []
            let keeper = try NetworkKeeper(
                network, tunnel: tunnelName, pools: pools, dnsPort: shared.service?.addresses.first?.port)
            for descriptor in keeper.monitor.descriptors {
                try poller.add(descriptor, token: Self.networkToken, events: .readable)
            }
            self.keeper = consume keeper
        } catch {
            throw .system(error)
        }
        complete()
        do throws(NetworkError) {
            report(try keeper.value.apply(shared.policy))
        } catch {
            throw .network(error)
        }
    }

    mutating func followNetwork() {
        guard keeper != nil else { return }
        // News come in bursts, and the network may not know the question.
        translationDueAt = min(translationDueAt, Clock.now() + .seconds(1))
        complete()
        do throws(NetworkError) {
            report(try keeper.value.refresh())
        } catch {
            say(.error, "network") { $0.add("cause", "\(error)") }
        }
    }

    /// What the machine says about the settings, added to them: its addresses, the LANs' networks, and the addresses of
    /// watched names.
    func completed(_ routing: RoutingSettings) -> RoutingSettings {
        var routing = Self.refusingOwn(routing)
        if keeper != nil { (routing.lanNetworks, routing.scopes) = keeper.value.networks(of: routing) }
        routing.foundMachines = watch.addresses(of: routing.upstreamNames)
        routing.capturedAddresses = watch.addresses(of: routing.profiles.flatMap(\.capturedNames))
        routing.translations = shared.knownTranslations
        return routing
    }

    /// The settings, by which no dial goes to this machine.
    static func refusingOwn(_ routing: RoutingSettings) -> RoutingSettings {
        var routing = routing
        routing.refuse(own: ((try? NetworkInterface.addresses()) ?? []).map(\.address))
        return routing
    }

    /// Has the policy know what the machine says now, if it has changed.
    private func complete() {
        let policy = shared.policy
        let routing = completed(policy.settings)
        guard !routing.isCompletedLike(policy.settings), let new = try? Self.policy(routing, after: policy) else {
            return
        }
        shared.board.replace(by: new)
    }

    /// Sees whether settings that this process may not make have been made by now, and whether the kernel takes by now
    /// what it refused.
    mutating func lookAtNetwork() {
        guard keeper != nil, keeper.value.lookDueAt <= Clock.now() else { return }
        do throws(NetworkError) {
            report(try keeper.value.look())
        } catch {
            say(.error, "network") { $0.add("cause", "\(error)") }
        }
    }

    mutating func takeBackLoans() {
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

    func report(_ notices: [NetworkNotice]) {
        for notice in notices { say(.warning, "network") { $0.add("notice", "\(notice)") } }
    }

    /// Asks for watched names when it is time to, and has policy and routes follow their addresses.
    mutating func watchNames() {
        guard let service = shared.service else { return }
        let now = Clock.now()
        watch.ask(service, now: now)
        if watch.collect(now: now) { applyNews() }
    }

    /// Has policy and routes follow what the network was found to translate.
    mutating func followTranslations() {
        if shared.knownTranslations != shared.policy.settings.translations { applyNews() }
    }

    /// Has policy and routes follow what was found out.
    private mutating func applyNews() {
        complete()
        guard keeper != nil else { return }
        do throws(NetworkError) {
            report(try keeper.value.apply(shared.policy))
        } catch {
            say(.error, "network") { $0.add("cause", "\(error)") }
        }
    }
}
