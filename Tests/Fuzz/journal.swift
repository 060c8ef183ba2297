/// Any bytes as a journal, and as the records of one: each is whole by its checksum, in order, and written as it is
/// read.

import Digest

@testable import Store

private let format = JournalFormat(name: "fake-map", version: 1)

func fuzzJournal(_ bytes: [UInt8]) {
    switch format.recognise(bytes) {
    case .known(let headerLength): precondition(Array(bytes[..<headerLength]) == format.header, "another head")
    case .otherVersion(let version):
        precondition(bytes.starts(with: "starship fake-map \(version)\n".utf8) || !version.allSatisfy(\.isASCII))
    case .foreign: precondition(!bytes.starts(with: format.header), "a journal that nobody knows")
    }
    read(bytes)
    // Records of the bytes, each as long as its first octet says, and what is left of them when the end is cut off.
    var batch = JournalBatch()
    var records: [[UInt8]] = []
    var position = 0
    while position < bytes.count {
        let end = min(bytes.count, position + 1 + Int(bytes[position]))
        let record = Array(bytes[position..<end])
        batch.append { $0 += record }
        records.append(record)
        position = end
    }
    precondition(read(batch.bytes) == records, "records that are read otherwise")
    guard let last = records.last else { return }
    let cut = Array(batch.bytes.dropLast(1 + Int(last[0]) % last.count))
    precondition(read(cut) == records.dropLast(), "a record without its end is read")
    // One octet that the disk has changed ends what is believed.
    var broken = batch.bytes
    let place = Int(last[0]) * broken.count / 256
    broken[place] ^= 1
    let believed = read(broken)
    precondition(believed.count < records.count && believed[...] == records.prefix(believed.count), "a broken record")
}

@discardableResult
private func read(_ bytes: [UInt8]) -> [[UInt8]] {
    var records: [[UInt8]] = []
    var position = 0
    while let range = JournalBatch.record(in: bytes.span, at: position) {
        precondition(range.lowerBound > position && range.upperBound <= bytes.count && !range.isEmpty, "outside")
        records.append(Array(bytes[range]))
        position = range.upperBound
    }
    return records
}
