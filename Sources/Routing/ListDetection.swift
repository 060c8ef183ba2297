/// Which format a list is in, by lines that only one of them can have.

enum ListDetection {
    /// So many lines are looked at; a list that shows nothing by then is a plain one.
    private static let limit = 256

    /// The format of the first line that tells, to which all others have to keep.
    ///
    /// Afterwards the lines begin anew.
    static func format(of lines: inout ListLines) throws(Misspelling) -> RuleList.Format {
        var seen = 0
        while seen < limit, let line = try lines.next() {
            let text = line.withoutComment
            guard !text.isEmpty else { continue }
            seen += 1
            guard let format = try format(of: text) else { continue }
            lines.rewind()
            return format
        }
        lines.rewind()
        return .plain
    }

    /// The format that a line is of, nil when several could have it and mean the same.
    private static func format(of text: ArraySlice<UInt8>) throws(Misspelling) -> RuleList.Format? {
        if text.starts(with: "payload:".utf8) || text.starts(with: "- ".utf8) || text.starts(with: "+.".utf8) {
            return .clash
        }
        if text.first == DomainName.dot {
            throw Misspelling(
                .ambiguous, found: text, expected: "a list the format of which is plain, or said",
                hint: "\".x\" includes x itself in a list of format surge, and not in one of format clash")
        }
        if RuleNotation.looksLikeRule(text) { return .surge }
        let fields = text.split(maxSplits: 1) { $0 == 0x20 || $0 == 0x09 }
        if fields.count == 2, ListEntries.isAddress(fields[0]) { return .hosts }
        if fields.count == 2, let mark = fields[1].trimmed.first, mark == UInt8(ascii: "@") { return .v2fly }
        for word in ["domain:", "regexp:", "include:"] where text.dropping(word) != nil { return .v2fly }
        return nil
    }
}
