/// What a form says: `application/x-www-form-urlencoded`, read strictly (WHATWG URL, section 5.1).
///
/// Browsers write it in one way, so what they would not write is refused: broken escapes, octets that are not UTF-8,
/// more pairs than any form of ours has.

/// The pairs of a form, in their order.
public struct PageForm: Equatable, Sendable {
    private var pairs: [(name: String, value: String)] = []

    /// The pairs that a form may have: a list of domains to tick is the longest.
    public static let pairLimit = 256

    /// Reads a body.
    public init(parsing body: Span<UInt8>) throws(PageFormError) {
        guard body.count <= PageGuard.bodyLimit else { throw .tooLarge }
        var start = 0
        while start <= body.count {
            var end = start
            while end < body.count, body[end] != UInt8(ascii: "&") { end += 1 }
            if end > start {
                guard pairs.count < Self.pairLimit else { throw .tooManyPairs }
                pairs.append(try Self.pair(body.extracting(start..<end)))
            }
            start = end + 1
        }
    }

    /// The value of a name that stands once or not at all.
    public func value(_ name: String) throws(PageFormError) -> String? {
        let values = list(name)
        guard values.count <= 1 else { throw .repeated(name) }
        return values.first
    }

    /// All values of a name, in their order.
    public func list(_ name: String) -> [String] { pairs.filter { $0.name == name }.map(\.value) }

    public static func == (left: PageForm, right: PageForm) -> Bool {
        left.pairs.elementsEqual(right.pairs) { $0.name == $1.name && $0.value == $1.value }
    }

    private static func pair(_ octets: Span<UInt8>) throws(PageFormError) -> (name: String, value: String) {
        var border = 0
        while border < octets.count, octets[border] != UInt8(ascii: "=") { border += 1 }
        let value = border < octets.count ? border + 1 : border
        return (
            try decoded(octets.extracting(0..<border)), try decoded(octets.extracting(value..<octets.count))
        )
    }

    private static func decoded(_ octets: Span<UInt8>) throws(PageFormError) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(octets.count)
        var index = 0
        while index < octets.count {
            switch octets[index] {
            case UInt8(ascii: "+"): bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                guard index + 2 < octets.count, let high = digit(octets[index + 1]), let low = digit(octets[index + 2])
                else { throw .encoding }
                bytes.append(high << 4 | low)
                index += 2
            case let octet: bytes.append(octet)
            }
            index += 1
        }
        guard let text = String(validating: bytes, as: UTF8.self) else { throw .encoding }
        return text
    }

    private static func digit(_ octet: UInt8) -> UInt8? {
        switch octet {
        case 0x30...0x39: octet - 0x30
        case 0x41...0x46: octet - 0x41 + 10
        case 0x61...0x66: octet - 0x61 + 10
        default: nil
        }
    }
}

/// Why a form can't be read.
public enum PageFormError: Error, Equatable, Sendable {
    case tooLarge
    case tooManyPairs
    /// A `%` without two hexadecimal digits behind it, or octets that are not UTF-8.
    case encoding
    /// A name stands twice that means one thing.
    case repeated(String)
    /// What every such form has is not there.
    case missing(String)
}
