/// The map as it outlives the program: taken out as records, put back in at the next start.
///
/// Every restored place rests anew. Nobody knows how long the gateway was away (a machine without a clock of its own
/// starts in 1970), nor which flows and caches of the devices lived on; a day more costs nothing, a wrong name does.

import Addresses
public import Bytes

extension FakePool {
    /// All names with their places, the one that rests longest first and those with flows last.
    public var mapping: [FakeMapRecord] {
        var records: [FakeMapRecord] = []
        records.reserveCapacity(nameCount)
        var place = idle.oldest
        while place != UseOrder.none {
            let name = entries[Int(place)].name
            if !name.isEmpty { records.append(.name(name, place: place)) }
            place = order.newer(than: place)
        }
        for (place, entry) in entries.enumerated() where entry.flows > 0 {
            records.append(.name(entry.name, place: UInt32(place)))
        }
        return records
    }

    /// Puts a name back at its place, in the order of the records; false when there is no such place here.
    ///
    /// A later record of the same place or the same name is what counts. Only before anything is granted.
    public mutating func restore(_ name: String, at place: UInt32, now: Instant) -> Bool {
        guard place < range.placeCount, !name.isEmpty else { return false }
        rest(below: Int(place) + 1, now: now)
        if let former = places[name] { forget(former) }
        forget(place)
        entries[Int(place)].name = name
        places[name] = place
        touch(place, advance(now))
        return true
    }

    /// Lets all places below a bound rest, though no name is known for them: they may have been answered.
    public mutating func rest(below bound: Int, now: Instant) {
        let now = advance(now)
        while entries.count < min(bound, range.placeCount) {
            let place = UInt32(entries.count)
            entries.append(Entry(lastUse: now))
            link(place)
        }
    }
}
