/// Bytes as hexadecimal text, for packets in tests.

/// The bytes of hexadecimal text; blanks and line ends are passed over.
public func hex(_ text: String) -> [UInt8] {
    let digits = text.filter { !$0.isWhitespace }
    precondition(digits.count % 2 == 0, "half an octet")
    var bytes: [UInt8] = []
    var index = digits.startIndex
    while index < digits.endIndex {
        let next = digits.index(index, offsetBy: 2)
        guard let octet = UInt8(digits[index..<next], radix: 16) else { preconditionFailure("no hexadecimal digit") }
        bytes.append(octet)
        index = next
    }
    return bytes
}
