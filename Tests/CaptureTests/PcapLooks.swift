/// Raw looks at pcap files.

extension [UInt8] {
    /// Four octets in the order of a little-endian machine, as the pcap files of this one have them.
    func word(at offset: Int) -> UInt32 {
        (0..<4).reduce(0) { $0 | UInt32(self[offset + $1]) << UInt32(8 * $1) }
    }

    /// The included and the original length of each record (draft-ietf-opsawg-pcap, section 5).
    var recordLengths: [[Int]] {
        var lengths: [[Int]] = []
        var offset = 24
        while offset + 16 <= count {
            lengths.append([Int(word(at: offset + 8)), Int(word(at: offset + 12))])
            offset += 16 + Int(word(at: offset + 8))
        }
        return lengths
    }
}
