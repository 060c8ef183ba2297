/// How characters of other people's texts are shown in messages: nothing hides, and nothing moves a cursor.

extension Unicode.Scalar {
    /// The character as it is, or its number where it cannot be seen.
    public var visible: String {
        switch properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: codePoint
        case .spaceSeparator: self == " " ? " " : codePoint
        default: String(self)
        }
    }

    /// The usual spelling of its number: U+00A0.
    public var codePoint: String {
        let digits = String(value, radix: 16, uppercase: true)
        return "U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}
