/// Names whose real addresses the kernel has to know: those of upstreams, whose machines are always direct, and those
/// that a profile lists and wants routed by address, for apps that have a resolver of their own.
///
///     names ── every half minute ──▶ NameService ── answers ──▶ inbox ──▶ addresses, while they are fresh

import Addresses
import Bytes
import LinuxIO
import Synchronization

struct NameWatch: ~Copyable {
    /// How often is asked: the service's cache knows better, and asks nobody before the answer's own time is over.
    static let interval = Interval.seconds(30)
    /// How long an address counts after it was last in an answer: devices keep answers too.
    static let memory = Interval.seconds(300)
    /// Names that are asked for at a time.
    static let limit = 512

    /// Answers on their way from the service's thread.
    final class Inbox: Sendable {
        private let answers = Mutex<[Resolution]>([])
        private let bell: WakeUp

        init(waking bell: WakeUp) { self.bell = bell }

        func put(_ answer: Resolution) {
            answers.withLock { $0.append(answer) }
            bell.wake()
        }

        func takeAll() -> [Resolution] {
            answers.withLock { waiting in
                defer { waiting = [] }
                return waiting
            }
        }
    }

    private let inbox: Inbox
    private var names: [String] = []
    private var seen: [String: [IPAddress: Instant]] = [:]
    /// When is asked next.
    private(set) var deadline = Instant.never

    init(waking bell: WakeUp) { inbox = Inbox(waking: bell) }

    /// Watches these names from now on.
    mutating func follow(_ wanted: [String], now: Instant) {
        let wanted = Array(wanted.prefix(Self.limit))
        guard wanted != names else { return }
        names = wanted
        seen = seen.filter { wanted.contains($0.key) }
        deadline = wanted.isEmpty ? .never : now
    }

    /// Asks when it is time to.
    mutating func ask(_ service: NameService, now: Instant) {
        guard now >= deadline else { return }
        deadline = now + Self.interval
        for name in names {
            let inbox = inbox
            _ = service.resolve(NameRequest(name: name, ticket: 0) { inbox.put($0) })
        }
    }

    /// Takes what has come; returns whether any addresses have changed.
    mutating func collect(now: Instant) -> Bool {
        var hasChanged = false
        for answer in inbox.takeAll() where names.contains(answer.name) {
            // No answer changes nothing: what was known is better than nothing.
            guard case .success(let addresses) = answer.result, !addresses.isEmpty else { continue }
            var known = (seen[answer.name] ?? [:]).filter { $0.value > now }
            for address in addresses { known[address] = now + Self.memory }
            if Set(known.keys) != Set((seen[answer.name] ?? [:]).keys) { hasChanged = true }
            seen[answer.name] = known
        }
        return hasChanged
    }

    /// The addresses of some names.
    func addresses(of names: [String]) -> [IPAddress] {
        var found: [IPAddress] = []
        for name in names {
            for address in (seen[name] ?? [:]).keys.sorted(by: { ($0.high, $0.low) < ($1.high, $1.low) })
            where !found.contains(address) {
                found.append(address)
            }
        }
        return found
    }
}
