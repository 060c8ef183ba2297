/// # A companion: a child that does for the daemon what the daemon has given up doing itself
///
///     daemon ── request ──▶ companion ── runs a tool ──▶ kernel
///            ◀── answer ───
///
/// It is forked while the process is small and has a single thread, so it takes next to no memory, and it keeps what
/// the daemon then gives up: running programs. It is asked over a pair of sockets, one request after the other, a
/// length (4 octets, network order) before each message. What a message may say is its owner's affair (`SystemVerb`).
///
/// The daemon's end is the companion's: it reads the end of the stream, and is killed if it does not come to that. The
/// companion's end shows as a readable descriptor (`ending`); it cannot be had again.

internal import CLinux
internal import Glibc
internal import Synchronization

public final class Companion: Sendable {
    /// The longest request, and the longest answer: two outputs of a tool (`Tool`) with their heads.
    static let requestLimit = 8 << 20
    static let answerLimit = 33 << 20
    /// A tool is killed after 10 s.
    private static let patience: CInt = 15

    private struct Line: ~Copyable {
        let socket: OwnedDescriptor
        /// Why nobody is asked any more.
        var trouble: SystemCallError?
    }

    private let line: Mutex<Line>
    /// Readable once the companion has ended.
    public let descriptor: CInt
    private let process: pid_t

    init(socket: consuming OwnedDescriptor, process: pid_t = 0) {
        descriptor = socket.number
        self.process = process
        line = Mutex(Line(socket: socket))
    }

    /// Forks a child that answers requests until this process ends.
    ///
    /// To be called before the first thread is started.
    public static func start(
        name: String, keeping capabilities: Capabilities, _ answer: ([UInt8]) -> [UInt8]
    ) throws(SystemCallError) -> Companion {
        var ends: [CInt] = [-1, -1]
        let result = unsafe clinux_socket_pair(&ends)
        guard result == 0 else { throw SystemCallError("socketpair", negative: result) }
        let ours = OwnedDescriptor(owning: ends[0])
        let theirs = OwnedDescriptor(owning: ends[1])
        let parent = getpid()
        let child = clinux_fork()
        guard child >= 0 else { throw SystemCallError("fork", negative: child) }
        if child == 0 {
            // Whatever else holds the daemon's end would keep the stream open.
            _ = close(ends[0])
            guard unsafe clinux_become_companion(parent, name) == 0 else { _exit(1) }
            _ = clinux_refuse_new_privileges()
            try? capabilities.keepHere()
            serve(theirs, answer)
            _exit(0)
        }
        let bound = clinux_bound_waiting(ours.number, patience)
        guard bound == 0 else { throw SystemCallError("setsockopt", negative: bound) }
        return Companion(socket: ours, process: child)
    }

    /// Has it answer a request; the calling thread waits.
    ///
    /// The lock of a change that is going on goes along, so that it lasts as long as the tool does.
    public func ask(_ request: [UInt8]) throws(SystemCallError) -> [UInt8] {
        guard request.count <= Self.requestLimit else {
            throw SystemCallError("ask the companion", errno: .messageTooLong)
        }
        return try line.withLock { line throws(SystemCallError) in
            if let trouble = line.trouble { throw trouble }
            do throws(SystemCallError) {
                let channel = CompanionChannel(line.socket.number)
                try channel.send(request, passing: ChangeLock.held.load(ordering: .relaxed))
                let (answer, passed) = try channel.receive(limit: Self.answerLimit)
                if passed >= 0 { _ = close(passed) }
                guard let answer else { throw SystemCallError("ask the companion", errno: .brokenPipe) }
                return answer
            } catch {
                // Half an answer would be taken for the next one's beginning.
                line.trouble = error
                throw error
            }
        }
    }

