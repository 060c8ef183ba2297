/// The certificates of decrypting proxies: fetched through them when somebody wants to see one, and kept for a while.

import Bytes
import Health
import Profiles
import Upstreams
import Wire

struct AuthorityDesk {
    /// What is known of one upstream's certificate.
    struct Entry {
        let upstream: Upstreams.Upstream
        var fetch: AuthorityFetch
        /// The number of the probe that is under way.
        var ticket: UInt64?
        /// Those who wait for it.
        var waiting: [Asker] = []
        var found: Found?
        var at: Instant
    }

    /// Somebody who waits, and what they have asked for.
    struct Asker {
        var promise: UInt64
        var place: AuthorityPlace
    }

    typealias Found = Result<Certificate, AuthorityFetchError>

    /// What comes of a probe's result.
    enum Outcome {
        /// Another page is to be asked for.
        case again(AuthorityFetch, Upstreams.Upstream)
        case found(Found, [Asker])
    }

    /// How long a certificate counts: a proxy makes another one once in years.
    static let lifetime = Interval.seconds(900)
    /// How long a failure is shown before it is tried again for somebody who looks.
    static let pause = Interval.seconds(5)

    private var entries: [Entry] = []

    /// What was found lately through an upstream; a failure counts for less long.
    func found(through upstream: Upstreams.Upstream, at now: Instant) -> Found? {
        guard let index = index(of: upstream), let found = entries[index].found else { return nil }
        let age = now - entries[index].at
        if case .success = found { return age < Self.lifetime ? found : nil }
        return age < Self.pause ? found : nil
    }

    func isAsking(_ upstream: Upstreams.Upstream) -> Bool {
        index(of: upstream).map { entries[$0].ticket != nil } ?? false
    }

    /// Whether the result of a probe is waited for here.
    func awaits(_ ticket: UInt64) -> Bool { index(of: ticket) != nil }

    /// An upstream's number alone may be another one's later.
    private func index(of upstream: Upstreams.Upstream) -> Int? {
        entries.firstIndex {
            $0.upstream.isSame(as: upstream) && $0.upstream.settings.isSameUpstream(as: upstream.settings)
        }
    }

    private func index(of ticket: UInt64) -> Int? { entries.firstIndex { $0.ticket == ticket } }

    /// Takes note of a fetch that has begun, through an upstream that is not asked just now; what is old goes.
    mutating func began(
        _ fetch: AuthorityFetch, through upstream: Upstreams.Upstream, ticket: UInt64, at now: Instant
    ) {
        if let former = index(of: upstream) { entries.remove(at: former) }
        entries.removeAll { $0.ticket == nil && now - $0.at >= Self.lifetime }
        entries.append(Entry(upstream: upstream, fetch: fetch, ticket: ticket, at: now))
    }

    /// Has somebody wait for the fetch that is under way.
    mutating func wait(for upstream: Upstreams.Upstream, _ asker: Asker) {
        if let index = index(of: upstream) { entries[index].waiting.append(asker) }
    }

    /// Takes the result of a probe; nil where it was for somebody else.
    mutating func take(_ result: ProbeResult, at now: Instant) -> Outcome? {
        guard let index = index(of: result.ticket) else { return nil }
        switch entries[index].fetch.take(result) {
        case .again: return .again(entries[index].fetch, entries[index].upstream)
        case .found(let certificate): return finish(index, .success(certificate), at: now)
        case .failed(let error): return finish(index, .failure(error), at: now)
        }
    }

    /// Goes on with a fetch under another probe; without one it ends.
    mutating func goOn(from former: UInt64, as ticket: UInt64?, at now: Instant) -> Outcome? {
        guard let index = index(of: former) else { return nil }
        entries[index].ticket = ticket
        guard ticket == nil else { return nil }
        return finish(index, .failure(.upstream(.gateway("too many probes are under way"))), at: now)
    }

    private mutating func finish(_ index: Int, _ found: Found, at now: Instant) -> Outcome {
        let waiting = entries[index].waiting
        entries[index].waiting = []
        entries[index].ticket = nil
        entries[index].found = found
        entries[index].at = now
        return .found(found, waiting)
    }
}

/// The profile that was asked about, and the proxy that stands behind it.
struct AuthorityPlace {
    /// A member's where the profile is a group.
    var profile: String
    var kind: Profiles.Upstream.Kind
    var source: CertificateSource
}
