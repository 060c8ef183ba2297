/// What happens to each packet, drawn from a seed.

/// A small generator (xorshift64*), the same on every machine.
struct SeededRandom {
    private var state: UInt64

    init(seed: UInt64) {
        // A state of zero would stay zero; the multiplication spreads small seeds.
        state = (seed &+ 0x9e37_79b9_7f4a_7c15) &* 0xbf58_476d_1ce4_e5b9 | 1
    }

    mutating func next() -> UInt64 {
        state ^= state >> 12
        state ^= state << 25
        state ^= state >> 27
        return state &* 0x2545_f491_4f6c_dd1d
    }

    /// 0 ..< 1.
    mutating func fraction() -> Double { Double(next() >> 11) * 0x1p-53 }
}

/// The fate of one packet.
struct Fate {
    let isLost: Bool
    let isDuplicated: Bool
    /// Which bit is flipped, as a fraction of those that may be.
    let corruption: Double?
    /// Nanoseconds on top of the delay, by jitter.
    let jitter: Int64
    /// Nanoseconds that it is held back so that others overtake it.
    let hold: Int64?

    /// Draws the next fate.
    ///
    /// Every fate takes the same number of draws, so one setting does not change what another one does.
    init(_ impairment: Impairment, _ random: inout SeededRandom) {
        isLost = random.fraction() < impairment.loss
        isDuplicated = random.fraction() < impairment.duplicate
        let isCorrupted = random.fraction() < impairment.corrupt
        let bit = random.fraction()
        corruption = isCorrupted ? bit : nil
        jitter = Int64(random.fraction() * Double(impairment.jitter))
        let isHeld = random.fraction() < impairment.reorder
        let share = 1 - random.fraction()
        hold = isHeld ? Int64(share * Double(impairment.reorderHold)) : nil
    }
}
