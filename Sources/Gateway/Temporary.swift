import Bytes
import Flows
import LinuxIO
import Streams
import Wire

extension Worker {
    func sendCookie(_ key: FlowKey, _ syn: TCPSegment) {}
    func openFromCookie(_ key: FlowKey, _ segment: TCPSegment, payload: Span<UInt8>) -> Bool { false }
    func initialSequence(of key: FlowKey) -> SequenceNumber {
        var random = SystemRandom()
        return SequenceNumber(UInt32(truncatingIfNeeded: random.next()))
    }
    func timestampOffset(of key: FlowKey) -> UInt32 { 7 }
}
extension TCPEndpoint {
    mutating func pathMTU(loweredTo: Int, quotedSequence: SequenceNumber, now: Instant) -> Bool { false }
}
