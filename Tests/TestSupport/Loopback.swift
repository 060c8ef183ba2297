/// Addresses of this machine that no other test has, so that no port of theirs is anybody else's.

public import Addresses
import Foundation
import Synchronization

public enum Loopback {
    private static let given = Atomic<Int>(0)

    /// The next one: of this process by its number, and of its tests one after the other.
    public static func next() -> IPAddress {
        let process = UInt32(ProcessInfo.processInfo.processIdentifier)
        let number = UInt32(given.wrappingAdd(1, ordering: .relaxed).oldValue)
        return IPAddress(v4: 127 << 24 | (16 + process % 200) << 16 | (process / 200 % 250) << 8 | (1 + number % 250))
    }
}
