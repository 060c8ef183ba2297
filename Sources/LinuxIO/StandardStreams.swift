/// Where lines for people and programs go.

internal import CLinux
internal import Glibc

/// The process's standard error.
public enum StandardError {
    /// Writes a text with one write(2), so that lines of several threads do not mix.
    ///
    /// What cannot be written is lost: a log must never stop the gateway.
    public static func write(_ text: String) { writeOnce(text, to: STDERR_FILENO) }

    /// The most octets that a writable pipe or stream takes without making its writer wait (PIPE_BUF, pipe(7)).
    public static let pieceSize = 4096

    /// Writes one piece of at most `pieceSize` octets, unless the reader is behind: then it returns false at once,
    /// and the piece is the caller's to keep or to count as lost.
    public static func offer(_ piece: Span<UInt8>) -> Bool {
        var poll = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
        guard unsafe Glibc.poll(&poll, 1, 0) == 1, poll.revents & Int16(POLLOUT) != 0 else { return false }
        return unsafe piece.withUnsafeBufferPointer { bytes in
            retrying { unsafe Glibc.write(STDERR_FILENO, bytes.baseAddress, bytes.count) } == bytes.count
        }
    }

    /// Whether standard error is the journal's own stream, where `<6>` before a line is its priority.
    ///
    /// systemd names the stream's device and inode in JOURNAL_STREAM; a descriptor that was redirected since
    /// does not match (systemd.exec(5)).
    public static var isJournal: Bool {
        guard let value = unsafe getenv("JOURNAL_STREAM") else { return false }
        return unsafe isStream(STDERR_FILENO, named: String(cString: value))
    }

    static func isStream(_ number: CInt, named stream: String) -> Bool {
        var status = stat()
        guard unsafe fstat(number, &status) == 0 else { return false }
        return stream == "\(status.st_dev):\(status.st_ino)"
    }
}

/// The process's standard output.
public enum StandardOutput {
    /// Writes a text with one write(2); what cannot be written is lost.
    public static func write(_ text: String) { writeOnce(text, to: STDOUT_FILENO) }
}

private func writeOnce(_ text: String, to number: CInt) {
    var text = text
    text.withUTF8 { bytes in
        _ = retrying { unsafe Glibc.write(number, bytes.baseAddress, bytes.count) }
    }
}
