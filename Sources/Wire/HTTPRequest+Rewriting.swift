/// A request's head in another form: to a proxy in absolute form, to an origin in origin form.

import Bytes

/// The three parts of a request target that the gateway tells apart (RFC 9112, section 3.2).
struct HTTPRequestTarget: Equatable {
    /// The authority of an absolute form, a range of the head; nil in origin form and for `*`.
    var authority: Range<Int>?
    /// The path with its query; empty for `http://host` and for `*`.
    var path: Range<Int>
    /// `OPTIONS *`.
    var isAsterisk = false

    /// Reads the target of a request, or throws for a form that has no place on a stream to an origin.
    init(of request: HTTPRequestHead, in head: Span<UInt8>) throws(HTTPError) {
        let range = request.targetRange
        let text = head.extracting(range)
        if text[0] == ASCII.slash {
            path = range
        } else if request.method == .options, text.count == 1, text[0] == ASCII.asterisk {
            path = range.upperBound..<range.upperBound
            isAsterisk = true
        } else if text.hasPrefix("http://"), request.method != .connect {
            var end = range.lowerBound + 7
            while end < range.upperBound, head[end] != ASCII.slash, head[end] != ASCII.question { end += 1 }
            let authority = range.lowerBound + 7..<end
            guard !head.extracting(authority).contains(ASCII.at) else { throw .badTarget }
            self.authority = authority
            path = end..<range.upperBound
        } else {
            throw .badTarget
        }
    }
}

extension HTTPRequestHead {
    /// Where the authority of a target in absolute form stands; nil for the other forms.
    public static func authority(of request: HTTPRequestHead, in head: Span<UInt8>) throws(HTTPError) -> Range<Int>? {
        try HTTPRequestTarget(of: request, in: head).authority
    }

    /// The path of a target without its query; `/` where an absolute form has none.
    public static func path(of request: HTTPRequestHead, in head: Span<UInt8>) throws(HTTPError) -> String {
        let range = try HTTPRequestTarget(of: request, in: head).path
        let text = head.extracting(range)
        let end = text.firstIndex(of: ASCII.question, from: 0) ?? text.count
        return end == 0 ? "/" : String(validating: text.extracting(0..<end)) ?? "/"
    }
}

/// What is to become of a request's head.
struct HTTPRewriting {
    /// Written before the path: `http://name` to a proxy, nothing to an origin.
    var prefix: String
    /// Replaces the client's Host when the request came in absolute form (RFC 9112, section 3.2.2).
    var host: String
    /// Whole field lines that the upstream is to have.
    var addedFields: [UInt8]
    /// A proxy's duties (RFC 9110, section 7.6) and one request a connection.
    var actsAsProxy: Bool

    /// Appends the head of `request`, rewritten, with its empty line.
    func write(
        _ request: HTTPRequestHead, _ target: HTTPRequestTarget, of head: Span<UInt8>, into output: inout [UInt8]
    ) throws(HTTPError) {
        writeRequestLine(request, target, of: head, into: &output)
        if target.authority != nil { output.append(contentsOf: "Host: \(host)\r\n".utf8) }
        let options = actsAsProxy ? try Self.connectionOptions(request, of: head) : []
        var cursor = HTTPFieldCursor(at: request.fieldsStart)
        while let field = try cursor.next(in: head) {
            let name = head.extracting(field.name)
            if Self.belongsToProxy(name) || isAdded(name) { continue }
            if target.authority != nil, name.matches("host") { continue }
            if actsAsProxy, Self.belongsToHop(name, request, options, of: head) { continue }
            output.append(copying: name)
            output.append(contentsOf: ": ".utf8)
            output.append(copying: head.extracting(field.value))
            output.append(contentsOf: "\r\n".utf8)
        }
        output.append(contentsOf: addedFields)
        if actsAsProxy {
            output.append(contentsOf: "Via: \(request.isVersion11 ? "1.1" : "1.0") starship\r\n".utf8)
            output.append(contentsOf: "Connection: \(request.wantsUpgrade ? "Upgrade" : "close")\r\n".utf8)
        }
        output.append(contentsOf: "\r\n".utf8)
    }

    private func writeRequestLine(
        _ request: HTTPRequestHead, _ target: HTTPRequestTarget, of head: Span<UInt8>, into output: inout [UInt8]
    ) {
        output.append(copying: head.extracting(request.methodRange))
        output.append(ASCII.space)
        output.append(contentsOf: prefix.utf8)
        if target.isAsterisk || target.path.isEmpty, request.method == .options {
            // The last proxy turns an empty path of OPTIONS into `*` (RFC 9112, section 3.2.4).
            if prefix.isEmpty { output.append(ASCII.asterisk) }
        } else {
            if target.path.isEmpty || head[target.path.lowerBound] != ASCII.slash { output.append(ASCII.slash) }
            output.append(copying: head.extracting(target.path))
        }
        output.append(contentsOf: request.isVersion11 ? " HTTP/1.1\r\n".utf8 : " HTTP/1.0\r\n".utf8)
    }

    /// Whether one of the added lines has this name: what we say of a client it cannot say itself.
    private func isAdded(_ name: Span<UInt8>) -> Bool {
        let lines = addedFields.span
        var start = 0
        while start < lines.count {
            let colon = lines.firstIndex(of: ASCII.colon, from: start) ?? lines.count
            if equal(lines.extracting(start..<colon), name) { return true }
            start = (lines.firstIndex(of: ASCII.lineFeed, from: colon) ?? lines.count) + 1
        }
        return false
    }

    /// Fields between a client and its proxy: they end here.
    private static func belongsToProxy(_ name: Span<UInt8>) -> Bool {
        name.matches("proxy-connection") || name.matches("proxy-authorization")
    }

    /// Fields for one connection (RFC 9110, section 7.6.1); Upgrade stays where it is asked for.
    private static func belongsToHop(
        _ name: Span<UInt8>, _ request: HTTPRequestHead, _ options: [Range<Int>], of head: Span<UInt8>
    ) -> Bool {
        if name.matches("connection") || name.matches("keep-alive") || name.matches("te") { return true }
        if name.matches("upgrade") { return !request.wantsUpgrade }
        // What frames the message and says whom it is for is not the client's to take away.
        if name.matches("host") || name.matches("content-length") || name.matches("transfer-encoding") { return false }
        for option in options where equal(head.extracting(option), name) { return true }
        return false
    }

    /// The names that the Connection fields list.
    private static func connectionOptions(
        _ request: HTTPRequestHead, of head: Span<UInt8>
    ) throws(HTTPError) -> [Range<Int>] {
        var options: [Range<Int>] = []
        var cursor = HTTPFieldCursor(at: request.fieldsStart)
        while let field = try cursor.next(in: head) {
            guard head.extracting(field.name).matches("connection") else { continue }
            var start = field.value.lowerBound
            while start < field.value.upperBound, options.count < 32 {
                let comma = head.firstIndex(of: ASCII.comma, from: start) ?? field.value.upperBound
                let end = min(comma, field.value.upperBound)
                options.append(head.trimmed(start..<end))
                start = end + 1
            }
        }
        return options
    }
}

/// Whether two texts are equal but for the case of ASCII letters.
func equal(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
    guard left.count == right.count else { return false }
    for index in left.indices where ASCII.lowercase(left[index]) != ASCII.lowercase(right[index]) { return false }
    return true
}
