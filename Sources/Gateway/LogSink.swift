/// A worker's lines on their way to standard error: a reader that is behind costs lines, never a packet.

import Bytes
import LinuxIO

struct LogSink {
    /// Lines that are not written yet.
    private var bytes: [UInt8] = []
    /// Lines that the reader was too slow for, since it was last told.
    private var lost = 0
    private let isJournal: Bool

    init(isJournal: Bool) { self.isJournal = isJournal }

    mutating func append(_ line: LogLine) { bytes.append(contentsOf: line.bytes) }

    /// Writes what came since the last time, in pieces of whole lines.
    mutating func flush() {
        guard !bytes.isEmpty else { return }
        if lost > 0 { tellLoss() }
        var start = 0
        while start < bytes.count {
            let end = endOfPiece(from: start)
            if !StandardError.offer(bytes.span.extracting(start..<end)) {
                lost += bytes[start...].count { $0 == UInt8(ascii: "\n") }
                break
            }
            start = end
        }
        bytes.removeAll(keepingCapacity: bytes.capacity <= 64 << 10)
    }

    /// Takes the lines that are not written yet.
    mutating func takeBytes() -> [UInt8] {
        defer { bytes = [] }
        return bytes
    }

    /// The end of the last line that fits into one piece, or of the first one where none does.
    private func endOfPiece(from start: Int) -> Int {
        let limit = start + StandardError.pieceSize
        if bytes.count <= limit { return bytes.count }
        let newline = UInt8(ascii: "\n")
        if let last = bytes[start..<limit].lastIndex(of: newline) { return last + 1 }
        return bytes[limit...].firstIndex(of: newline).map { $0 + 1 } ?? bytes.count
    }

    private mutating func tellLoss() {
        var line = LogLine(.warning, event: "log-lost", journal: isJournal)
        line.add("lines", lost)
        line.finish()
        if StandardError.offer(line.bytes.span) { lost = 0 }
    }
}
