/// Any bytes as a stream of server-sent events, whole and in pieces: as the standard says, and as they are written
/// again.

import Bytes

@testable import Control

func fuzzEvents(_ input: [UInt8]) {
    guard input.count > 1 else { return }
    let bytes = Array(input.dropFirst())
    let size = Int(input[0]) % 40 + 1
    let whole = read(bytes, by: bytes.count)
    let pieces = read(bytes, by: size)
    precondition(whole.events == pieces.events && whole.last == pieces.last, "pieces are read otherwise")
    let wanted = standard(bytes)
    precondition(whole.events == wanted.events && whole.last == wanted.last, "the standard reads otherwise")
    // One octet that is no UTF-8 becomes three.
    let octets = whole.events.reduce(0) { $0 + $1.data.utf8.count }
    precondition(octets <= 3 * bytes.count, "more than has come")
    let again = read(Array(whole.events.map(text).joined().utf8), by: size)
    precondition(again.events == whole.events, "written and read as others")
}

private func read(_ bytes: [UInt8], by size: Int) -> (events: [ReceivedEvent], last: String) {
    var parser = EventParser()
    var events: [ReceivedEvent] = []
    for start in stride(from: 0, to: bytes.count, by: size) {
        guard let more = try? parser.take(bytes.span.extracting(start..<min(bytes.count, start + size))) else {
            preconditionFailure("refused, and short")
        }
        events += more
    }
    return (events, parser.lastID)
}

/// An event as a server writes it, a field for each line of its data.
private func text(_ event: ReceivedEvent) -> String {
    let lines = event.data.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
    return "event: \(event.name)\n" + lines.map { "data: \(String($0))\n" }.joined() + "\n"
}

/// The stream as WHATWG HTML, section 9.2.6, has it: decoded as a whole, cut into lines, then field by field.
private func standard(_ bytes: [UInt8]) -> (events: [ReceivedEvent], last: String) {
    var text = Array(String(decoding: bytes, as: UTF8.self).unicodeScalars)
    if text.first == "\u{feff}" { text.removeFirst() }
    var events: [ReceivedEvent] = []
    var (type, data, id, last) = ("", [String](), "", "")
    for line in lines(text) {
        guard !line.isEmpty else {
            last = id
            let name = type.isEmpty ? "message" : type
            if !data.isEmpty { events.append(ReceivedEvent(name: name, data: data.joined(separator: "\n"))) }
            (type, data) = ("", [])
            continue
        }
        let field = line.prefix { $0 != ":" }
        var value = line[field.endIndex...].dropFirst()
        if value.first == " " { value = value.dropFirst() }
        switch string(field) {
        case "event": type = string(value)
        case "data": data.append(string(value))
        case "id" where !value.contains("\0"): id = string(value)
        default: break
        }
    }
    return (events, last)
}

/// The lines that have an end, be it CRLF, LF or CR.
private func lines(_ text: [Unicode.Scalar]) -> [ArraySlice<Unicode.Scalar>] {
    var lines: [ArraySlice<Unicode.Scalar>] = []
    var start = 0
    for (place, scalar) in text.enumerated() where scalar == "\n" || scalar == "\r" {
        if scalar == "\n", place > 0, text[place - 1] == "\r" {
            start = place + 1
        } else {
            lines.append(text[start..<place])
            start = place + 1
        }
    }
    return lines
}

private func string(_ scalars: ArraySlice<Unicode.Scalar>) -> String {
    var view = String.UnicodeScalarView()
    view.append(contentsOf: scalars)
    return String(view)
}
