/// Integers and copies in spans.

import Bytes
import TestSupport
import Testing

@Suite struct NetworkOrderTests {
    @Test func readsTheMostSignificantOctetFirst() {
        let bytes = hex("00 0102 03040506 0708090a0b0c0d0e")
        let span = bytes.span
        let short = span.uint16(at: 1)
        let word = span.uint32(at: 3)
        let long = span.uint64(at: 7)
        #expect(short == 0x0102)
        #expect(word == 0x0304_0506)
        #expect(long == 0x0708_090a_0b0c_0d0e)
    }

    @Test func writesWhatItReads() {
        var bytes = [UInt8](repeating: 0xee, count: 16)
        var span = bytes.mutableSpan
        span.store(UInt16(0x0102), at: 1)
        span.store(UInt32(0x0304_0506), at: 3)
        span.store(UInt64(0x0708_090a_0b0c_0d0e), at: 7)
        #expect(bytes == hex("ee 0102 03040506 0708090a0b0c0d0e ee"))
    }

    @Test func copiesBytes() {
        var bytes = [UInt8](repeating: 0, count: 5)
        var span = bytes.mutableSpan
        span.copy([1, 2, 3].span, at: 1)
        let nothing: [UInt8] = []
        span.copy(nothing.span, at: 5)
        #expect(bytes == [0, 1, 2, 3, 0])
        bytes.append(copying: [7, 8].span)
        #expect(bytes == [0, 1, 2, 3, 0, 7, 8])
        let copy = [UInt8](copying: bytes.span.extracting(1..<4))
        #expect(copy == [1, 2, 3])
        let none = [UInt8](copying: bytes.span.extracting(2..<2))
        #expect(none == [])
    }

    /// Whatever comes in pieces is kept so: room for each piece alone would have each of them copy all before it.
    @Test func bytesThatComeOneByOneAreCopiedAFewTimesEach() {
        var bytes: [UInt8] = []
        var rooms: Set<Int> = []
        for index in 0..<100_000 {
            bytes.append(copying: [UInt8(truncatingIfNeeded: index)].span)
            rooms.insert(bytes.capacity)
        }
        #expect(bytes.count == 100_000)
        #expect(rooms.count < 40)
    }

    @Test func trapsOnCopiesThatLeaveTheirDestination() async {
        await #expect(processExitsWith: .failure) {
            var bytes = [UInt8](repeating: 0, count: 5)
            var span = bytes.mutableSpan
            span.copy([1, 2, 3].span, at: 3)
        }
    }
}
