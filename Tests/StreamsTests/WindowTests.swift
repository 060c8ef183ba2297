/// The window that the client gets: it says what can be stored, and its edge never moves back.
import Bytes
import Streams
import Testing
import Wire

@Suite struct WindowTests {
    /// The edge that a segment tells, with the shift of the handshake.
    private static func edge(_ sent: Sent) -> Int { sent.acknowledgement + Int(sent.segment.window) << 7 }

    @Test func aSlowUpstreamClosesTheWindowAndOpensItAgain() {
        var settings = TCPSettings()
        settings.initialReceiveAllowance = 64 << 10
        settings.receiveAllowance = 64 << 10
        var talk = Conversation.opened(settings: settings)
        talk.appetite = 0
        var place = 1
        var edges: [Int] = []
        while true {
            let reply = talk.sends(.acknowledge, sequence: place, acknowledgement: 1, pattern(1448, from: place - 1))
            guard let last = reply.last else { continue }
            edges.append(last.acknowledgement + Int(last.segment.window) << 1)
            place = last.acknowledgement
            if last.segment.window == 0 || edges.count > 200 { break }
        }
        #expect(edges == edges.sorted())
        #expect(edges.last == edges.first)
        // A closed window: octets are not taken, and that is said at once.
        let refused = talk.sends(.acknowledge, sequence: place, acknowledgement: 1, [1])
        #expect(refused.count == 1 && refused[0].acknowledgement == place && refused[0].segment.window == 0)
        let none = talk.upstreamReads(100)
        #expect(none.isEmpty)
        let update = talk.upstreamReads(40_000)
        #expect(update.count == 1 && update[0].segment.window > 0)
        let upstream = talk.upstream
        #expect(upstream == pattern(40_100))
    }

    @Test func promisesWhatThePoolHasLeft() {
        var talk = Conversation.opened(budget: 256 << 10)
        let before = talk.sendsAndWaits(.acknowledge, sequence: 1, acknowledgement: 1, pattern(10))
        #expect(Self.edge(before[0]) - 11 <= 256 << 10)
        while talk.pool.available > 4 * BufferPool.chunkSize { _ = talk.pool.take() }
        talk.appetite = 0
        var place = 11
        for _ in 0..<400 {
            let reply = talk.sends(.acknowledge, sequence: place, acknowledgement: 1, pattern(1448, from: place - 1))
            if let last = reply.last {
                if last.acknowledgement == place { break }
                place = last.acknowledgement
            }
        }
        let unread = talk.endpoint.unread
        #expect(unread > 0 && unread <= 4 * BufferPool.chunkSize)
    }

    @Test func growsWithWhatTheUpstreamTakes() {
        var talk = Conversation.opened()
        var place = 1
        var largest = 0
        for _ in 0..<40 {
            for _ in 0..<20 {
                for sent in talk.sends(.acknowledge, sequence: place, acknowledgement: 1, pattern(12_000)) {
                    largest = max(largest, Int(sent.segment.window) << 7)
                }
                place += 12_000
            }
            talk.passes(.milliseconds(20))
        }
        #expect(largest > 1 << 20)
        #expect(largest <= 4 << 20)
    }

    @Test func doesNotGrowForAnUpstreamThatIsBehind() {
        var talk = Conversation.opened()
        talk.appetite = 1000
        var place = 1
        var largest = 0
        for _ in 0..<40 {
            for _ in 0..<20 {
                var answers = talk.sends(.acknowledge, sequence: place, acknowledgement: 1, pattern(12_000))
                answers += talk.upstreamReads(12_000)
                for sent in answers { largest = max(largest, Int(sent.segment.window) << 7) }
                place += 12_000
            }
            talk.passes(.milliseconds(20))
        }
        // What it began with: a larger window would only wait here.
        #expect(largest <= TCPSettings().initialReceiveAllowance + (1 << 7))
    }

    @Test func withoutTheOptionTheFieldIsTheWindow() {
        var talk = Conversation.opened(TCPOptions(maximumSegmentSize: 1460))
        let reply = talk.sends(.acknowledge, sequence: 1, acknowledgement: 1, pattern(3000))
        #expect(reply[0].segment.window == 65_535)
    }
}
