/// Which place a new name gets, and on whom it counts.

import Addresses
import Bytes

extension FakePool {
    /// A place for a new name of a device: never one that has a flow or that has not rested.
    mutating func freePlace(for device: IPAddress, _ now: Instant) -> Grant? {
        if let owner = ownerOf[device], owners[Int(owner)].count >= limits.namesPerDevice {
            return reuse(owners[Int(owner)].idle.oldest, now)
        }
        // Fresh places come first although others may have rested: some programs keep an address for days, and
        // as long as nobody else gets it they are right.
        if entries.count < range.placeCount {
            let place = UInt32(entries.count)
            entries.append(Entry(lastUse: now))
            link(place)
            return Grant(place: place, origin: .fresh)
        }
        return reuse(idle.oldest, now)
    }

    /// Takes the place from its name if it has rested.
    private mutating func reuse(_ place: UInt32, _ now: Instant) -> Grant? {
        guard place != UseOrder.none else { return nil }
        let rest = now - entries[Int(place)].lastUse
        guard rest >= limits.restUnderPressure else { return nil }
        if rest < limits.rest { reusedEarly += 1 }
        forget(place)
        return Grant(place: place, origin: .reused)
    }

    /// Leaves a place without a name; it stays where it is in the order of use.
    mutating func forget(_ place: UInt32) {
        guard !entries[Int(place)].name.isEmpty else { return }
        places[entries[Int(place)].name] = nil
        entries[Int(place)].name = ""
        leaveOwner(of: place)
    }

    /// Notes an answer: the place is the newest, unless flows keep it out of the order.
    mutating func touch(_ place: UInt32, _ now: Instant) {
        guard entries[Int(place)].flows == 0 else { return }
        unlink(place)
        entries[Int(place)].lastUse = now
        link(place)
    }

    /// Lets a name count on the device that asks for it, if that has room; `touch` is to follow.
    ///
    /// Who asks last counts, so a device is not charged for names that only others still use.
    mutating func charge(_ place: UInt32, to device: IPAddress) {
        let current = entries[Int(place)].owner
        if current != UseOrder.none, owners[Int(current)].device == device { return }
        if let owner = ownerOf[device], owners[Int(owner)].count >= limits.namesPerDevice { return }
        leaveOwner(of: place)
        let owner = ownerOf[device] ?? addOwner(device)
        entries[Int(place)].owner = owner
        owners[Int(owner)].count += 1
        if entries[Int(place)].flows == 0 { ownOrder.append(place, to: &owners[Int(owner)].idle) }
    }

    /// Puts a place that has no flow any more at the newest end of its two orders.
    mutating func link(_ place: UInt32) {
        order.append(place, to: &idle)
        let owner = entries[Int(place)].owner
        if owner != UseOrder.none { ownOrder.append(place, to: &owners[Int(owner)].idle) }
    }

    /// Takes a place out of both orders.
    mutating func unlink(_ place: UInt32) {
        order.remove(place, from: &idle)
        let owner = entries[Int(place)].owner
        if owner != UseOrder.none { ownOrder.remove(place, from: &owners[Int(owner)].idle) }
    }

    /// Ends the counting of a place; a device on which nothing counts any more is forgotten.
    private mutating func leaveOwner(of place: UInt32) {
        let owner = entries[Int(place)].owner
        guard owner != UseOrder.none else { return }
        if entries[Int(place)].flows == 0 { ownOrder.remove(place, from: &owners[Int(owner)].idle) }
        entries[Int(place)].owner = UseOrder.none
        owners[Int(owner)].count -= 1
        guard owners[Int(owner)].count == 0 else { return }
        ownerOf[owners[Int(owner)].device] = nil
        vacantOwners.append(owner)
    }

    private mutating func addOwner(_ device: IPAddress) -> UInt32 {
        let owner: UInt32
        if let vacant = vacantOwners.popLast() {
            owner = vacant
            owners[Int(owner)] = Owner(device: device)
        } else {
            owner = UInt32(owners.count)
            owners.append(Owner(device: device))
        }
        ownerOf[device] = owner
        return owner
    }
}
