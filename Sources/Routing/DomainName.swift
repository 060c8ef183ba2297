/// Host names in the one form in which they are compared (RFC 1034, section 3.1; RFC 4343; RFC 5891).

/// Why a text is no host name.
public enum DomainNameError: Error, Equatable, Sendable, CustomStringConvertible {
    case empty
    /// Two dots in a row, or a dot in front.
    case emptyLabel
    /// More than 63 octets between two dots (RFC 1035, section 2.3.4).
    case labelTooLong
    /// More than 253 octets, which are 255 on the wire.
    case nameTooLong
    /// A character that stands in no host name.
    case character(Unicode.Scalar)

    public var description: String {
        switch self {
        case .empty: "an empty name"
        case .emptyLabel: "an empty label"
        case .labelTooLong: "a label of more than 63 octets"
        case .nameTooLong: "a name of more than 253 octets"
        case .character(let scalar) where scalar.visible == String(scalar) && scalar != " ":
            "the character \(scalar) (\(scalar.codePoint))"
        case .character(let scalar): "the character \(scalar.codePoint)"
        }
    }
}

public enum DomainName {
    static let maximumLength = 253
    static let maximumLabelLength = 63

    /// The name in lower case, with A-labels for what is not ASCII, without the root's dot.
    ///
    /// Letters, digits, hyphens and underscores make a label, in any order: `_dmarc` and `r3---sn` exist. What begins
    /// with `xn--` is text like any other and never decoded, so a broken one harms nothing.
    public static func normalise(_ text: String) throws(DomainNameError) -> String {
        var name: [UInt8] = []
        try append(Array(text.utf8)[...], to: &name)
        return String(decoding: name, as: UTF8.self)
    }

    /// Appends the name in its normal form; after an error `output` is as it was.
    static func append(_ text: ArraySlice<UInt8>, to output: inout [UInt8]) throws(DomainNameError) {
        let start = output.count
        do throws(DomainNameError) {
            if text.allSatisfy({ $0 < 0x80 }) {
                try appendASCII(text, to: &output)
            } else {
                try appendASCII(try asciiForm(text)[...], to: &output)
            }
        } catch {
            output.removeLast(output.count - start)
            throw error
        }
    }

    private static func appendASCII(_ text: ArraySlice<UInt8>, to output: inout [UInt8]) throws(DomainNameError) {
        let text = text.last == dot ? text.dropLast() : text
        guard !text.isEmpty else { throw .empty }
        var label = 0
        for octet in text {
            if octet == dot {
                guard label > 0 else { throw .emptyLabel }
                label = 0
                output.append(dot)
                continue
            }
            let letter = folded(octet)
            guard letter != 0 else { throw .character(Unicode.Scalar(octet)) }
            label += 1
            guard label <= maximumLabelLength else { throw .labelTooLong }
            output.append(letter)
        }
        guard label > 0 else { throw .emptyLabel }
        guard text.count <= maximumLength else { throw .nameTooLong }
    }

    /// The octet in lower case, or 0 when it stands in no label.
    static func folded(_ octet: UInt8) -> UInt8 {
        switch octet {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
            UInt8(ascii: "_"):
            octet
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): octet | 0x20
        default: 0
        }
    }

    static let dot = UInt8(ascii: ".")
}
