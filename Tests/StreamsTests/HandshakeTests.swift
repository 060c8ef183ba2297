/// The handshake, from the SYN that waits to the stream that is open (RFC 9293, section 3.5).
import Bytes
import Streams
import Testing
import Wire

@Suite struct HandshakeTests {
    @Test func answersOnlyAfterTheUpstreamAccepts() {
        var talk = Conversation()
        let early = talk.answers()
        #expect(early.isEmpty)
        talk.endpoint.accept()
        let reply = talk.answers()
        #expect(reply.count == 1)
        #expect(reply[0].flags == [.syn, .acknowledge])
        #expect(reply[0].sequence == 0 && reply[0].acknowledgement == 1)
        #expect(reply[0].segment.options.maximumSegmentSize == 1460)
        #expect(reply[0].segment.options.timestamps?.echo == 100)
        talk.sends(.acknowledge, sequence: 1, acknowledgement: 1)
        let phase = talk.endpoint.phase
        #expect(phase == .established)
    }

    @Test func carriesOctetsBothWaysAndCloses() {
        var talk = Conversation.opened()
        let reply = talk.sends([.acknowledge, .push], sequence: 1, acknowledgement: 1, pattern(100))
        #expect(reply.count == 1 && reply[0].acknowledgement == 101)
        let upstream = talk.upstream
        #expect(upstream == pattern(100))
        let down = talk.upstreamSends(pattern(3000))
        #expect(down.count == 1 && down[0].bytes == pattern(3000) && down[0].gsoSize == 1448)
        talk.passes(.milliseconds(20))
        talk.sends(.acknowledge, sequence: 101, acknowledgement: 3001)
        let queued = talk.endpoint.queued
        #expect(queued == 0)
        let last = talk.sends([.acknowledge, .fin], sequence: 101, acknowledgement: 3001)
        #expect(last.count == 1 && last[0].acknowledgement == 102)
        talk.endpoint.finish()
        let fin = talk.answers()
        #expect(fin.count == 1 && fin[0].flags == [.acknowledge, .fin] && fin[0].sequence == 3001)
        talk.sends(.acknowledge, sequence: 102, acknowledgement: 3002)
        let phase = talk.endpoint.phase
        let used = talk.pool.used
        #expect(phase == .closed(.finished))
        #expect(used == 0)
    }
}
