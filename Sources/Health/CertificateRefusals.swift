/// Devices that refuse a host's certificate again and again: the sign of a proxy that decrypts and is not trusted.

public import Bytes

/// Counts refused certificates by device and host, and says when somebody should hear of it.
///
/// Applications that pin their certificates try for ever, so each pair is told of once and then rests. Both tables are
/// bounded, and a device that asks for many hosts displaces only its own.
public struct CertificateRefusals: Sendable {
    /// So many within `window` are told of.
    public static let enough = 3
    public static let window = Interval.seconds(60)
    /// How long a pair is not told of again.
    public static let quiet = Interval.seconds(600)

    static let mostDevices = 256
    static let mostHosts = 32

    private struct Pair {
        let host: String
        /// The last refusals, the oldest first; one less than `enough`.
        var times: [Instant]
        var quietUntil: Instant?

        var last: Instant { times.last ?? quietUntil ?? Instant(nanoseconds: .min) }
    }

    private var devices: [String: [Pair]] = [:]

    public init() {}

    /// Takes a refusal; true when it is to be told of.
    public mutating func note(device: String, host: String, at now: Instant) -> Bool {
        var pairs = devices[device] ?? []
        let position = pairs.firstIndex { $0.host == host }
        // Those that were refused last stand at the end.
        var pair = position.map { pairs.remove(at: $0) } ?? Pair(host: host, times: [], quietUntil: nil)
        let isTold = Self.count(&pair, at: now)
        if pairs.count >= Self.mostHosts { pairs.removeFirst() }
        pairs.append(pair)
        if devices[device] == nil, devices.count >= Self.mostDevices { forgetOne() }
        devices[device] = pairs
        return isTold
    }

    private static func count(_ pair: inout Pair, at now: Instant) -> Bool {
        pair.times.removeAll { now - $0 > window }
        pair.times.append(now)
        guard pair.times.count >= enough else { return false }
        pair.times.removeFirst()
        if let quietUntil = pair.quietUntil, now < quietUntil { return false }
        pair.quietUntil = now + quiet
        return true
    }

    /// The device that has refused nothing for the longest time goes.
    private mutating func forgetOne() {
        let oldest = devices.min { left, right in
            (left.value.last?.last ?? .never, left.key) < (right.value.last?.last ?? .never, right.key)
        }
        if let oldest { devices[oldest.key] = nil }
    }

    /// How many pairs are remembered.
    var count: Int { devices.values.reduce(0) { $0 + $1.count } }

    /// One line with both ways out of it.
    public static func sentence(device: String, host: String) -> String {
        let host = host.asOneLine
        return
            "\(device.asOneLine) has refused the certificate for \(host) \(enough) times within a minute: install and"
            + " trust the proxy's root certificate on it, or send the host direct (rule DOMAIN,\(host),DIRECT)"
    }
}
