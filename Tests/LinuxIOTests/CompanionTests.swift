/// The line between the daemon and its companion; the companion's end runs on a thread here.

import Glibc
import Synchronization
import Testing

@testable import LinuxIO

@Suite struct CompanionTests {
    /// A companion that answers with its request and an octet more, and the thread that it is.
    private static func start(
        _ answer: @escaping @Sendable ([UInt8]) -> [UInt8] = { $0 + [7] }
    ) throws -> (companion: Companion, thread: ThreadBox, theirs: CInt) {
        var ends: [CInt] = [-1, -1]
        try #require(unsafe socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &ends) == 0)
        let number = ends[1]
        let thread = try WorkerThread.start(name: "companion") {
            Companion.serve(OwnedDescriptor(owning: number), answer)
        }
        return (Companion(socket: OwnedDescriptor(owning: ends[0])), ThreadBox(thread), number)
    }

    final class ThreadBox: Sendable {
        private let thread: Mutex<WorkerThread?>

        init(_ thread: consuming WorkerThread) { self.thread = Mutex(thread) }

        func join() { thread.withLock { $0.take()?.join() } }
    }

    @Test("requests of any length come back as answers, one after the other")
    func answers() throws {
        let (companion, thread, _) = try Self.start()
        for length in [0, 1, 3, 4, 5, 4096, 1 << 20, Companion.requestLimit] {
            let request = [UInt8](repeating: UInt8(truncatingIfNeeded: length), count: length)
            #expect(try companion.ask(request) == request + [7], "\(length)")
        }
        #expect(companion.ending == nil)
        companion.end()
        thread.join()
        #expect(throws: SystemCallError.self) { try companion.ask([1]) }
    }

    @Test("what is too long is refused before it is sent, and nothing is lost by it")
    func tooLong() throws {
        let (companion, thread, _) = try Self.start()
        #expect(throws: SystemCallError("ask the companion", errno: .messageTooLong)) {
            try companion.ask([UInt8](repeating: 0, count: Companion.requestLimit + 1))
        }
        #expect(try companion.ask([1]) == [1, 7])
        companion.end()
        thread.join()
    }

    @Test("a companion that ends is noticed, and everybody who asks is told")
    func ends() throws {
        var ends: [CInt] = [-1, -1]
        try #require(unsafe socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &ends) == 0)
        let companion = Companion(socket: OwnedDescriptor(owning: ends[0]))
        #expect(companion.ending == nil)
        _ = close(ends[1])
        #expect(companion.ending != nil)
        #expect(throws: SystemCallError.self) { try companion.ask([1]) }
    }

    @Test(
        "nonsense ends a companion, and never has it answer",
        arguments: [
            // Longer than any request; a length without its octets; half a length.
            [0xff, 0xff, 0xff, 0xff], [0, 0, 0, 9, 1], [0, 0],
        ] as [[UInt8]])
    func nonsense(bytes: [UInt8]) throws {
        var ends: [CInt] = [-1, -1]
        try #require(unsafe socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &ends) == 0)
        let number = ends[1]
        let asked = Flag()
        let thread = try WorkerThread.start(name: "companion") {
            Companion.serve(OwnedDescriptor(owning: number)) { _ in
                asked.set()
                return []
            }
        }
        let sent = unsafe bytes.withUnsafeBytes { unsafe write(ends[0], $0.baseAddress, $0.count) }
        #expect(sent == bytes.count)
        _ = shutdown(ends[0], CInt(SHUT_WR))
        thread.join()
        #expect(!asked.isSet)
        _ = close(ends[0])
    }

    final class Flag: Sendable {
        private let value = Atomic<Bool>(false)
        var isSet: Bool { value.load(ordering: .relaxed) }

        func set() { value.store(true, ordering: .relaxed) }
    }

    @Test("the lock of a change goes along, and lasts until the answer")
    func lock() throws {
        let directory = "/tmp/starship-lock-\(getpid())"
        defer { _ = unsafe rmdir(directory) }
        // While it answers, the one who asked has let go: whoever else wants the lock has to wait all the same.
        let probe: @Sendable ([UInt8]) -> [UInt8] = { _ in
            let number = unsafe open(directory, O_RDONLY | O_DIRECTORY)
            defer { _ = close(number) }
            return [flock(number, LOCK_EX | LOCK_NB) == 0 ? 1 : 0]
        }
        let (companion, thread, _) = try Self.start(probe)
        let during = try ChangeLock.hold(directory) { () throws(SystemCallError) in try companion.ask([]) }
        #expect(during == [0])
        // What travels is meant to outlive a program's start, so a child that another test starts just then has it,
        // too.
        let isFree = (0..<600).contains { _ in
            if (try? companion.ask([])) == [1] { return true }
            usleep(100_000)
            return false
        }
        #expect(isFree)
        companion.end()
        thread.join()
    }

    @Test("a thread's rights are read as proc_pid_status(5) writes them")
    func states() {
        let text = """
            Name:\tstarshipd
            CapInh:\t0000000000000000
            CapPrm:\t0000000000001000
            CapEff:\t0000000000003000
            CapBnd:\t000001ffffffffff
            NoNewPrivs:\t1
            Seccomp:\t2
            Seccomp_filters:\t1
            """
        let state = ThreadState(7, parsing: text)
        #expect(state.permitted == .networkAdministration)
        #expect(state.effective == [.networkAdministration, .rawNetwork])
        #expect(state.bounding.rawValue == 0x1ff_ffff_ffff)
        #expect(state.refusesNewPrivileges && state.isFiltered)
        let open = ThreadState(7, parsing: "CapPrm:\tno number\nNoNewPrivs:\t0\nSeccomp:\t0\n")
        #expect(open.permitted.rawValue == .max, "what cannot be read counts as everything")
        #expect(!open.refusesNewPrivileges && !open.isFiltered)
        var thread = ThreadState(7, parsing: "CapPrm:\t0000000000001000\nCapEff:\t0000000000001000\n")
        #expect(thread.keepsNothing(but: .networkAdministration) && !thread.keepsNothing(but: .rawNetwork))
        thread.inheritable = .networkAdministration
        #expect(!thread.keepsNothing(but: .networkAdministration), "it would be the ambient set of a program")
        #expect("\(Capabilities([.networkAdministration, .rawNetwork]))" == "net_admin,net_raw")
        #expect("\(Capabilities())" == "none")
    }
}
