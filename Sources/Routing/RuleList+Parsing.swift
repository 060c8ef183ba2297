/// From a file's octets to lines, and from lines to entries.

extension RuleList {
    /// The longest list that is read.
    public static let maximumSize = 256 << 20

    /// Reads a list, or says which line cannot be one of its format.
    public static func parse(
        _ bytes: Span<UInt8>, name: String, file: String? = nil, format: Format = .auto
    ) throws(RoutingError) -> RuleList {
        guard bytes.count <= maximumSize else {
            throw Misspelling(.tooLarge, found: "\(bytes.count) octets", expected: "\(maximumSize) at most")
                .at(list: name, file: file, line: nil)
        }
        let text = [UInt8](capacity: bytes.count) { output in
            for index in bytes.indices { output.append(bytes[index]) }
        }
        var lines = ListLines(text)
        var format = format
        do throws(Misspelling) {
            if format == .auto { format = try ListDetection.format(of: &lines) }
            var list = ListEntries(name: name, file: file, format: format)
            // Half of the lines' worth of room at most goes unused.
            list.reserve(lines: lines.total, octets: text.count)
            while let line = try lines.next() { try list.read(line, number: lines.number) }
            list.index.seal()
            return RuleList(list)
        } catch {
            throw error.at(list: name, file: file, line: lines.number)
        }
    }
}

extension ListEntries {
    fileprivate mutating func reserve(lines count: Int, octets: Int) {
        guard count > 1024 else { return }
        lines.reserveCapacity(count)
        index.reserve(names: count, octets: octets)
    }

    fileprivate mutating func read(_ line: ArraySlice<UInt8>, number: Int) throws(Misspelling) {
        switch format {
        case .auto, .plain: try readPlain(line, number)
        case .hosts: try readHosts(line, number)
        case .v2fly: try readV2fly(line, number)
        case .clash: try readClash(line, number)
        case .surge: try readSurge(line, number)
        }
    }
}

/// The lines of a text, one after another, without their ends.
struct ListLines {
    private let text: [UInt8]
    private var position = 0
    /// The number of the line that came last, the first being 1.
    private(set) var number = 0

    init(_ text: [UInt8]) {
        self.text = text
        // A byte order mark, as editors of Windows leave one.
        if text.starts(with: [0xef, 0xbb, 0xbf]) { position = 3 }
    }

    /// How many lines there may be.
    var total: Int { text.count { $0 == 0x0a } + 1 }

    /// The next line, checked to be text, or nil at the end.
    mutating func next() throws(Misspelling) -> ArraySlice<UInt8>? {
        guard position < text.count else { return nil }
        number += 1
        var end = position
        var all: UInt8 = 0
        var hasNUL = false
        while end < text.count, text[end] != 0x0a {
            all |= text[end]
            if text[end] == 0 { hasNUL = true }
            end += 1
        }
        var line = text[position..<end]
        position = end + 1
        if line.last == 0x0d { line.removeLast() }
        guard !hasNUL else {
            throw Misspelling(.encoding, found: "an octet of value 0", expected: "text in UTF-8")
        }
        if all >= 0x80, String(validating: line, as: UTF8.self) == nil {
            throw Misspelling(.encoding, found: "octets that are no UTF-8", expected: "text in UTF-8")
        }
        guard line.count <= Self.longest || line.trimmed.first == UInt8(ascii: "#") else {
            throw Misspelling(
                .tooLarge, found: "a line of \(line.count) octets", expected: "\(Self.longest) at most")
        }
        return line
    }

    /// No entry is as long; a comment may be.
    private static let longest = 4096

    /// Back to the first line.
    mutating func rewind() { self = ListLines(text) }
}
