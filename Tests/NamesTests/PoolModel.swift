/// The fake-address pool as one would write it without a thought for time or memory.

import Addresses
import Bytes
import Names

/// Every rule of the pool as a search through everything.
struct PoolModel {
    struct Place {
        var name = ""
        var owner: IPAddress?
        var flows = 0
        var lastUse: Instant
        /// Tells uses at the same time apart.
        var turn: Int
    }

    let capacity: Int
    let limits: FakePool.Limits
    var places: [Place] = []
    private var turn = 0

    init(capacity: Int, limits: FakePool.Limits) {
        self.capacity = capacity
        self.limits = limits
    }

    func place(of name: String) -> Int? { places.firstIndex { $0.name == name } }

    func count(_ device: IPAddress) -> Int { places.count { $0.owner == device } }

    mutating func grant(_ name: String, to device: IPAddress, now: Instant) -> Int? {
        guard let place = place(of: name) ?? free(for: device, now) else { return nil }
        places[place].name = name
        if count(device) < limits.namesPerDevice { places[place].owner = device }
        if places[place].flows == 0 { use(place, now) }
        return place
    }

    mutating func retain(_ place: Int) -> String? {
        guard place < places.count, !places[place].name.isEmpty else { return nil }
        places[place].flows += 1
        return places[place].name
    }

    mutating func release(_ place: Int, now: Instant) {
        places[place].flows -= 1
        if places[place].flows == 0 { use(place, now) }
    }

    /// A start after a stop or a crash: names and order are left, and every place rests anew.
    mutating func restart(now: Instant) {
        let order = places.indices.sorted {
            (places[$0].flows > 0 ? Int.max - places.count + $0 : places[$0].turn)
                < (places[$1].flows > 0 ? Int.max - places.count + $1 : places[$1].turn)
        }
        for place in order {
            (places[place].owner, places[place].flows) = (nil, 0)
            use(place, now)
        }
    }

    private mutating func free(for device: IPAddress, _ now: Instant) -> Int? {
        if count(device) >= limits.namesPerDevice {
            return reuse(now) { $0.owner == device }
        }
        if places.count < capacity {
            places.append(Place(lastUse: now, turn: turn))
            return places.count - 1
        }
        return reuse(now) { _ in true }
    }

    private mutating func reuse(_ now: Instant, _ isMeant: (Place) -> Bool) -> Int? {
        let idle = places.indices.filter { places[$0].flows == 0 && isMeant(places[$0]) }
        guard let oldest = idle.min(by: { places[$0].turn < places[$1].turn }),
            now - places[oldest].lastUse >= limits.restUnderPressure
        else { return nil }
        places[oldest].owner = nil
        return oldest
    }

    private mutating func use(_ place: Int, _ now: Instant) {
        turn += 1
        (places[place].lastUse, places[place].turn) = (now, turn)
    }
}
