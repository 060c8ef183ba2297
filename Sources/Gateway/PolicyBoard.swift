/// Where the policy hangs that decides just now: workers and the DNS service look at it once a flow and once a name.

import Synchronization

final class PolicyBoard: Sendable {
    private let content: Mutex<Policy>

    init(_ policy: Policy) { content = Mutex(policy) }

    var current: Policy { content.withLock { $0 } }

    func replace(by policy: Policy) { content.withLock { $0 = policy } }
}
