/// Names in a DNS message (RFC 1035, sections 3.1 and 4.1.4).

import Bytes

/// Reading, comparing and writing names.
///
/// A pointer is followed only to a place before the labels that lead to it, so the way through a message falls
/// with each one and ends; a name has at most 255 octets and so many pointers as labels.
public enum DNSName {
    /// With the root's empty label (RFC 1035, section 2.3.4).
    public static let maximumLength = 255
    static let maximumLabels = 127

    /// Checks the name at `start` and returns where it ends in the message.
    public static func end(in message: Span<UInt8>, at start: Int) throws(WireError) -> Int {
        var walk = Walk(at: start)
        while try walk.next(in: message) != nil {}
        return walk.end
    }

    /// The text of the name at `start`: lower case, no dot at the end, the root being empty.
    ///
    /// What is not a letter, a digit, `-`, `_` or other plain punctuation stands as `\DDD` (RFC 1035, section
    /// 5.1), so that a dot is always the border of two labels.
    public static func text(in message: Span<UInt8>, at start: Int) throws(WireError) -> String {
        var plain = [254 of UInt8](repeating: 0)
        var count = 0
        var walk = Walk(at: start)
        while let label = try walk.next(in: message) {
            if count > 0 {
                plain[count] = ASCII.dot
                count += 1
            }
            for index in label {
                guard isPlain(message[index]) else { return try escapedText(in: message, at: start) }
                plain[count] = ASCII.lowercase(message[index])
                count += 1
            }
        }
        return String(validating: plain.span.extracting(0..<count)) ?? ""
    }

    private static func escapedText(in message: Span<UInt8>, at start: Int) throws(WireError) -> String {
        var text: [UInt8] = []
        var walk = Walk(at: start)
        while let label = try walk.next(in: message) {
            if !text.isEmpty { text.append(ASCII.dot) }
            for index in label {
                let octet = message[index]
                if isPlain(octet) {
                    text.append(ASCII.lowercase(octet))
                } else {
                    text.append(ASCII.backslash)
                    for divisor: UInt8 in [100, 10, 1] { text.append(ASCII.zero + octet / divisor % 10) }
                }
            }
        }
        return String(validating: text.span) ?? ""
    }

    private static func isPlain(_ octet: UInt8) -> Bool {
        octet > 0x20 && octet < 0x7f && octet != ASCII.dot && octet != ASCII.backslash
    }

    /// Whether two names are the same, letters' case aside (RFC 4343); false for what is no name.
    public static func isSame(
        in message: Span<UInt8>, at start: Int, as other: Span<UInt8>, at otherStart: Int
    ) -> Bool {
        var walk = Walk(at: start)
        var otherWalk = Walk(at: otherStart)
        while true {
            let label = try? walk.next(in: message)
            let otherLabel = try? otherWalk.next(in: other)
            guard let label, let otherLabel else { return walk.isComplete && otherWalk.isComplete }
            guard label.count == otherLabel.count else { return false }
            for place in 0..<label.count {
                let octet = message[label.lowerBound + place]
                let otherOctet = other[otherLabel.lowerBound + place]
                guard ASCII.lowercase(octet) == ASCII.lowercase(otherOctet) else { return false }
            }
        }
    }

    /// Appends a name that is text; false, and nothing is appended, for what is no name.
    ///
    /// The text is as `text` gives it.
    public static func write(_ text: String, into output: inout [UInt8]) -> Bool {
        let begin = output.count
        var label = output.count
        output.append(0)
        var octets = text.utf8.makeIterator()
        while let octet = octets.next() {
            if octet == ASCII.dot {
                guard finish(label, &output) else { return undo(begin, &output) }
                label = output.count
                output.append(0)
            } else if octet == ASCII.backslash {
                guard let value = escaped(&octets) else { return undo(begin, &output) }
                output.append(value)
            } else {
                output.append(octet)
            }
        }
        if text.isEmpty { return true }
        guard finish(label, &output) else { return undo(begin, &output) }
        output.append(0)
        return output.count - begin <= maximumLength ? true : undo(begin, &output)
    }

    private static func escaped(_ octets: inout String.UTF8View.Iterator) -> UInt8? {
        var value = 0
        for _ in 0..<3 {
            guard let digit = octets.next(), ASCII.isDigit(digit) else { return nil }
            value = value * 10 + Int(digit - ASCII.zero)
        }
        return UInt8(exactly: value)
    }

    private static func finish(_ label: Int, _ output: inout [UInt8]) -> Bool {
        let count = output.count - label - 1
        guard 1...63 ~= count else { return false }
        output[label] = UInt8(count)
        return true
    }

    private static func undo(_ begin: Int, _ output: inout [UInt8]) -> Bool {
        output.removeLast(output.count - begin)
        return false
    }
}

extension DNSName {
    /// A way along the labels of one name.
    struct Walk {
        private var position: Int
        /// Where the labels of this run began: a pointer has to lead before it.
        private var runStart: Int
        private var length = 1
        private var pointers = 0
        private var endOfFirstRun: Int?
        /// Whether the root was reached.
        private(set) var isComplete = false

        init(at start: Int) {
            position = start
            runStart = start
        }

        /// Where the name ends in the message; good once it was walked to its end.
        var end: Int { endOfFirstRun ?? position }

        /// The next label's octets, or nil after the last one.
        mutating func next(in message: Span<UInt8>) throws(WireError) -> Range<Int>? {
            if isComplete { return nil }
            while true {
                guard position < message.count else { throw .truncated(needed: position + 1, got: message.count) }
                let octet = Int(message[position])
                switch octet >> 6 {
                case 0: return try label(octet, in: message)
                case 3: try follow(octet, in: message)
                // Extended label types (RFC 6891, section 5): none is in use.
                default: throw .unsupported(.name, message[position])
                }
            }
        }

        private mutating func label(_ count: Int, in message: Span<UInt8>) throws(WireError) -> Range<Int>? {
            let start = position + 1
            position = start + count
            guard position <= message.count else { throw .truncated(needed: position, got: message.count) }
            if count == 0 {
                isComplete = true
                return nil
            }
            length += count + 1
            guard length <= maximumLength else { throw .inconsistent(.name) }
            return start..<position
        }

        private mutating func follow(_ octet: Int, in message: Span<UInt8>) throws(WireError) {
            guard position + 1 < message.count else { throw .truncated(needed: position + 2, got: message.count) }
            let target = (octet & 0x3f) << 8 | Int(message[position + 1])
            if endOfFirstRun == nil { endOfFirstRun = position + 2 }
            pointers += 1
            guard target >= DNSHeader.length, target < runStart, pointers <= maximumLabels else {
                throw .inconsistent(.name)
            }
            position = target
            runStart = target
        }
    }
}
