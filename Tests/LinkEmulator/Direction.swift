/// One direction of the link: from a device's queue, through the impairments, into the other device.

import Bytes
import LinuxIO

/// What happened to the packets of one direction.
struct Counters {
    var received = 0
    var delivered = 0
    var deliveredBytes = 0
    var lost = 0
    var duplicated = 0
    var corrupted = 0
    var reordered = 0
    /// Dropped because the link was full.
    var overflowed = 0
    /// Not taken by the far device.
    var refused = 0

    var json: String {
        """
        {"received":\(received),"delivered":\(delivered),"deliveredBytes":\(deliveredBytes),"lost":\(lost),\
        "duplicated":\(duplicated),"corrupted":\(corrupted),"reordered":\(reordered),"overflowed":\(overflowed),\
        "refused":\(refused)}
        """
    }
}

struct Direction: ~Copyable {
    private let impairment: Impairment
    private let isTap: Bool
    private var random: SeededRandom
    private var line = DelayLine()
    /// When the wire has taken the last packet; where no rate is set, when the last one was sent.
    private var wireFree = Instant(nanoseconds: 0)
    /// When the last packet that was not held back arrives: jitter never lets one overtake.
    private var lastDue = Instant(nanoseconds: 0)
    private(set) var counters = Counters()

    init(_ impairment: Impairment, isTap: Bool, seed: UInt64) {
        self.impairment = impairment
        self.isTap = isTap
        random = SeededRandom(seed: seed)
    }

    var nextDue: Instant { line.nextDue }

    /// Takes a packet that has come out of the near device.
    mutating func receive(_ buffer: inout PacketBuffer, count: Int, now: Instant) {
        counters.received += 1
        let fate = Fate(impairment, &random)
        if fate.isLost {
            counters.lost += 1
            return
        }
        var packet = [UInt8](copying: buffer.storage.span.extracting(0..<count))
        if let corruption = fate.corruption { flip(corruption, &packet) }
        send(packet.span, fate, now)
        if fate.isDuplicated {
            counters.duplicated += 1
            send(packet.span, fate, now)
        }
    }

    /// Gives the far device what is due, and says whether the device is still there.
    mutating func deliver(to queue: borrowing TunnelQueue, now: Instant) -> Bool {
        var isThere = true
        while line.nextDue <= now, isThere {
            // The closure borrows the line alone, so the counters are changed behind it.
            var outcome = TunnelWrite.full
            var size = 0
            line.deliverFirst { packet in
                size = packet.count
                outcome = queue.write(packet)
            }
            switch outcome {
            case .written:
                counters.delivered += 1
                counters.deliveredBytes += size
            case .full, .refused: counters.refused += 1
            case .gone: isThere = false
            }
        }
        return isThere
    }

    private mutating func send(_ packet: Span<UInt8>, _ fate: Fate, _ now: Instant) {
        guard line.count < impairment.limit else {
            counters.overflowed += 1
            return
        }
        let onWire = Int64(Double(packet.count) * impairment.nanosecondsPerOctet)
        wireFree = max(wireFree, now) + .nanoseconds(onWire)
        var due = max(lastDue, wireFree + .nanoseconds(impairment.delay + fate.jitter))
        if let hold = fate.hold {
            counters.reordered += 1
            due = due + .nanoseconds(hold)
        } else {
            lastDue = due
        }
        line.add(packet, due: due)
    }

    /// Flips one bit of what checksums cover, or of the whole packet; frames without IP are left alone.
    private mutating func flip(_ share: Double, _ packet: inout [UInt8]) {
        let start = isTap ? 14 : 0
        guard packet.count > start else { return }
        var first = start
        switch packet[start] >> 4 {
        case _ where isTap && !Self.carriesIP(packet): return
        case 4: first += impairment.corruptsAnywhere ? 0 : Int(packet[start] & 0x0f) * 4
        case 6: first += impairment.corruptsAnywhere ? 0 : 40
        default: return
        }
        guard packet.count > first else { return }
        let bit = Int(share * Double((packet.count - first) * 8))
        packet[first + bit / 8] ^= 1 << UInt8(bit % 8)
        counters.corrupted += 1
    }

    private static func carriesIP(_ frame: [UInt8]) -> Bool {
        let type = frame.span.uint16(at: 12)
        return type == 0x0800 || type == 0x86dd
    }
}
