/// # Several devices behind one address
///
/// A router with NAT that a tester has put into the lab shows as one MAC with one address, and whatever is decided for
/// it is decided for all behind it. Two things give them away, both in the SYNs that come from the address:
///
///     TTL     systems start at 64, 128 or 255, and the router takes one off
///     clock   the timestamp option (RFC 7323) counts up evenly, in each device from another start
///
/// Both also change where one device is all there is, so a change alone says nothing. Since Linux 4.10 the clock's
/// start depends on both addresses, in newer kernels also on the ports, and Apple's on the connection: clocks are
/// compared only between SYNs to one destination, and a SYN that is sent again is not counted. A probe of the path has
/// a new TTL for each hop, an address that changes hands changes once. What one device never does is go back and forth:
/// a mark needs two values (or clocks) that were each seen three times, and three returns from one to the other.
///
/// p0f, which looks at the same, takes timestamps as a hint beside others for the same reason ("some systems may be
/// just randomizing that"), and forgets them after a while.

public import Addresses
public import Bytes

/// A SYN as it came from a device.
public struct ObservedSYN: Sendable {
    public var client: SocketAddress
    public var destination: IPAddress
    public var timeToLive: UInt8
    /// TSval; nil where the option is missing.
    public var timestamp: UInt32?
    public var at: Instant

    public init(
        client: SocketAddress, destination: IPAddress, timeToLive: UInt8, timestamp: UInt32?, at: Instant
    ) {
        self.client = client
        self.destination = destination
        self.timeToLive = timeToLive
        self.timestamp = timestamp
        self.at = at
    }
}

/// Why several devices are taken to be behind an address.
public enum SharingMark: Equatable, Sendable, CustomStringConvertible {
    /// These took turns.
    case timesToLive([UInt8])
    /// So many took turns on the way to one destination.
    case clocks(Int, destination: IPAddress)

    public var description: String {
        switch self {
        case .timesToLive(let values):
            "several devices behind it: SYNs with TTL \(values.map(String.init).joined(separator: " and ")) take turns"
        case .clocks(let count, let destination):
            "several devices behind it: \(count) TCP clocks take turns on the way to \(destination)"
        }
    }
}

/// Watches the SYNs of all addresses.
public struct SharedAddresses: Sendable {
    /// The most addresses that are watched; those that were silent for the longest time give way.
    public static let capacity = 4096

    /// How long a mark stands after it was last seen to be true.
    static let memory = Interval.hours(1)

    fileprivate struct Watch: Sendable {
        var last: Instant
        var timesToLive = Turns<UInt8>(window: .seconds(600))
        var destinations: [ClockWatch] = []
        var marks: [(mark: SharingMark, at: Instant)] = []
    }

    private var watches: [IPAddress: Watch] = [:]

    public init() {}

    /// How many addresses are watched.
    var count: Int { watches.count }

    /// Takes a SYN into account.
    public mutating func observe(_ syn: ObservedSYN) {
        if watches[syn.client.address] == nil, watches.count >= Self.capacity { dropOldest() }
        var watch = watches.removeValue(forKey: syn.client.address) ?? Watch(last: syn.at)
        watch.take(syn)
        watches[syn.client.address] = watch
    }

    /// The marks of an address; none for most.
    public func marks(of address: IPAddress, at now: Instant) -> [SharingMark] {
        watches[address]?.marks.filter { now - $0.at < Self.memory }.map(\.mark) ?? []
    }

    /// Makes room for a good many, so that a flood does not sort at each packet.
    private mutating func dropOldest() {
        let oldest = watches.sorted { $0.value.last < $1.value.last }.prefix(Self.capacity / 8)
        for (address, _) in oldest { watches[address] = nil }
    }
}

extension SharedAddresses.Watch {
    /// The most destinations whose clocks are compared at a time.
    private static let destinationLimit = 8
    /// Below this no system starts: it is a probe of the path (traceroute goes up to 30).
    private static let lowestTimeToLive: UInt8 = 31

