/// What comes back to a forwarded connection: it passes unchanged, and this watches it.
///
/// Which answer belongs to which request is known by counting (RFC 9112, section 9.3.2). A stream that cannot
/// be followed any more is passed on all the same: the client is the one to judge it.

extension HTTPForward {
    /// Where the upstream's side stands.
    enum Reply: Equatable, Sendable {
        case head(HTTPReplyReader)
        case body(HTTPBody)
        /// No more heads are looked for: a tunnel, a body until the end, or something that is not HTTP.
        case opaque
    }

    /// Whether answers are still outstanding or under way.
    public var isAnswering: Bool {
        switch reply {
        case .head: waiting > 0
        case .body, .opaque: true
        }
    }

    /// Looks at bytes from the upstream, which go to the client as they are.
    public mutating func observe(_ bytes: Span<UInt8>) {
        var position = 0
        while position < bytes.count {
            let rest = bytes.extracting(position..<bytes.count)
            do throws(HTTPError) {
                switch reply {
                case .opaque:
                    return
                case .body(var body):
                    position += try body.consume(rest)
                    reply = body.isComplete ? .head(HTTPReplyReader()) : .body(body)
                case .head(var reader):
                    guard let end = try reader.read(rest) else {
                        reply = .head(reader)
                        return
                    }
                    position += end
                    take(reader.head)
                }
            } catch {
                becomeOpaque()
            }
        }
    }

    private mutating func take(_ head: HTTPReplyHead) {
        if head.isInterim {
            reply = .head(HTTPReplyReader())
            return
        }
        if head.status == 101 { return becomeOpaque() }
        if head.status == 407 { credentialsRefused = true }
        let isHead = waiting > 0 && headRequests & 1 == 1
        headRequests >>= 1
        waiting = max(0, waiting - 1)
        // An upgrade is always the last request of the line: nothing was taken behind it.
        if waiting == 0, asksUpgrade {
            asksUpgrade = false
            if phase == .upgrading { phase = isOneRequest ? .finished : .head }
        }
        let body = head.body(answeringHead: isHead)
        switch body {
        case .none: reply = .head(HTTPReplyReader())
        case .length, .chunked: reply = .body(body)
        case .untilClose: reply = .opaque
        }
    }

    /// From here on bytes: after 101 by agreement, otherwise because the stream cannot be followed.
    private mutating func becomeOpaque() {
        reply = .opaque
        if phase == .upgrading { phase = .transparent }
    }
}
