/// Signals as events of the poller.

public import Bytes
internal import CLinux
internal import Glibc

/// What the operator or systemd wants.
public enum Signal: CaseIterable, Sendable {
    case interrupt
    case terminate
    case hangUp
    case user1

    var number: CInt {
        switch self {
        case .interrupt: SIGINT
        case .terminate: SIGTERM
        case .hangUp: SIGHUP
        case .user1: SIGUSR1
        }
    }
}

/// The process's signals, read from a descriptor instead of interrupting.
public struct Signals: ~Copyable, Sendable {
    public let descriptor: OwnedDescriptor

    /// Takes SIGINT, SIGTERM, SIGHUP and SIGUSR1 over and ignores SIGPIPE.
    ///
    /// Must run before the first other thread starts: threads inherit the mask, and one without it would be
    /// ended by the signal.
    public init() throws(SystemCallError) {
        clinux_ignore_broken_pipes()
        let numbers = Signal.allCases.map(\.number)
        let result = unsafe clinux_signals(numbers, CInt(numbers.count))
        guard result >= 0 else { throw SystemCallError("signalfd", negative: result) }
        descriptor = OwnedDescriptor(owning: result)
    }

    /// From now on an interrupt or a request to terminate ends the process at once, by that signal.
    ///
    /// What comes within the pause is one wish with what came before: a terminal's ^C and a script that passes it on.
    public func endProcessAtNext(after pause: Interval = .milliseconds(500)) throws(SystemCallError) {
        let number = fcntl(descriptor.number, F_DUPFD_CLOEXEC, 0)
        guard number >= 0 else { throw .last("fcntl", "signals") }
        let signals = Signals(reading: OwnedDescriptor(owning: number))
        let moment = Clock.now() + pause
        try WorkerThread.startDetached(name: "impatience", owning: signals) { signals in
            while true {
                var poll = pollfd(fd: signals.descriptor.number, events: Int16(POLLIN), revents: 0)
                _ = retrying { unsafe Int(Glibc.poll(&poll, 1, -1)) }
                guard let signal = signals.next(), signal == .interrupt || signal == .terminate else { continue }
                if Clock.now() >= moment { clinux_end_by_signal(signal.number) }
            }
        }
    }

    private init(reading descriptor: consuming OwnedDescriptor) { self.descriptor = descriptor }

    /// The next signal that has come, or nil.
    public func next() -> Signal? {
        var info = signalfd_siginfo()
        let size = MemoryLayout<signalfd_siginfo>.size
        let count = retrying { unsafe read(descriptor.number, &info, size) }
        guard count == size else { return nil }
        return Signal.allCases.first { $0.number == CInt(info.ssi_signo) }
    }
}
