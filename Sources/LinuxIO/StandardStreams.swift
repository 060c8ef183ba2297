/// Where lines for people and programs go.

internal import CLinux
internal import Glibc

/// The process's standard error.
public enum StandardError {
    /// Writes a text with one write(2), so that lines of several threads do not mix.
    ///
    /// What cannot be written is lost: a log must never stop the gateway.
    public static func write(_ text: String) { writeOnce(text, to: STDERR_FILENO) }

    /// Writes bytes with one write(2).
    public static func write(_ bytes: Span<UInt8>) {
        unsafe bytes.withUnsafeBufferPointer { bytes in
            _ = retrying { unsafe Glibc.write(STDERR_FILENO, bytes.baseAddress, bytes.count) }
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
