/// Switching: what decides is replaced while everything runs.

public import Bytes
import LinuxIO
import Names
import Network
import Routing

extension Gateway {
    /// Where the page listens, as the kernel's routes know it.
    public var pagePort: UInt16? { keeper != nil ? keeper.value.pagePort : nil }

    /// Has the kernel lead to the page at another port, or to none, along with other settings.
    ///
    /// Where the kernel refuses, everything is as it was before.
    public mutating func switchTo(
        _ routing: RoutingSettings, pagePort: UInt16?, drain: Interval
    ) throws(GatewayError) -> RerouteCounts {
        guard keeper != nil else { return try switchTo(routing, drain: drain) }
        let former = keeper.value.pagePort
        keeper.value.pagePort = pagePort
        do throws(GatewayError) {
            return try switchTo(routing, drain: drain)
        } catch {
            keeper.value.pagePort = former
            throw error
        }
    }

    /// What decides just now, as it was given.
    public var routing: RoutingSettings { shared.policy.settings }

    /// Has other settings decide: new flows go the new way first, then the kernel's routes follow, then flows whose way
    /// has changed are reset.
    ///
    /// `drain` is how long flows that move may go on. Where the kernel refuses, everything is as it was before.
    public mutating func switchTo(_ routing: RoutingSettings, drain: Interval) throws(GatewayError) -> RerouteCounts {
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
        } catch {
            watch.follow(old.settings.watchedNames, now: Clock.now())
            throw error
        }
        let order = RerouteOrder(drain: drain, waking: answers)
        for mailbox in shared.mailboxes { mailbox.send(.reroute(order)) }
        waitForWorkers { order.content.workers }
        return order.content.counts
    }

    private mutating func route(from old: Policy, to new: Policy) throws(NetworkError) {
        guard keeper != nil else { return }
        let seen = shared.names?.seenAnswers() ?? SeenAnswers()
        report(try keeper.value.follow(from: old, to: new, seen, now: Clock.now()))
    }
}
