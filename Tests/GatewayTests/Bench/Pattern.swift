/// Octets to move through the gateway.

import TestSupport

/// So many octets in which a piece that is lost, doubled or in the wrong place shows: a random block of a prime
/// length, again and again.
func pattern(_ count: Int) -> [UInt8] {
    var random = SeededGenerator(seed: 1)
    let block = random.bytes(4093)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count + block.count)
    while bytes.count < count { bytes.append(contentsOf: block) }
    bytes.removeLast(bytes.count - count)
    return bytes
}
