/// Addresses behind which several devices hide, and the many that only look so.

import Addresses
import Bytes
import TestSupport
import Testing

@testable import Devices

/// SYNs of one address, as they come in.
private struct Stream {
    var watch = SharedAddresses()
    var now = Instant(nanoseconds: 1_000_000_000_000)
    private var port: UInt16 = 40_000

    static let client = address("10.9.0.23")
    static let server = address("203.0.113.9")

    /// A SYN, after a pause, of a device whose clock has started at this number.
    mutating func syn(
        _ start: UInt32?, rate: Int64 = 1000, late: UInt32 = 0, timeToLive: UInt8 = 64,
        to destination: IPAddress = server, port: UInt16? = nil, after pause: Interval = .milliseconds(500)
    ) {
        now = now + pause
        self.port += port == nil ? 1 : 0
        watch.observe(
            ObservedSYN(
                client: SocketAddress(Self.client, port ?? self.port), destination: destination,
                timeToLive: timeToLive, timestamp: start.map { clock(from: $0, rate: rate) &- late }, at: now))
    }

    /// What a clock of so many ticks a second shows now.
    func clock(from start: UInt32, rate: Int64) -> UInt32 {
        start &+ UInt32(truncatingIfNeeded: now.nanoseconds / 1_000_000 * rate / 1000)
    }

    var marks: [String] { watch.marks(of: Self.client, at: now).map { "\($0)" } }
}

@Suite struct SharedAddressTests {
    private static let clocks = ["several devices behind it: 2 TCP clocks take turns on the way to 203.0.113.9"]
    private static let timesToLive = ["several devices behind it: SYNs with TTL 63 and 127 take turns"]

    @Test("two clocks that take turns are two devices")
    func twoClocks() {
        var stream = Stream()
        for round in 0..<3 {
            #expect(stream.marks.isEmpty, "round \(round)")
            stream.syn(5)
            stream.syn(0x8000_0000, rate: 100)
        }
        #expect(stream.marks == Self.clocks)
        // It is told for an hour after the last sign.
        stream.now = stream.now + .seconds(3599)
        #expect(stream.marks == Self.clocks)
        stream.now = stream.now + .seconds(2)
        #expect(stream.marks.isEmpty)
    }

    @Test("a clock that wraps around goes on (RFC 7323, section 5.4)")
    func wrapping() {
        var stream = Stream()
        let start = UInt32.max &- stream.clock(from: 0, rate: 1000) &- 3000
        for _ in 0..<20 { stream.syn(start) }
        #expect(stream.marks.isEmpty)
    }

    @Test("clocks of any rate, and SYNs that overtake each other, are one device")
    func oneClock() {
        for rate in [10, 100, 250, 1000] as [Int64] {
            var stream = Stream()
            for round in 0..<40 {
                let late: UInt32 = round % 3 == 0 ? 40 : 0
                stream.syn(77, rate: rate, late: late, after: .milliseconds(round % 2 == 0 ? 5 : 20_000))
            }
            #expect(stream.marks.isEmpty, "\(rate) Hz")
        }
    }

    @Test("a clock for each destination is what Linux does since 4.10")
    func perDestination() {
        var stream = Stream()
        for round in 0..<60 {
            let host = UInt32(round % 3)
            stream.syn(host &* 0x5555_0000, to: IPAddress(v4: 0xcb00_7100 + host))
        }
        #expect(stream.marks.isEmpty)
    }

    @Test("a clock for each connection is what Apple does, and Linux of late", arguments: LongRun.seeds(20, long: 500))
    func perConnection(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var stream = Stream()
        for _ in 0..<200 {
            let start = UInt32(truncatingIfNeeded: random.next())
            let port = UInt16(random.number(1024..<65_536))
            // Each SYN is sent up to four times, with the clock of its connection.
            for copy in 0..<random.number(1..<5) {
                stream.syn(start, port: port, after: .milliseconds(copy == 0 ? 30 : 1000))
            }
        }
        #expect(stream.marks.isEmpty, "seed \(seed)")
    }

    @Test("connections that open side by side, each SYN sent again and again, are no devices")
    func sideBySide() {
        var stream = Stream()
        for _ in 0..<5 {
            stream.syn(1, port: 50_001)
            stream.syn(0x9000_0000, port: 50_002)
        }
        #expect(stream.marks.isEmpty)
    }

    @Test("a device that starts anew, or another one that gets its address, changes once")
    func changeOfHands() {
        var stream = Stream()
        for _ in 0..<10 { stream.syn(1, timeToLive: 64) }
        for _ in 0..<10 { stream.syn(0x9000_0000, timeToLive: 128) }
        #expect(stream.marks.isEmpty)
    }

    @Test("clocks more than a minute apart are not compared")
    func farApart() {
        var stream = Stream()
        for _ in 0..<10 {
            stream.syn(1, after: .seconds(61))
            stream.syn(0x9000_0000, after: .seconds(61))
        }
        #expect(stream.marks.isEmpty)
    }

    @Test("two TTLs that take turns are two devices")
    func twoTimesToLive() {
        var stream = Stream()
        for _ in 0..<3 {
            #expect(stream.marks.isEmpty)
            stream.syn(nil, timeToLive: 63, to: address("203.0.113.1"))
            stream.syn(nil, timeToLive: 127, to: address("203.0.113.2"))
        }
        #expect(stream.marks == Self.timesToLive)
    }

    @Test("a probe of the path, with its TTL from 1 up, marks nobody")
    func traceroute() {
        var stream = Stream()
        for hop in 1...40 as ClosedRange<UInt8> {
            for _ in 0..<3 { stream.syn(nil, timeToLive: hop, after: .milliseconds(10)) }
            stream.syn(nil, timeToLive: 64)
        }
        #expect(stream.marks.isEmpty)
    }

    @Test("nobody is marked for another's SYNs, and a flood of addresses stays bounded")
    func bounded() {
        var stream = Stream()
        for number in 0..<6000 as Range<UInt32> {
            stream.watch.observe(
                ObservedSYN(
                    client: SocketAddress(IPAddress(v4: 0x0a00_0000 + number), 1), destination: Stream.server,
                    timeToLive: number % 2 == 0 ? 64 : 128, timestamp: number &* 0x1234_5678, at: stream.now))
        }
        #expect(stream.watch.count <= SharedAddresses.capacity)
        #expect(stream.watch.marks(of: IPAddress(v4: 0x0a00_0000 + 5999), at: stream.now).isEmpty)
        for round in 0..<300 as Range<UInt32> { stream.syn(round, to: IPAddress(v4: round)) }
        #expect(stream.watch.count <= SharedAddresses.capacity)
    }
}
