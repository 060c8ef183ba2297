/// What users' own streams show about an upstream: each dial that ends is an observation, whoever asked for it.
///
/// Probes are none of these: they are dialled beside the workers.

public import Bytes
internal import Synchronization
public import Wire

/// The dials of one upstream so far, as of one moment.
public struct UpstreamTraffic: Sendable {
    /// Dials that it let through, that it refused for their target's sake, and that it failed itself.
    public var opened = 0
    public var refused = 0
    public var failed = 0
    /// Dials in a row that it failed.
    public var misses = 0
    public var lastFailure: DialFailure?
    /// How long the last dial that it let through has taken.
    public var lastTime = Interval.zero
    /// The last target that it let through which speaks TLS, by its port.
    public var lastSecure: Target?

    public init() {}
}

/// Where workers note what came of dials, for whoever judges the upstream's health.
final class TrafficBook: Sendable {
    /// A host that a stream was opened to, by a hash of its name: it is only counted.
    private struct Host {
        var hash = 0
        var at = Instant(nanoseconds: .min)
    }

    private struct Content {
        var traffic = UpstreamTraffic()
        var hosts = InlineArray<8, Host>(repeating: Host())
        var next = 0
    }

    private let content = Mutex(Content())

    /// Notes a dial that was let through; returns whether it is the first one since a failure.
    func opened(_ target: Target, took time: Interval, at now: Instant) -> Bool {
        let hash = target.host.hashValue
        return content.withLock { content in
            let isNews = content.traffic.misses > 0 || content.traffic.opened == 0
            content.traffic.opened += 1
            content.traffic.misses = 0
            content.traffic.lastTime = time
            if target.port == 443 { content.traffic.lastSecure = target }
            for place in content.hosts.indices where content.hosts[place].hash == hash {
                content.hosts[place].at = now
                return isNews
            }
            content.hosts[content.next] = Host(hash: hash, at: now)
            content.next = (content.next + 1) % content.hosts.count
            return isNews
        }
    }

    /// Notes a dial that failed.
    func failed(_ failure: DialFailure) {
        content.withLock { content in
            if failure.concernsUpstream {
                content.traffic.failed += 1
                content.traffic.misses += 1
                content.traffic.lastFailure = failure
            } else {
                // It has answered.
                content.traffic.refused += 1
                content.traffic.misses = 0
            }
        }
    }

    var traffic: UpstreamTraffic { content.withLock { $0.traffic } }

    /// How many hosts, eight at most, streams were opened to since a moment.
    func hosts(since start: Instant) -> Int {
        content.withLock { content in
            var count = 0
            for place in content.hosts.indices where content.hosts[place].at >= start { count += 1 }
            return count
        }
    }
}

extension Upstream {
    /// What users' streams have shown so far.
    public var traffic: UpstreamTraffic { book.traffic }

    /// How many different hosts, eight at most, streams were opened to since a moment.
    public func hostsOpened(since start: Instant) -> Int { book.hosts(since: start) }

    /// Takes note of a dial that it let through; returns whether that is news: the first one, or the first since a
    /// failure.
    public func noteOpened(_ target: Target, took time: Interval, at now: Instant) -> Bool {
        reach.hit()
        return book.opened(target, took: time, at: now)
    }

    /// Takes note of a dial that failed; an upstream that refuses one target is there.
    public func noteFailure(_ failure: DialFailure) {
        book.failed(failure)
        switch failure {
        case .refused, .socksRefused: reach.hit()
        default: if failure.concernsUpstream { reach.miss() }
        }
    }

    /// Takes what probes have found: whether anything gets through it, for who asks while nobody dials.
    public func noteProbe(getsThrough: Bool) {
        if getsThrough { reach.hit() } else { reach.lose() }
    }
}
