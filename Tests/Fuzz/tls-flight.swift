/// Any bytes as what a server says to our hello: as records, whole and in pieces, and as the messages in records of any
/// size. A name among them comes back from the hello that it is put into.

import Bytes
import Wire

func fuzzTLSFlight(_ input: [UInt8]) {
    guard input.count > 1 else { return }
    let bytes = Array(input.dropFirst())
    let size = Int(input[0]) % 40 + 1
    let whole = look(bytes, by: bytes.count)
    precondition(whole == look(bytes, by: size), "pieces are judged otherwise")
    let messages = look(records(bytes, of: 16384), by: 4096)
    precondition(messages == look(records(bytes, of: size), by: 7), "other records are judged otherwise")
    // The longest ones take long, so few inputs have them.
    if input[0] >= 0xf0, bytes.count >= 64 { repeatWithoutEnd(bytes) }
    checkHello(bytes)
}

/// What is seen in a stream that comes in pieces; how much is quoted of one that is not TLS depends on them.
private func look(_ bytes: [UInt8], by size: Int) -> TLSServerFlight.Outcome? {
    var flight = TLSServerFlight()
    var position = 0
    while position < bytes.count {
        let next = min(bytes.count, position + size)
        if let outcome = flight.receive(bytes.span.extracting(position..<next)) { return checked(outcome) }
        position = next
    }
    return nil
}

private func checked(_ outcome: TLSServerFlight.Outcome) -> TLSServerFlight.Outcome {
    switch outcome {
    case .certificate(let names):
        checkLine(names.issuer)
        checkLine(names.subject)
    case .failure(let words):
        checkLine(words)
        if words.hasPrefix("not TLS: ") { return .failure("not TLS") }
    }
    return outcome
}

private func checkLine(_ text: String) {
    precondition((1...200).contains(text.unicodeScalars.count), "a line of no length, or without end")
    precondition(!text.unicodeScalars.contains { $0.properties.generalCategory == .control }, "a text that is no line")
}

private func records(_ messages: [UInt8], of size: Int) -> [UInt8] {
    stride(from: 0, to: messages.count, by: size).flatMap { start in
        let piece = messages[start..<min(start + size, messages.count)]
        return [22, 3, 3, UInt8(piece.count >> 8), UInt8(piece.count & 0xff)] + piece
    }
}

/// A server that says the same again and again is left after 128 KiB.
private func repeatWithoutEnd(_ bytes: [UInt8]) {
    var flight = TLSServerFlight()
    var total = 0
    while flight.receive(bytes.span) == nil {
        total += bytes.count
        precondition(total <= 131_072, "nobody leaves an endless server")
    }
}

private func checkHello(_ bytes: [UInt8]) {
    guard let host = Host.parse(bytes.span) else { return }
    var hello: [UInt8] = []
    TLSServerFlight.writeHello(to: host, random: (1, 2, 3, 4), into: &hello)
    let name = TLSClientHello.serverName(in: hello.span)
    if case .name(let text) = host {
        precondition(name == .name(text), "another name in the hello")
    } else {
        precondition(name == TLSServerName.none, "a name in the hello to an address")
    }
}
