/// The terminal as a full-screen program has it: raw keys, the other buffer, and what the terminal's owner signals.

internal import CLinux
internal import Glibc

/// The terminal of the standard streams, taken until the value goes away.
///
/// It is given back at every end of the process but SIGKILL: by `deinit`, and by the handlers of the signals that are
/// sent for a fault.
public struct FullScreen: ~Copyable {
    /// The other buffer without a cursor, empty; and the way back.
    private static let enter = "\u{1b}[?1049h\u{1b}[?25l\u{1b}[2J"
    private static let leave = "\u{1b}[0m\u{1b}[?25h\u{1b}[?1049l"

    private let signals: OwnedDescriptor

    /// What the terminal's owner wants.
    public enum Notice: Sendable {
        case end
        case resized
        /// The program was stopped, and whatever it has shown may be gone.
        case continued
    }

    /// Takes the terminal; its signals come by `notice` from here on.
    public static func open() throws(SystemCallError) -> FullScreen {
        let screen = try FullScreen()
        try screen.take()
        return screen
    }

    private init() throws(SystemCallError) {
        let numbers = [SIGINT, SIGTERM, SIGHUP, SIGWINCH, SIGCONT]
        let result = unsafe clinux_signals(numbers, CInt(numbers.count))
        guard result >= 0 else { throw SystemCallError("signalfd", negative: result) }
        signals = OwnedDescriptor(owning: result)
    }

    deinit { clinux_full_screen_leave() }

    /// What is watched for notices.
    public var descriptor: CInt { signals.number }

    /// The next notice that has come, or nil.
    public func notice() -> Notice? {
        var info = signalfd_siginfo()
        let size = MemoryLayout<signalfd_siginfo>.size
        guard retrying({ unsafe read(signals.number, &info, size) }) == size else { return nil }
        switch CInt(info.ssi_signo) {
        case SIGWINCH: return .resized
        case SIGCONT: return .continued
        default: return .end
        }
    }

    /// Takes the terminal again after a stop: a shell has set it as it likes it.
    public func take() throws(SystemCallError) {
        let result = unsafe clinux_full_screen_enter(Self.enter, Self.leave)
        guard result >= 0 else { throw SystemCallError("tcsetattr", negative: result) }
    }

    /// Gives the terminal back, stops until somebody has the program go on, and takes it again.
    ///
    /// Where nobody stops programs the call returns at once.
    public func stop() throws(SystemCallError) {
        clinux_full_screen_leave()
        clinux_full_screen_stop()
        try take()
    }

    /// The size of the terminal; 80 by 24 where it has none.
    public var size: (columns: Int, rows: Int) {
        var (columns, rows): (CInt, CInt) = (0, 0)
        guard unsafe clinux_full_screen_size(&columns, &rows) == 0, columns > 0, rows > 0 else { return (80, 24) }
        return (Int(columns), Int(rows))
    }
}
