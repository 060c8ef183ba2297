/// What goes to the client: sizes, windows, probes.
import Bytes
import Streams
import Testing
import Wire

@Suite struct SendingTests {
    @Test(
        "no segment is longer than the client and the interface allow (B120)",
        arguments: [
            (mss: 1240, mtu: 1500, family: AddressFamily.ipv4, stamps: true, announced: 1460, size: 1228),
            (mss: 1240, mtu: 9000, family: .ipv4, stamps: true, announced: 8960, size: 1228),
            (mss: 1240, mtu: 1500, family: .ipv4, stamps: false, announced: 1460, size: 1240),
            (mss: 8960, mtu: 1500, family: .ipv6, stamps: false, announced: 1440, size: 1440),
            (mss: 8960, mtu: 1500, family: .ipv6, stamps: true, announced: 1440, size: 1428),
        ])
    func respectsSegmentSize(mss: Int, mtu: Int, family: AddressFamily, stamps: Bool, announced: UInt16, size: Int) {
        var settings = TCPSettings()
        settings.interfaceMTU = mtu
        var options = Conversation.usual
        options.maximumSegmentSize = UInt16(mss)
        if !stamps { options.timestamps = nil }
        var talk = Conversation(options, family: family, settings: settings)
        talk.endpoint.accept()
        let reply = talk.answers()
        #expect(reply[0].segment.options.maximumSegmentSize == announced)
        talk.passes(.milliseconds(1))
        talk.sends(.acknowledge, sequence: 1, acknowledgement: 1)
        var sent = talk.upstreamSends(pattern(100_000))
        var received: [UInt8] = []
        while !sent.isEmpty {
            #expect(sent.flatMap(\.sizes).max() == size || received.count > 90_000)
            for segment in sent { received += segment.bytes }
            talk.passes(.milliseconds(1))
            sent = talk.sends(.acknowledge, sequence: 1, acknowledgement: 1 + received.count)
        }
        #expect(received == pattern(100_000))
    }

    @Test func beginsWithTenSegments() {
        var talk = Conversation.opened()
        let sizes = talk.upstreamSends(pattern(60_000)).flatMap(\.sizes)
        // RFC 6928, section 2: min(10 MSS, max(2 MSS, 14,600)).
        #expect(sizes == [Int](repeating: 1448, count: 10))
    }

    @Test func sendsMTUSizedSegmentsWithoutSegmentationOffload() {
        var talk = Conversation.opened()
        talk.maximumPayload = 0
        let sent = talk.upstreamSends(pattern(10_000))
        #expect(sent.count == 7)
        #expect(sent.allSatisfy { $0.gsoSize == 0 && $0.bytes.count <= 1448 })
    }

    @Test func whatDoesNotFillASuperSegmentWaitsWhileMoreFollowsAndNoLonger() {
        var talk = Conversation.opened()
        talk.queues(pattern(1000))
        #expect(talk.answers(moreFollows: true).isEmpty)
        #expect(talk.answers().map(\.bytes) == [pattern(1000)])
    }

    @Test func smallWritesGoOutAtOnce() {
        var talk = Conversation.opened()
        for index in 0..<5 {
            let sent = talk.upstreamSends(pattern(3, from: 3 * index))
            #expect(sent.count == 1 && sent[0].flags.contains(.push))
        }
    }

    @Test func blocksTakeTheirRoomFromTheSegments() {
        var talk = Conversation.opened()
        talk.sends(.acknowledge, sequence: 501, acknowledgement: 1, pattern(10))
        talk.sends(.acknowledge, sequence: 701, acknowledgement: 1, pattern(10))
        let sent = talk.upstreamSends(pattern(5000))
        for segment in sent {
            let count = segment.segment.options.selectiveAcknowledgements.count
            #expect(segment.sizes.max() == 1460 - 12 - 4 - 8 * count)
        }
        #expect(sent.first?.segment.options.selectiveAcknowledgements.count == 2)
    }

    @Test func sendsNoSillySegments() {
        var talk = Conversation.opened()
        talk.window = 16
        talk.sends(.acknowledge, sequence: 1, acknowledgement: 1, window: 16)
        let first = talk.upstreamSends(pattern(10_000))
        // 16 units of 128 octets are one whole segment; the 600 octets beside it would be silly.
        #expect(first.flatMap(\.sizes) == [1448])
        let none = talk.sends(.acknowledge, sequence: 1, acknowledgement: 1449, window: 4)
        #expect(none.isEmpty)
        let more = talk.sends(.acknowledge, sequence: 1, acknowledgement: 1449, window: 100)
        #expect(more.flatMap(\.sizes).first == 1448)
    }