    /// How it ended, in words; nil while it is there.
    public var ending: String? {
        line.withLock { line in
            var octet: UInt8 = 0
            let count = retrying { unsafe recv(descriptor, &octet, 1, CInt(MSG_PEEK | MSG_DONTWAIT)) }
            let isThere = count > 0 || count == -Int(EAGAIN)
            guard !isThere || line.trouble != nil else { return nil }
            if line.trouble == nil { line.trouble = SystemCallError("ask the companion", errno: .brokenPipe) }
            let status = isThere ? clinux_ending(process) : waitForEnd()
            return switch status {
            case 129...: "it was ended by signal \(status - 128)"
            case 0...: "it ended with status \(status)"
            default: isThere ? line.trouble?.description : "it is gone"
            }
        }
    }

    /// Has it end, and waits until it has, a while at most.
    public func end() {
        line.withLock { line in
            line.trouble = SystemCallError("ask the companion", errno: .brokenPipe)
            _ = shutdown(descriptor, CInt(SHUT_WR))
            var octet: UInt8 = 0
            _ = retrying { unsafe recv(descriptor, &octet, 1, 0) }
            _ = waitForEnd()
        }
    }

    /// How it ended: its socket closes a moment before it is gone, and a second at most is waited for that.
    private func waitForEnd() -> CInt {
        for _ in 0..<1000 {
            let status = clinux_ending(process)
            guard status == -EAGAIN else { return status }
            usleep(1000)
        }
        return -EAGAIN
    }

    /// A companion's life: it answers until nobody asks any more, or somebody asks for too much.
    static func serve(_ socket: borrowing OwnedDescriptor, _ answer: ([UInt8]) -> [UInt8]) {
        let channel = CompanionChannel(socket.number)
        while let (request, passed) = try? channel.receive(limit: requestLimit), let request {
            let words = answer(request)
            if passed >= 0 { _ = close(passed) }
            guard words.count <= answerLimit, (try? channel.send(words, passing: -1)) != nil else { return }
        }
    }
}

/// Messages with their lengths on a stream, and at most one descriptor beside each.
private struct CompanionChannel {
    private let number: CInt

    init(_ number: CInt) { self.number = number }

    func send(_ message: [UInt8], passing descriptor: CInt) throws(SystemCallError) {
        let length = UInt32(message.count)
        let bytes = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: length >> $0) } + message
        var sent = 0
        while sent < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { bytes in
                let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[sent...])
                return unsafe clinux_send_with_descriptor(
                    number, rest.baseAddress, rest.count, sent == 0 ? descriptor : -1)
            }
            if count == -Int(EINTR) { continue }
            guard count > 0 else { throw SystemCallError("send", "companion", negative: CInt(count)) }
            sent += count
        }
    }

    /// The next message, and the descriptor that came with it (-1: none); nil at the end of the stream.
    func receive(limit: Int) throws(SystemCallError) -> (message: [UInt8]?, passed: CInt) {
        var passed: CInt = -1
        guard let head = try read(4, &passed) else { return (nil, passed) }
        let length = head.reduce(0) { $0 << 8 | Int($1) }
        guard length <= limit else {
            if passed >= 0 { _ = close(passed) }
            throw SystemCallError("receive", "companion", errno: .messageTooLong)
        }
        return (try read(length, &passed), passed)
    }

    /// So many octets; nil when the stream ends before.
    private func read(_ length: Int, _ passed: inout CInt) throws(SystemCallError) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: length)
        var filled = 0
        while filled < length {
            var came: CInt = -1
            let count = unsafe bytes.withUnsafeMutableBytes { bytes in
                let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[filled...])
                return unsafe clinux_receive_with_descriptor(number, rest.baseAddress, rest.count, &came)
            }
            if came >= 0 {
                if passed >= 0 { _ = close(passed) }
                passed = came
            }
            if count == -Int(EINTR) { continue }
            guard count >= 0 else { throw SystemCallError("receive", "companion", negative: CInt(count)) }
            guard count > 0 else { return nil }
            filled += count
        }
        return bytes
    }
}
