/// How much may be under way between recoveries; inside them `ProportionalRate` says it.

import Bytes

/// Congestion control by CUBIC (RFC 9438), in octets.
///
/// After a reduction the window grows along a cubic function of time whose plateau is where the loss was, and
/// never slower than Reno would (section 4.3). The names of the RFC are in the comments.
struct CUBIC {
    /// cwnd.
    private var size: Double
    /// ssthresh.
    @Compact private(set) var threshold = Int.max
    /// W_max.
    private var plateau = 0.0
    /// K, in seconds.
    private var timeToPlateau = 0.0
    /// W_est: what Reno would have.
    private var friendly = 0.0
    /// cwnd_prior.
    private var prior = 0.0
    /// When the present stage of congestion avoidance began, or `.never`.
    private var epoch = Instant.never

    /// C, in segments per second cubed.
    private static let scale = 0.4
    /// β_cubic.
    private static let reduction = 0.7
    /// The bound of everything: more is never in flight.
    private static let most = 64.0 * 1024 * 1024

    init(window: Int) { size = Double(window) }

    /// The congestion window.
    var window: Int {
        get { Int(size) }
        set { size = Double(newValue) }
    }

    var isSlowStart: Bool { window < threshold }

    /// The client acknowledged octets and the window was what held us back.
    mutating func acknowledged(_ octets: Int, segmentSize: Int, roundTrip: Interval, now: Instant) {
        var octets = octets
        if isSlowStart {
            let step = min(octets, threshold - window)
            size = min(size + Double(step), Self.most)
            octets -= step
            guard octets > 0 else { return }
        }
        let segment = Double(segmentSize)
        if epoch == .never { beginEpoch(segment, now) }
        friendly += friendlyGain * segment * Double(octets) / size
        let elapsed = Double((now - epoch).nanoseconds) / 1e9
        let cubic = curve(elapsed, segment)
        if cubic < friendly {
            size = max(size, friendly)
        } else {
            let ahead = curve(elapsed + Double(roundTrip.nanoseconds) / 1e9, segment)
            let target = min(max(ahead, size), size * 1.5)
            size += (target - size) * Double(octets) / size
        }
        size = min(size, Self.most)
    }

    /// α_cubic: Reno's gain once the former window is reached again (section 4.3).
    private var friendlyGain: Double {
        friendly >= prior ? 1 : 3 * (1 - Self.reduction) / (1 + Self.reduction)
    }

    /// Loss: the window after the recovery becomes `threshold`.
    mutating func reduce(segmentSize: Int) {
        prior = size
        // Fast convergence (section 4.7): make room for a newcomer.
        plateau = size < plateau ? size * (1 + Self.reduction) / 2 : size
        threshold = max(Int(size * Self.reduction), 2 * segmentSize)
        epoch = .never
    }

    /// The path changed without loss: the growth starts over from here.
    mutating func restart() { epoch = .never }

    /// Leaves slow start here.
    mutating func leaveSlowStart() { threshold = window }

    /// Time in which nothing was to be sent is no time on the curve.
    mutating func pause(_ time: Interval) {
        if epoch != .never { epoch = epoch + time }
    }

    // MARK: Undoing

    /// What a reduction changes and an undo restores (section 4.9).
    struct Memory {
        fileprivate var size: Float
        fileprivate var plateau: Float
        @Compact fileprivate var threshold: Int
    }

    var memory: Memory { Memory(size: Float(size), plateau: Float(plateau), threshold: threshold) }

    mutating func restore(_ memory: Memory) {
        size = max(size, Double(memory.size))
        plateau = max(plateau, Double(memory.plateau))
        threshold = memory.threshold
        epoch = .never
    }

    // MARK: Inside

    private mutating func beginEpoch(_ segment: Double, _ now: Instant) {
        epoch = now
        friendly = size
        if size < plateau {
            timeToPlateau = Self.cubeRoot((plateau - size) / segment / Self.scale)
        } else {
            timeToPlateau = 0
            plateau = size
        }
    }

    /// W_cubic(t), in octets.
    private func curve(_ time: Double, _ segment: Double) -> Double {
        let distance = time - timeToPlateau
        return Self.scale * distance * distance * distance * segment + plateau
    }

    /// Newton's method; the start is right within a factor of two, so six steps are exact.
    static func cubeRoot(_ value: Double) -> Double {
        guard value > 0 else { return 0 }
        var root = Double(sign: .plus, exponent: value.exponent / 3, significand: 1)
        for _ in 0..<6 { root -= (root * root * root - value) / (3 * root * root) }
        return root
    }
}
