/// Names in other scripts, as A-labels.
///
/// UTS-46 maps a name before it is encoded. This is as much of it as the standard library's Unicode properties give:
/// lower case, the fullwidth forms of ASCII, the ideographic full stops, and composition of a letter with the marks
/// that follow it where one character stands for them all (NFC for the scripts that people mix up: Latin, Greek,
/// Cyrillic, kana, Hangul). Left out: compatibility forms other than fullwidth ASCII (ligatures, circled letters),
/// ignored characters (soft hyphen, joiners, variation selectors: refused by number), the checks of direction (RFC
/// 5893) and of context (RFC 5892, appendix A). ß and ς stay what they are, as in IDNA 2008.

extension DomainName {
    /// The name with each label that is not ASCII encoded (RFC 5891, section 4.4).
    static func asciiForm(_ text: ArraySlice<UInt8>) throws(DomainNameError) -> [UInt8] {
        // A character of four octets takes at least one octet of an A-label.
        guard text.count <= maximumLength * 4 else { throw .nameTooLong }
        var output: [UInt8] = []
        let labels = mapped(String(decoding: text, as: UTF8.self)).split(
            separator: ".", omittingEmptySubsequences: false)
        for (index, label) in labels.enumerated() {
            if index > 0 { output.append(dot) }
            if label.allSatisfy(\.isASCII) {
                output += label.map { UInt8($0.value) }
                continue
            }
            let scalars = composed(String(String.UnicodeScalarView(label)))
            for scalar in scalars where !isAllowed(scalar) { throw .character(scalar) }
            output += "xn--".utf8
            output += Punycode.encode(scalars.map(\.value))
        }
        return output
    }

    /// Lower case, ASCII for its fullwidth forms, and dots for what a keyboard writes instead (RFC 3490, section 3.1).
    private static func mapped(_ text: String) -> String.UnicodeScalarView {
        var output = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0x3002, 0xff0e, 0xff61: output.append(".")
            case 0xff01...0xff5e:
                let ascii = Unicode.Scalar(UInt8(scalar.value - 0xfee0))
                output.append(contentsOf: ascii.properties.lowercaseMapping.unicodeScalars)
            default: output.append(contentsOf: scalar.properties.lowercaseMapping.unicodeScalars)
            }
        }
        return output
    }

    /// Letters, marks, digits, and the symbols that names of pictures are made of.
    private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII { return folded(UInt8(scalar.value)) != 0 }
        // U+FFFD stands where the text was no Unicode.
        guard scalar.value != 0xfffd, !(0xfe00...0xfe0f).contains(scalar.value) else { return false }
        switch scalar.properties.generalCategory {
        case .lowercaseLetter, .modifierLetter, .otherLetter, .nonspacingMark, .spacingMark, .decimalNumber,
            .otherSymbol:
            return true
        default: return scalar.value == 0xb7 || scalar.value == 0x30fb  // Catalan's and Katakana's middle dots.
        }
    }

    /// The label with marks joined to their letters where one character is equivalent to both.
    private static func composed(_ label: String) -> [Unicode.Scalar] {
        var output: [Unicode.Scalar] = []
        for character in label {
            let scalars = Array(character.unicodeScalars)
            var taken = 1
            var joined = scalars[0]
            // Marks behind the one that joins stay where they are.
            for count in stride(from: scalars.count, to: 1, by: -1) {
                guard let single = composition(of: scalars[..<count]) else { continue }
                (taken, joined) = (count, single)
                break
            }
            output.append(joined)
            output += scalars[taken...]
        }
        return output
    }

    /// The one character that is canonically equivalent to a letter and its marks: strings compare so.
    private static func composition(of scalars: ArraySlice<Unicode.Scalar>) -> Unicode.Scalar? {
        guard scalars.count <= 4, let first = scalars.first?.value else { return nil }
        var text = String.UnicodeScalarView()
        text.append(contentsOf: scalars)
        let wanted = String(text)
        for block in blocks where block.letters.contains(first) {
            for value in block.composed {
                guard let candidate = Unicode.Scalar(value), String(candidate) == wanted else { continue }
                return candidate
            }
        }
        return nil
    }

    /// Where letters stand, and where what is composed of them does.
    private static let blocks: [(letters: ClosedRange<UInt32>, composed: ClosedRange<UInt32>)] = [
        (0x61...0x24f, 0xdf...0x233), (0x61...0x24f, 0x1e01...0x1ef9), (0x370...0x3ff, 0x390...0x3ce),
        (0x370...0x1fff, 0x1f00...0x1ffc), (0x400...0x4ff, 0x450...0x4f9), (0x3041...0x30ff, 0x304c...0x30fe),
        (0x1100...0x11ff, 0xac00...0xd7a3), (0xac00...0xd7a3, 0xac00...0xd7a3),
    ]
}
