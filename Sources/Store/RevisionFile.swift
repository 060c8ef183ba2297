/// A revision as octets: one line that says what it is, then JSON with the lab's state and who made it, when and how.
///
///     starship lab 1 143 89abcdef\n
///     {"number":124,"at":1790000000,"by":"root","how":"use","summary":"pixel-7 uses whistle-qa","state":{…}}\n
///
/// The first line gives the format, the octets behind the line, and the CRC-32 of everything but itself. It means the
/// same in every format, so that a program can tell a newer file from a damaged one. The state is a JSON text that is
/// carried as it is.

internal import Digest

/// Who made a revision, when and how.
public struct RevisionSummary: Equatable, Sendable {
    public let number: Int
    /// Seconds since 1970.
    public let at: Int64
    /// A Unix user, a key's name, a device.
    public let by: String
    public let how: String
    /// What changed.
    public let summary: String

    /// Takes lines: what would break one becomes a blank, and what is longer than 200 characters is cut off.
    public init(number: Int, at: Int64, by: String, how: String, summary: String) {
        self.number = number
        self.at = at
        self.by = Self.line(by)
        self.how = Self.line(how)
        self.summary = Self.line(summary)
    }

    private static func line(_ text: String) -> String {
        var line = String.UnicodeScalarView()
        for scalar in text.unicodeScalars.prefix(200) {
            switch scalar {
            case "\u{0}"..."\u{1f}", "\u{7f}"..."\u{9f}", "\u{2028}", "\u{2029}": line.append(" ")
            default: line.append(scalar)
            }
        }
        return String(line)
    }
}

/// The lab's state as it once was.
public struct Revision: Equatable, Sendable {
    public let summary: RevisionSummary
    /// A JSON text.
    public let state: [UInt8]

    public init(summary: RevisionSummary, state: [UInt8]) {
        self.summary = summary
        self.state = state
    }

    public var number: Int { summary.number }
}

/// Why octets are no revision.
public enum RevisionFault: Error, Equatable, Sendable, CustomStringConvertible {
    case foreign
    case cutOff(octets: Int, of: Int)
    case damaged
    /// It is whole, and of a later format.
    case newer(format: Int)

    public var description: String {
        switch self {
        case .foreign: "not a file of this program"
        case .cutOff(let octets, let whole): "cut off after \(octets) of \(whole) octets"
        case .damaged: "damaged, its checksum does not fit"
        case .newer(let format): "of format \(format)"
        }
    }
}

/// Reading and writing of a revision's octets.
public enum RevisionFile {
    /// The format that this program writes, and the only one that it reads.
    public static let format = 1

    private static let title = "starship lab"
    private static let longestFirstLine = 80

    public static func write(_ revision: Revision) -> [UInt8] {
        let summary = revision.summary
        var body = Array("{\"number\":\(summary.number),\"at\":\(summary.at),\"by\":\(quoted(summary.by))".utf8)
        body += Array(",\"how\":\(quoted(summary.how)),\"summary\":\(quoted(summary.summary)),\"state\":".utf8)
        body += revision.state
        body += Array("}\n".utf8)
        return sealed(body, format: format)
    }

    /// Puts the first line before what a file is to hold.
    public static func sealed(_ body: [UInt8], format: Int) -> [UInt8] {
        let claim = "\(title) \(format) \(body.count)"
        return Array("\(claim) \(checksum(claim, body[...]))\n".utf8) + body
    }

    public static func parse(_ bytes: [UInt8]) throws(RevisionFault) -> Revision {
        let (format, body) = try unsealed(bytes)
        guard format == Self.format else { throw .newer(format: format) }
        // What reads as a revision but is not how one is written was not written by this program.
        guard let revision = RevisionReader.read(body), write(revision) == bytes else { throw .foreign }
        return revision
    }

    /// Checks the first line and returns what stands behind it.
    private static func unsealed(_ bytes: [UInt8]) throws(RevisionFault) -> (format: Int, body: ArraySlice<UInt8>) {
        guard let end = bytes.prefix(longestFirstLine).firstIndex(of: UInt8(ascii: "\n")) else { throw .foreign }
        let words = String(decoding: bytes[..<end], as: UTF8.self).split(
            separator: " ", omittingEmptySubsequences: false)
        guard words.count == 5, "\(words[0]) \(words[1])" == title, let format = Int(words[2]), format >= Self.format,
            let length = Int(words[3]), length >= 0, length < 1 << 40
        else { throw .foreign }
        let body = bytes[(end + 1)...]
        guard body.count >= length else { throw .cutOff(octets: bytes.count, of: end + 1 + length) }
        let claim = "\(title) \(words[2]) \(words[3])"
        guard body.count == length, checksum(claim, body) == words[4] else { throw .damaged }
        return (format, body)
    }

    /// Eight hexadecimal digits.
    private static func checksum(_ claim: String, _ body: ArraySlice<UInt8>) -> String {
        var checksum = CRC32()
        checksum.update(Array(claim.utf8).span)
        checksum.update(body.span)
        let digits = String(checksum.value, radix: 16)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }

    /// A text of a summary, which holds no control characters.
    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            if scalar == "\"" || scalar == "\\" { quoted += "\\" }
            quoted.unicodeScalars.append(scalar)
        }
        return quoted + "\""
    }
}

/// Takes the parts of a body one after the other.
private struct RevisionReader {
    private var rest: ArraySlice<UInt8>

    static func read(_ body: ArraySlice<UInt8>) -> Revision? {
        var reader = RevisionReader(rest: body)
        guard reader.skip("{\"number\":"), let number = reader.number(), reader.skip(",\"at\":"),
            let at = reader.number(), reader.skip(",\"by\":"), let by = reader.text(), reader.skip(",\"how\":"),
            let how = reader.text(), reader.skip(",\"summary\":"), let summary = reader.text(),
            reader.skip(",\"state\":"), reader.rest.count > 2
        else { return nil }
        return Revision(
            summary: RevisionSummary(number: number, at: Int64(at), by: by, how: how, summary: summary),
            state: Array(reader.rest.dropLast(2)))
    }

    private mutating func skip(_ text: String) -> Bool {
        guard rest.starts(with: text.utf8) else { return false }
        rest = rest.dropFirst(text.utf8.count)
        return true
    }

    private mutating func number() -> Int? {
        let digits = rest.prefix { $0 == UInt8(ascii: "-") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        rest = rest.dropFirst(digits.count)
        return Int(String(decoding: digits, as: UTF8.self))
    }

    private mutating func text() -> String? {
        guard rest.popFirst() == UInt8(ascii: "\"") else { return nil }
        var octets: [UInt8] = []
        while let octet = rest.popFirst() {
            switch octet {
            case UInt8(ascii: "\""): return String(decoding: octets, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard let next = rest.popFirst() else { return nil }
                octets.append(next)
            default: octets.append(octet)
            }
        }
        return nil
    }
}
