/// Where a person sits: what is a terminal, what the environment says, and lines in both directions.

public import Bytes
internal import Glibc

/// The process's standard streams, as a command line uses them.
public enum Terminal {
    /// One of them, by its descriptor.
    public enum Stream: CInt, Sendable {
        case input = 0
        case output = 1
        case errors = 2
    }

    /// Whether a person is at this stream.
    public static func isTerminal(_ stream: Stream) -> Bool { isatty(stream.rawValue) == 1 }

    /// A variable of the environment; the empty text counts as none.
    public static func variable(_ name: String) -> String? {
        guard let value = unsafe getenv(name) else { return nil }
        let text = unsafe String(cString: value)
        return text.isEmpty ? nil : text
    }

    /// Writes all of a text, however long that takes; false when nobody reads it any more.
    @discardableResult
    public static func write(_ text: String, to stream: Stream = .output) -> Bool {
        write(Array(text.utf8), to: stream)
    }

    /// Writes all of these octets.
    @discardableResult
    public static func write(_ octets: [UInt8], to stream: Stream = .output) -> Bool {
        var written = 0
        while written < octets.count {
            let count = unsafe octets.withUnsafeBytes { bytes in
                let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[written...])
                return retrying { unsafe Glibc.write(stream.rawValue, rest.baseAddress, rest.count) }
            }
            // Whoever shares the stream may have made it non-blocking.
            if count == -Int(EAGAIN) {
                wait(stream, for: Int16(POLLOUT))
            } else if count < 0 {
                return false
            } else {
                written += count
            }
        }
        return true
    }

    /// Whether `read` has something to return at once, be it the end.
    public static var hasInput: Bool {
        var poll = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
        return unsafe Glibc.poll(&poll, 1, 0) > 0
    }

    /// Waits for octets and reads what is there, at most 64 KiB; nil at the end of the stream.
    public static func read() -> [UInt8]? {
        var bytes: [UInt8] = []
        while true {
            var count = 0
            bytes.append(addingCapacity: 65_536) { output in
                unsafe output.withUnsafeMutableBufferPointer { space, filled in
                    count = retrying { unsafe Glibc.read(STDIN_FILENO, space.baseAddress, 65_536) }
                    filled = max(0, count)
                }
            }
            if count == -Int(EAGAIN) {
                wait(.input, for: Int16(POLLIN))
                continue
            }
            return count > 0 ? bytes : nil
        }
    }

    /// Reads standard input to its end; nil when it holds more than `limit` octets.
    public static func readAll(limit: Int) -> [UInt8]? {
        var bytes: [UInt8] = []
        while let piece = read() {
            bytes += piece
            guard bytes.count <= limit else { return nil }
        }
        return bytes
    }

    private static func wait(_ stream: Stream, for events: CShort) {
        var poll = pollfd(fd: stream.rawValue, events: events, revents: 0)
        _ = unsafe Glibc.poll(&poll, 1, -1)
    }
}

extension Clock {
    /// How many seconds the local clock is ahead of UTC at a time.
    public static func zone(at time: UnixTime) -> Int64 {
        var seconds = time_t(time.seconds)
        var parts = unsafe tm()
        guard unsafe localtime_r(&seconds, &parts) != nil else { return 0 }
        return unsafe Int64(parts.tm_gmtoff)
    }
}
