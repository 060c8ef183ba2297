/// What the DNS service counts; it alone writes, and publishes a copy at the end of each turn.

import Names

struct NameServerCounters: Equatable, Sendable {
    // What was asked
    var overUDP = 0
    var overTCP = 0
    var lookups = 0
    var notAllowed = 0
    /// Answers, and what is too short to be told so.
    var ignored = 0
    var malformed = 0

    // How it was answered
    var fake = 0
    var own = 0
    var negative = 0
    var refused = 0
    var cached = 0
    var joined = 0
    var forwarded = 0
    var failed = 0
    /// Without a fake address, because the pool or the device's share of it is used up.
    var poolFull = 0
    /// Resolvers' answers with an address of the fake range.
    var fakeFromResolver = 0
    /// Too many questions waited.
    var overloaded = 0
    /// Answers for which there was no room in the socket.
    var unsent = 0

    // Clients' TCP connections
    var streamsOpened = 0
    var streamsIdle = 0
    var streamsRefused = 0
    /// The quietest, closed for a newcomer.
    var streamsShed = 0

    /// What happened towards the resolvers.
    var resolver = ResolverClient.Counters()

    /// Names and values, in the order of the snapshot.
    var named: [(name: String, value: Int)] {
        [
            ("dns_udp", overUDP), ("dns_tcp", overTCP), ("dns_lookups", lookups), ("dns_not_allowed", notAllowed),
            ("dns_ignored", ignored), ("dns_malformed", malformed), ("dns_fake", fake), ("dns_own", own),
            ("dns_negative", negative), ("dns_refused", refused), ("dns_cached", cached), ("dns_joined", joined),
            ("dns_forwarded", forwarded), ("dns_failed", failed), ("dns_pool_full", poolFull),
            ("dns_fake_from_resolver", fakeFromResolver), ("dns_overloaded", overloaded), ("dns_unsent", unsent),
            ("dns_streams", streamsOpened), ("dns_streams_idle", streamsIdle), ("dns_streams_refused", streamsRefused),
            ("dns_streams_shed", streamsShed),
            ("dns_resolver_sent", resolver.sent), ("dns_resolver_tcp", resolver.overTCP),
            ("dns_resolver_timeouts", resolver.timeouts), ("dns_resolver_strays", resolver.strays),
            ("dns_resolver_malformed", resolver.malformed),
        ]
    }
}
