/// Any bytes as records of the fake map: none traps, what is read is written as it was read, and no address has two
/// names or a name two addresses.

import Addresses
import Bytes
import Names

func fuzzFakeMap(_ bytes: [UInt8]) {
    guard let v4 = IPPrefix(parsing: "198.18.0.0/24"), let v6 = IPPrefix(parsing: "2001:2::/48") else { return }
    var loader = FakeMapLoader(into: FakePool(v4: v4, v6: v6), now: Instant(nanoseconds: 0))
    // The first octet of each piece is its length.
    var position = 0
    while position < bytes.count {
        let end = min(bytes.count, position + 1 + Int(bytes[position]))
        let piece = Array(bytes[position + 1..<max(end, position + 1)])
        position = max(end, position + 1)
        loader.take(piece.span)
        guard let record = FakeMapRecord.parse(piece.span) else { continue }
        var written: [UInt8] = []
        record.write(to: &written)
        if case .range = record { continue }
        precondition(written == piece, "another record")
    }
    let pool = loader.pool
    precondition(pool.usedPlaces <= pool.range.placeCount && pool.nameCount <= pool.usedPlaces)
    var names: Set<String> = []
    for case .name(let name, let place) in pool.mapping {
        precondition(names.insert(name).inserted, "a name at two places")
        precondition(pool.name(of: pool.range.address(at: place, .ipv6)) == name, "an address of another name")
    }
    precondition(names.count == pool.nameCount, "a name is missing")
}
