/// Any bytes as SOCKS5 messages: what is read is inside the bytes, and is written as it was read.

import Bytes
import Wire

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let bytes = unsafe [UInt8](UnsafeBufferPointer(start: start, count: count))
    if let (greeting, length) = try? SOCKS5Greeting.parse(bytes.span) {
        precondition(length == 2 + greeting.methods.count && length <= count)
    }
    if let (login, length) = try? SOCKS5Login.parse(bytes.span) {
        precondition(length <= count)
        // Empty parts are read and refused later; they are never written.
        guard !login.user.isEmpty, !login.password.isEmpty else { return 0 }
        var written: [UInt8] = []
        login.write(into: &written)
        precondition(written == Array(bytes[..<length]), "another login")
    }
    if let (message, length) = try? SOCKS5Message.parse(bytes.span) {
        precondition(length <= count && length >= 7)
        var written: [UInt8] = []
        message.write(into: &written)
        guard message.host != nil, let (again, end) = try? SOCKS5Message.parse(written.span) else { return 0 }
        precondition(again == message && end == written.count, "another message")
    }
    return 0
}
