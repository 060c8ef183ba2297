/// # What the page remembers
///
/// Little, for a while, and nothing that decides: who was here first when, which proxies' certificates devices may
/// still have, which self-checks are under way, and what was seen on the link a moment ago. All of it is bounded, since
/// whoever is on the LAN can make up devices, and a restart forgets it.

import Bytes
import Control
import Devices
import Network
import Page

/// Values that count for a while, at most so many; the oldest one makes room.
struct Remembered<Key: Hashable, Value> {
    private var entries: [Key: (value: Value, at: Instant)] = [:]
    let limit: Int
    let lifetime: Interval

    init(limit: Int, lifetime: Interval) {
        self.limit = limit
        self.lifetime = lifetime
    }

    /// The value, while it counts.
    func value(of key: Key, at now: Instant) -> Value? {
        guard let entry = entries[key], now - entry.at < lifetime else { return nil }
        return entry.value
    }

    mutating func note(_ value: Value, of key: Key, at now: Instant) {
        if entries.count >= limit, entries[key] == nil, let oldest = entries.min(by: { $0.value.at < $1.value.at }) {
            entries[oldest.key] = nil
        }
        entries[key] = (value, now)
    }

    mutating func forget(_ key: Key) { entries[key] = nil }
}

struct PageDesk {
    /// A self-check that a device has begun.
    struct Check {
        var device: DeviceIdentity
        var begun: Instant
    }

    /// Somebody who has come with a device for the first time.
    struct FirstVisit {
        var at: Instant
        /// They have said what is written on it.
        var isNamed = false
    }

    /// What is odd about devices, as of a moment.
    struct Look {
        var at: Instant
        /// Who asks which other resolver.
        var insistences: [Insistence]
        /// Which addresses have several machines behind them.
        var shared: SharedAddresses
    }

    /// The codes for everybody, which take a while to draw.
    struct DrawnCodes {
        var authority: String
        var choices: [HomeView.Choice]
        var sheet: CodeSheet
    }

    /// How long a first visit lasts.
    static let firstVisit = Interval.seconds(600)
    /// The firewall and the workers are asked again after this, however many look at the page.
    static let lookTime = Interval.seconds(10)

    /// How often a device may change something, and how many times at once after a quiet time: each change is a
    /// revision on the disk and a turn of the kernel's rules, which others wait for.
    static let changePeriod = Interval.seconds(1)
    static let changeBurst = 20

    /// Until when each device's changes are spent.
    private var changes = Remembered<DeviceIdentity, Instant>(limit: 4096, lifetime: .seconds(60))
    /// When each device came for the first time.
    var callers = Remembered<DeviceIdentity, FirstVisit>(limit: 4096, lifetime: .hours(24 * 365))
    /// The certificates that devices may still have and need no more.
    var left = Remembered<DeviceIdentity, UpstreamView.Kind>(limit: 4096, lifetime: .hours(24))
    /// The self-checks that were begun, by their nonces.
    var checks = Remembered<String, Check>(limit: 256, lifetime: .seconds(600))
    var look: Look?
    var codes: DrawnCodes?
    /// Forms that bring a proxy, by the number of the probe that connects to it.
    var trials: [UInt64: PageVisit] = [:]
    /// What has come of them, by the number of the visit: it leaves with the next turn of the loop.
    var answers: [(number: UInt64, answer: PageAnswer)] = []

    /// Whether a device has not changed too much lately.
    func mayChange(_ device: DeviceIdentity, at now: Instant) -> Bool {
        let spent = changes.value(of: device, at: now) ?? now
        return spent - now <= Self.changePeriod * Int64(Self.changeBurst - 1)
    }

    mutating func changed(_ device: DeviceIdentity, at now: Instant) {
        changes.note(max(changes.value(of: device, at: now) ?? now, now) + Self.changePeriod, of: device, at: now)
    }

    /// Notes that somebody has said what a device is called.
    mutating func named(_ device: DeviceIdentity, at now: Instant) {
        guard var visit = callers.value(of: device, at: now) else { return }
        visit.isNamed = true
        callers.note(visit, of: device, at: visit.at)
    }

    /// Forgets a device's former owner; the certificate may still be on it.
    mutating func forget(_ device: DeviceIdentity) { callers.forget(device) }
}
