/// Randomness that nobody can guess, from the kernel.

internal import CLinux
internal import Glibc

/// Numbers from getrandom(2): for keys, seeds and initial sequence numbers.
public struct SystemRandom: RandomNumberGenerator, Sendable {
    public init() {}

    public mutating func next() -> UInt64 {
        var word: UInt64 = 0
        // Safe: the buffer has exactly the size that is asked for; up to 256 bytes are never cut short.
        let result = unsafe withUnsafeMutableBytes(of: &word) { bytes in
            retrying { unsafe getrandom(bytes.baseAddress, bytes.count, 0) }
        }
        precondition(result == 8, "the kernel gives no randomness")
        return word
    }

    /// A key of two words, as the keyed hashes take it.
    public mutating func key() -> (UInt64, UInt64) { (next(), next()) }
}
