/// The hash of the tables in this module: seeded, and a few multiplications long.

/// A hash of flow keys and addresses under a secret seed.
///
/// A peer picks its own ports and addresses; without the seed, drawn at start, it cannot aim at one slot. What
/// leaves the machine is never derived from it, so a strong function is not needed.
public struct KeyedHash: Sendable {
    private let first: UInt64
    private let second: UInt64

    public init(seed: (UInt64, UInt64)) {
        first = seed.0 ^ 0x9e37_79b9_7f4a_7c15
        second = seed.1 ^ 0xd1b5_4a32_d192_ed03
    }

    /// The hash of a flow key.
    public func callAsFunction(_ key: FlowKey) -> UInt64 {
        let client = Self.fold(key.clientHigh ^ first, key.clientLow ^ second)
        let target = Self.fold(key.targetHigh ^ second, key.targetLow ^ first ^ 0xa076_1d64_78bd_642f)
        return Self.fold(client ^ UInt64(key.ports) ^ first, target ^ second)
    }

    /// The hash of two words.
    public func callAsFunction(_ high: UInt64, _ low: UInt64) -> UInt64 {
        Self.fold(Self.fold(high ^ first, low ^ second) ^ second, first)
    }

    /// Multiplies to 128 bits and folds both halves together, so that every bit of the result depends on all.
    private static func fold(_ left: UInt64, _ right: UInt64) -> UInt64 {
        let product = left.multipliedFullWidth(by: right)
        return product.high ^ product.low
    }
}
