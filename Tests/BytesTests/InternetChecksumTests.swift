/// The Internet checksum against RFC 1071 and a plain 16-bit loop.

import Bytes
import TestSupport
import Testing

@Suite struct InternetChecksumTests {
    @Test func sumsTheExampleOfRFC1071() {
        // RFC 1071, section 3: 0001 f203 f4f5 f6f7 adds up to ddf2.
        var checksum = InternetChecksum()
        checksum.add(hex("0001f203f4f5f6f7").span)
        #expect(checksum.partial == 0xddf2)
        #expect(checksum.value == ~0xddf2)
    }

    @Test func ofNothingIsAllOnes() {
        #expect(InternetChecksum().value == 0xffff)
        #expect(InternetChecksum().partial == 0)
    }

    @Test("agrees with a plain loop for any bytes in any pieces")
    func agreesWithAPlainLoop() {
        var random = SeededGenerator(seed: 1)
        for round in 0..<2000 {
            let bytes = random.bytes(random.number(0..<200))
            var checksum = InternetChecksum()
            var start = 0
            while start < bytes.count {
                let end = min(bytes.count, start + random.number(1..<70))
                let piece = bytes.span.extracting(start..<end)
                if start % 2 == 0 { checksum.add(piece) } else { checksum.addAtOddOffset(piece) }
                start = end
            }
            #expect(checksum.value == plain(bytes), "round \(round)")
        }
    }

    @Test func addsWordsAsTheyStandInAPacket() {
        var words = InternetChecksum()
        words.add(UInt16(0x1234))
        words.add(UInt32(0x5678_9abc))
        words.add(UInt64(0xdef0_1122_3344_5566))
        #expect(words.value == plain(hex("1234 56789abc def0112233445566")))
    }

    @Test func addsOtherSums() {
        var first = InternetChecksum()
        first.add(hex("ffff ff01").span)
        var second = InternetChecksum()
        second.add(hex("0203 05").span)
        first.add(second)
        #expect(first.value == plain(hex("ffff ff01 0203 05")))
    }

    @Test func doesNotOverflow() {
        let bytes = [UInt8](repeating: 0xff, count: 65535)
        var checksum = InternetChecksum()
        checksum.add(bytes.span)
        #expect(checksum.value == plain(bytes))
    }

    @Test("sums runs of a pool whose lengths are odd")
    func sumsRuns() {
        var random = SeededGenerator(seed: 2)
        var pool = BufferPool(budget: 10 * BufferPool.chunkSize)
        for round in 0..<50 {
            var queue = ByteQueue()
            let bytes = random.bytes(random.number(1..<60000))
            let dropped = random.number(0..<bytes.count)
            let stored1 = queue.append(bytes.span, in: &pool)
            #expect(stored1 == bytes.count)
            queue.removeFirst(dropped, in: &pool)
            var checksum = InternetChecksum()
            checksum.add(queue.runs(from: 0, count: queue.count, in: pool), of: pool)
            #expect(checksum.value == plain(Array(bytes[dropped...])), "round \(round)")
            queue.removeAll(in: &pool)
        }
    }

    private func plain(_ bytes: [UInt8]) -> UInt16 {
        var sum: UInt32 = 0
        for index in stride(from: 0, to: bytes.count, by: 2) {
            sum += UInt32(bytes[index]) << 8 | (index + 1 < bytes.count ? UInt32(bytes[index + 1]) : 0)
            if sum > 0xffff { sum -= 0xffff }
        }
        return ~UInt16(sum)
    }
}