    @Test("a closed window is probed until it opens, and the probe's answer is enough (B003)")
    func probesAClosedWindow() {
        var talk = Conversation.opened()
        talk.sends([.acknowledge, .push], sequence: 1, acknowledgement: 1, [120])
        let count = 100_000
        var received: [UInt8] = []
        for segment in talk.upstreamSends(pattern(count)) { received += segment.bytes }
        talk.passes(.milliseconds(5))
        let none = talk.sends(.acknowledge, sequence: 2, acknowledgement: 1 + received.count, window: 0)
        #expect(none.isEmpty)
        // The update is lost; the client says nothing by itself.
        let probes = talk.waits(.milliseconds(3000))
        #expect(!probes.isEmpty)
        for probe in probes {
            #expect(probe.bytes == pattern(1, from: received.count))
            #expect(probe.sequence == 1 + received.count)
        }
        // Answered, but closed: the stream stays, however long that takes.
        for _ in 0..<50 {
            talk.sends(.acknowledge, sequence: 2, acknowledgement: 1 + received.count, window: 0)
            let more = talk.waits(.seconds(130))
            #expect(!more.isEmpty && more.allSatisfy { $0.bytes.count == 1 })
        }
        var sent = talk.sends(.acknowledge, sequence: 2, acknowledgement: 1 + received.count, window: 502)
        let resumed = talk.now
        while received.count < count, talk.now - resumed < .seconds(15) {
            for segment in sent {
                let offset = segment.sequence - 1
                guard offset <= received.count, offset + segment.bytes.count > received.count else { continue }
                received += segment.bytes[(received.count - offset)...]
            }
            talk.passes(.milliseconds(5))
            sent = talk.sends(.acknowledge, sequence: 2, acknowledgement: 1 + received.count, window: 502)
            if sent.isEmpty { sent = talk.waits(.milliseconds(50)) }
        }
        #expect(received == pattern(count))
    }

    @Test func aWindowThatIsNeverAnsweredEndsTheStream() {
        var talk = Conversation.opened()
        talk.sends(.acknowledge, sequence: 1, acknowledgement: 1, window: 0)
        talk.upstreamSends(pattern(10))
        let all = talk.waits(.seconds(600))
        let phase = talk.endpoint.phase
        #expect(phase == .closed(.timedOut))
        #expect(all.last?.flags.contains(.reset) == true)
    }

    @Test func asksASilentClientAfterTwoHours() {
        var talk = Conversation.opened()
        let quiet = talk.waits(.seconds(7199))
        #expect(quiet.isEmpty)
        let probe = talk.waits(.seconds(2))
        // RFC 9293, section 3.8.4: the sequence number before the next.
        #expect(probe.count == 1 && probe[0].sequence == 0 && probe[0].bytes.isEmpty)
        talk.sends(.acknowledge, sequence: 1, acknowledgement: 1)
        let again = talk.waits(.seconds(7199))
        #expect(again.isEmpty)
        let probes = talk.waits(.seconds(2 + 75 * 9))
        let phase = talk.endpoint.phase
        #expect(probes.count == 10 && probes.last?.flags.contains(.reset) == true)
        #expect(phase == .closed(.timedOut))
    }

    @Test func wantsAboutTwoCongestionWindowsOfTheUpstream() {
        var talk = Conversation.opened()
        let space = talk.endpoint.sendSpace(pool: talk.pool, settings: talk.settings)
        #expect(space == 64 << 10)
        talk.upstreamSends(pattern(space))
        let full = talk.endpoint.sendSpace(pool: talk.pool, settings: talk.settings)
        #expect(full == 0)
    }

    @Test func theReservedSpaceIsReadIntoDirectly() {
        var talk = Conversation.opened()
        let space = talk.endpoint.reserve(20_000, pool: &talk.pool)
        let bytes = pattern(20_000)
        var done = 0
        for index in 0..<space.runCount {
            let run = space[index]
            talk.pool.withMutableBytes(run) { $0.copy(bytes.span.extracting(done..<done + run.count), at: 0) }
            done += run.count
        }
        talk.endpoint.commit(18_000, of: space, pool: &talk.pool)
        var sent = talk.answers()
        talk.passes(.milliseconds(20))
        sent += talk.sends(.acknowledge, sequence: 1, acknowledgement: 14_481)
        #expect(sent.flatMap(\.bytes) == pattern(18_000))
    }
}
