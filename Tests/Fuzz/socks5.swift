/// Any bytes as SOCKS5 messages: what is read is inside the bytes, and is written as it was read.

import Bytes
import Wire

func fuzzSOCKS5(_ bytes: [UInt8]) {
    if let (greeting, length) = try? SOCKS5Greeting.parse(bytes.span) {
        precondition(length == 2 + greeting.methods.count && length <= bytes.count)
        checkBeginnings(bytes, length) { (octets) throws(SOCKS5Error) in try SOCKS5Greeting.parse(octets) == nil }
    }
    if let (login, length) = try? SOCKS5Login.parse(bytes.span) {
        precondition(length <= bytes.count)
        checkBeginnings(bytes, length) { (octets) throws(SOCKS5Error) in try SOCKS5Login.parse(octets) == nil }
        // Empty parts are read and refused later; they are never written.
        guard !login.user.isEmpty, !login.password.isEmpty else { return }
        var written: [UInt8] = []
        login.write(into: &written)
        precondition(written == Array(bytes[..<length]), "another login")
    }
    if let (message, length) = try? SOCKS5Message.parse(bytes.span) {
        precondition(length <= bytes.count && length >= 7)
        checkBeginnings(bytes, length) { (octets) throws(SOCKS5Error) in try SOCKS5Message.parse(octets) == nil }
        var written: [UInt8] = []
        message.write(into: &written)
        guard message.host != nil, let (again, end) = try? SOCKS5Message.parse(written.span) else { return }
        precondition(again == message && end == written.count, "another message")
    }
}

/// Whatever pieces a message comes in, there is none before its last octet, and no error.
private func checkBeginnings(_ bytes: [UInt8], _ length: Int, _ needsMore: (Span<UInt8>) throws(SOCKS5Error) -> Bool) {
    for end in 0..<length {
        precondition((try? needsMore(bytes.span.extracting(0..<end))) == true, "a beginning is taken for the whole")
    }
}
