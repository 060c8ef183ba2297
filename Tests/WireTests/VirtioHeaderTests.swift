/// The virtio header: `struct virtio_net_hdr_v1`, little-endian.

import Bytes
import TestSupport
import Testing

@testable import Wire

@Suite struct VirtioHeaderTests {
    @Test func readsASuperPacketsHeader() throws {
        let header = try parseVirtio(hex("0101 4200 b405 2200 1000 0000"))
        #expect(
            header
                == VirtioHeader(
                    checksum: .partial, segmentation: .tcp4, headerLength: 66, segmentSize: 1460, checksumStart: 34,
                    checksumOffset: 16))
        #expect(header.isChecksumTrusted)
    }

    @Test func masksTheECNBit() throws {
        #expect(try parseVirtio(hex("018142000004220010000000")).segmentation == .tcp4)
        #expect(try parseVirtio(hex("018442000004220010000000")).segmentation == .tcp6)
    }

    @Test("trusts NEEDS_CSUM and DATA_VALID and nothing else (B017)")
    func trusts() throws {
        #expect(try parseVirtio(hex("010000000000000000000000")).checksum == .partial)
        #expect(try parseVirtio(hex("020000000000000000000000")).checksum == .verified)
        #expect(try parseVirtio(hex("030000000000000000000000")).checksum == .partial)
        // RSC_INFO alone says nothing about checksums.
        #expect(try !parseVirtio(hex("040000000000000000000000")).isChecksumTrusted)
        #expect(try !parseVirtio(hex("000000000000000000000000")).isChecksumTrusted)
    }

    @Test func refusesOtherSuperPackets() {
        #expect(throws: WireError.unsupported(.segmentation, 3)) {
            try parseVirtio(hex("010342000004220010000000"))
        }
        #expect(throws: WireError.truncated(needed: 12, got: 11)) {
            try parseVirtio([UInt8](repeating: 0, count: 11))
        }
    }

    @Test func writesWhatItReads() throws {
        let bytes = hex("0105 4200 b405 2200 1000 0000")
        var written = [UInt8](repeating: 0xff, count: 12)
        var span = written.mutableSpan
        try parseVirtio(bytes).write(into: &span)
        #expect(written == bytes)
    }
}