    fileprivate mutating func take(_ syn: ObservedSYN) {
        last = syn.at
        let index = destinations.firstIndex { $0.destination == syn.destination }
        var clocks = index.map { destinations.remove(at: $0) } ?? ClockWatch(destination: syn.destination)
        let isNew = clocks.isNew(port: syn.client.port, at: syn.at)
        if isNew, let timestamp = syn.timestamp { clocks.take(timestamp, at: syn.at) }
        // The one that was asked for last stands last.
        destinations.append(clocks)
        if destinations.count > Self.destinationLimit { destinations.removeFirst() }
        guard isNew else { return }
        if clocks.turns.takingTurns.count > 1 {
            set(.clocks(clocks.turns.takingTurns.count, destination: syn.destination), at: syn.at)
        }
        guard syn.timeToLive >= Self.lowestTimeToLive else { return }
        timesToLive.note(syn.timeToLive, at: syn.at) { $0 == syn.timeToLive }
        let values = timesToLive.takingTurns
        if values.count > 1 { set(.timesToLive(values.sorted()), at: syn.at) }
    }

    /// Puts a mark in the place of the former one of its kind.
    private mutating func set(_ mark: SharingMark, at now: Instant) {
        marks.removeAll { former in
            switch (former.mark, mark) {
            case (.timesToLive, .timesToLive), (.clocks, .clocks): true
            case (.timesToLive, .clocks), (.clocks, .timesToLive): false
            }
        }
        marks.append((mark, now))
    }
}

/// The clocks that were seen on the way to one destination.
private struct ClockWatch: Sendable {
    struct Clock: Sendable {
        var value: UInt32
        var at: Instant
    }

    let destination: IPAddress
    var turns = Turns<Clock>(window: .seconds(60))
    /// Ports of SYNs that were counted.
    private var ports: [(port: UInt16, at: Instant)] = []

    init(destination: IPAddress) { self.destination = destination }

    /// Whether a SYN is the first one of its connection.
    mutating func isNew(port: UInt16, at now: Instant) -> Bool {
        ports.removeAll { now - $0.at > turns.window }
        guard !ports.contains(where: { $0.port == port }) else { return false }
        ports.append((port, now))
        if ports.count > 64 { ports.removeFirst() }
        return true
    }

    /// RFC 7323 lets a clock tick between once a second and a thousand times, and SYNs overtake each other.
    mutating func take(_ value: UInt32, at now: Instant) {
        turns.note(Clock(value: value, at: now), at: now) { former in
            let passed = Int64(Int32(bitPattern: value &- former.value))
            let most = (now - former.at).milliseconds
            return passed >= -200 && passed <= most + most / 10 + 200
        }
    }
}

/// Things that take turns: each with how often it was seen, and how often it came back after another one.
private struct Turns<Thing: Sendable>: Sendable {
    private struct Entry: Sendable {
        var thing: Thing
        var count = 0
        var returns = 0
        var last: Instant
    }

    /// After so long without it a thing is forgotten.
    let window: Interval

    /// The one that was seen last stands last.
    private var entries: [Entry] = []

    init(window: Interval) { self.window = window }

    /// Notes a thing that is the same as a former one or new.
    mutating func note(_ thing: Thing, at now: Instant, isSame: (Thing) -> Bool) {
        entries.removeAll { now - $0.last > window }
        let index = entries.lastIndex { isSame($0.thing) }
        let isReturn = index.map { $0 != entries.count - 1 } ?? false
        var entry = index.map { entries.remove(at: $0) } ?? Entry(thing: thing, last: now)
        entry.thing = thing
        entry.count += 1
        entry.returns += isReturn ? 1 : 0
        entry.last = now
        entries.append(entry)
        if entries.count > 6 { entries.removeFirst() }
    }

    /// Those that have come and gone often enough; fewer than two mean nothing.
    var takingTurns: [Thing] {
        let steady = entries.filter { $0.count >= 3 && $0.returns >= 1 }
        return steady.reduce(0) { $0 + $1.returns } >= 3 ? steady.map(\.thing) : []
    }
}
