/// What follows from a profile's settings.

internal import Bytes

extension HealthSettings {
    /// The same within bounds that need no further thought; the configuration refuses what lies outside.
    var bounded: HealthSettings {
        var settings = self
        settings.interval = min(max(interval, .seconds(1)), .hours(24))
        settings.timeout = min(max(timeout, .milliseconds(1)), .hours(24))
        settings.slow = min(max(slow, .milliseconds(1)), .hours(24))
        settings.retry = min(max(retry, .seconds(1)), settings.interval)
        return settings
    }

    /// For how long a good answer counts: two rounds may be lost, and the second has its time.
    var freshness: Interval { interval * 2 + timeout }

    /// How long a running round may take before its upstream is called slow.
    ///
    /// A SYN that is lost twice is answered after three seconds (RFC 6298): that is the network, not the upstream.
    var patience: Interval { slow + .seconds(3) }
}
