/// Any bytes as what a hand scanner types: lines in any pieces, stickers, links, and addresses that documents are
/// fetched from.

import Bytes
import Profiles

@testable import Commands

func fuzzScan(_ input: [UInt8]) {
    guard input.count > 1 else { return }
    let bytes = Array(input.dropFirst())
    let whole = lines(bytes, by: bytes.count)
    precondition(whole == lines(bytes, by: Int(input[0]) % 40 + 1), "pieces are other lines")
    var session = ScanSession(target: nil)
    for (second, line) in whole.enumerated() {
        let now = Instant(nanoseconds: Int64(second) << 32)
        switch session.take(line, at: now) {
        case .nothing: break
        case .refuse(let words):
            precondition((1...4000).contains(words.utf8.count), "a refusal of no length, or without end")
            precondition(!words.utf8.contains(0x0a), "a refusal that is no line")
        case .sticker(let name):
            guard let sticker = DeviceSticker(name: name) else { preconditionFailure("a name that no device can have") }
            precondition((try? DeviceSticker.parse(sticker.text)) == sticker, "written and read as another sticker")
            session.keep(name, at: now)
        case .apply(let link, _):
            precondition((try? ConfigURL.parse(link, from: .control)) != nil, "what is no link is applied")
        }
    }
    checkAddress(String(decoding: bytes, as: UTF8.self))
}

private func lines(_ bytes: [UInt8], by size: Int) -> [[UInt8]] {
    var cutter = LineCutter()
    var lines: [[UInt8]] = []
    for start in stride(from: 0, to: bytes.count, by: size) {
        lines += cutter.take(Array(bytes[start..<min(bytes.count, start + size)]))
    }
    let last = cutter.finish()
    precondition(lines.allSatisfy { !$0.contains(0x0a) && !$0.contains(0x0d) }, "a line that is several")
    return lines + [last]
}

/// A request for a document is one request.
private func checkAddress(_ text: String) {
    guard let address = try? WebAddress.parse(text) else { return }
    let request = String(decoding: address.request, as: UTF8.self)
    precondition(request.hasPrefix("GET /") && request.hasSuffix("\r\n\r\n"), "no request")
    let heads = request.utf8.split(separator: "\r\n".utf8, omittingEmptySubsequences: false)
    precondition(heads.count == 7, "several requests")
    precondition(!request.utf8.contains { $0 < 0x20 && $0 != 0x0d && $0 != 0x0a }, "octets that no request has")
    precondition(address.port > 0 && !address.shown.contains("?"), "a query is shown")
    let again = try? WebAddress.parse("http://\(address.authority)\(address.target)")
    precondition(again == address, "written and read as another address")
}
