/// Any bytes as a packet filter, behind its first line any packet: the filter is made or refused in one line, and no
/// packet passes both it and its opposite.

import Capture

func fuzzCaptureFilter(_ bytes: [UInt8]) {
    let end = bytes.firstIndex(of: 0x0a) ?? bytes.endIndex
    let text = String(decoding: bytes[..<min(end, 4096)], as: UTF8.self)
    let packet = Array(bytes[end...].dropFirst())
    do throws(CaptureError) {
        let filter = try CaptureFilter(text)
        for length in [0, packet.count / 2, packet.count] {
            let piece = packet.span.extracting(0..<length)
            let passes = filter.passes(piece)
            precondition(passes == filter.passes(piece), "a packet that passes now and then")
            // With brackets of its own the text is perhaps not one operand.
            guard passes, !text.isEmpty, !text.contains("("), let opposite = try? CaptureFilter("not (\(text))") else {
                continue
            }
            precondition(!opposite.passes(piece), "a packet that passes a filter and its opposite")
        }
    } catch {
        let words = "\(error)"
        precondition(!words.isEmpty && words.utf8.count < 4096, "a refusal of no length, or without end")
    }
}
