/// Server-sent events, read as a browser reads them (WHATWG HTML, section 9.2.6).

internal import Bytes

/// An event as it came in.
public struct ReceivedEvent: Equatable, Sendable {
    public var name: String
    public var data: String
}

/// A line or an event that is longer than anything that is meant well.
public struct EventTooLong: Error, Equatable, Sendable {}

/// Takes a stream in pieces and returns the events that they complete.
public struct EventParser: Sendable {
    /// The longest line, and the most data of one event.
    public static let limit = 1 << 20

    private var line: [UInt8] = []
    /// The last octet was a CR: an LF behind it belongs to it.
    private var isAfterReturn = false
    private var isFirstLine = true
    private var name = ""
    private var data: [UInt8] = []
    private var hasData = false
    private var id: String?
    /// The id of the last event, which a client says when it comes again.
    public private(set) var lastID = ""

    public init() {}

    /// Takes octets; throws when a line or an event is longer than `limit`.
    public mutating func take(_ octets: Span<UInt8>) throws(EventTooLong) -> [ReceivedEvent] {
        var events: [ReceivedEvent] = []
        for index in octets.indices {
            let octet = octets[index]
            defer { isAfterReturn = octet == 0x0d }
            if octet == 0x0a, isAfterReturn { continue }
            guard octet == 0x0a || octet == 0x0d else {
                line.append(octet)
                guard line.count + data.count <= Self.limit else { throw EventTooLong() }
                continue
            }
            if let event = endLine() { events.append(event) }
        }
        return events
    }

    private mutating func endLine() -> ReceivedEvent? {
        var line = line[...]
        self.line = []
        if isFirstLine, line.starts(with: [0xef, 0xbb, 0xbf]) { line = line.dropFirst(3) }
        isFirstLine = false
        guard !line.isEmpty else { return dispatch() }
        let colon = line.firstIndex(of: 0x3a)
        var value = colon.map { line[line.index(after: $0)...] } ?? []
        if value.first == 0x20 { value = value.dropFirst() }
        switch String(decoding: line[..<(colon ?? line.endIndex)], as: UTF8.self) {
        case "event": name = String(decoding: value, as: UTF8.self)
        case "data":
            if hasData { data.append(0x0a) }
            data += value
            hasData = true
        case "id": if !value.contains(0) { id = String(decoding: value, as: UTF8.self) }
        // A comment has no name, `retry` is this client's own business, and what else there may be is passed over.
        default: break
        }
        return nil
    }

    private mutating func dispatch() -> ReceivedEvent? {
        defer { (name, data, hasData) = ("", [], false) }
        if let id { lastID = id }
        guard hasData else { return nil }
        return ReceivedEvent(name: name.isEmpty ? "message" : name, data: String(decoding: data, as: UTF8.self))
    }
}
