/// A packet that the gateway wrote, as the device sees it.

import Addresses
import Bytes
import LinuxIO
import Testing
import Wire

struct Seen {
    /// Which queue it came from.
    let queue: Int
    let bytes: [UInt8]
    let ip: IPPacket
    let tcp: TCPHeader?
    /// How the kernel would cut it; 0 for a segment as it is.
    let gsoSize: Int

    /// Reads a packet; its sums must be right, or with a virtio header as the kernel wants them to finish them.
    init(_ message: [UInt8], hasVirtioHeader: Bool, queue: Int) throws {
        self.queue = queue
        var packet = message
        gsoSize = hasVirtioHeader ? try Self.finish(&packet) : 0
        let ip = try IPPacket.parse(packet.span)
        self.ip = ip
        tcp = ip.transport == .tcp ? try TCPHeader.parse(packet.span, of: ip) : nil
        bytes = packet
        // A fragment's own sum covers its header alone.
        if ip.fragment == nil { #expect(sumsAreRight(packet), "a wrong checksum leaves the gateway") }
    }

    var segment: TCPSegment? { tcp?.segment }

    var payload: [UInt8] { tcp.map { Array(bytes[$0.payload]) } ?? [] }

    /// Does the kernel's part of the virtio contract (virtio 1.2, section 5.1.6.2).
    ///
    /// It takes the header off, completes the checksum whose place holds the pseudo-header's sum, and returns the
    /// size of the pieces.
    private static func finish(_ message: inout [UInt8]) throws -> Int {
        func word(_ offset: Int) -> Int { Int(message[offset]) | Int(message[offset + 1]) << 8 }
        let header = (flags: message[0], type: message[1], size: word(4), start: word(6), offset: word(8))
        message.removeFirst(12)
        guard header.flags & 1 == 1 else { return 0 }
        let place = header.start + header.offset
        let field = UInt16(message[place]) << 8 | UInt16(message[place + 1])
        let expected = onesComplementSum(pseudoHeader(of: message, transportLength: message.count - header.start))
        #expect(field == expected, "the checksum field must hold the pseudo-header's sum")
        let sum = ~onesComplementSum(message[header.start...])
        message[place] = UInt8(sum >> 8)
        message[place + 1] = UInt8(truncatingIfNeeded: sum)
        #expect((header.type == 0) == (header.size == 0), "a size without segmentation, or the other way round")
        return header.size
    }
}
