/// The rest of the kernel's side: clock, names, interfaces, files.

import Addresses
import Bytes
import Glibc
import LinuxIO
import Testing

@Suite("System")
struct SystemTests {
    @Test func theMonotonicClockNeverStepsBack() {
        var last = Clock.now()
        for _ in 0..<1000 {
            let now = Clock.now()
            #expect(now >= last)
            last = now
        }
    }

    /// Expected values from date(1): `date -u -d @N +%FT%TZ`.
    @Test(
        "writes calendar times as RFC 3339 does",
        arguments: [
            (0, 0, "1970-01-01T00:00:00.000Z"),
            (951_782_399, 999_999_999, "2000-02-28T23:59:59.999Z"),
            (951_782_400, 0, "2000-02-29T00:00:00.000Z"),
            (4_102_444_800, 250_000_000, "2100-01-01T00:00:00.250Z"),
            (4_107_542_400, 0, "2100-03-01T00:00:00.000Z"),
            (-1, 0, "1969-12-31T23:59:59.000Z"),
        ] as [(Int64, Int32, String)])
    func calendar(seconds: Int64, nanoseconds: Int32, text: String) {
        #expect("\(UnixTime(seconds: seconds, nanoseconds: nanoseconds))" == text)
    }

    @Test func theCalendarIsTheSystems() {
        let before = Int64(time(nil))
        let now = Clock.unixTime()
        #expect(now.seconds >= before)
        #expect(now.seconds <= before + 5)
    }

    /// nproc(1) counts as we do, affinity included.
    @Test func processorsAreAsManyAsNprocSays() throws {
        let said = try Tool.run("nproc", [], input: "").output
        #expect("\(Processors.count())\n" == said)
    }

    @Test func randomNumbersDiffer() {
        var random = SystemRandom()
        let drawn = Set((0..<100).map { _ in random.next() })
        #expect(drawn.count == 100)
    }

    @Test func errorsSpeakTheKernelsWords() {
        #expect("\(ErrorNumber.descriptorInBadState)" == "File descriptor in bad state")
        #expect(
            "\(SystemCallError("connect", "192.0.2.1:80", errno: .timedOut))"
                == "connect 192.0.2.1:80: Connection timed out")
        #expect("\(ErrorNumber(rawValue: 9999))" == "error 9999")
        #expect(ErrorNumber.descriptorInBadState.rawValue == 77)
    }

    @Test func loopbackIsKnown() throws {
        let addresses = try NetworkInterface.addresses()
        let home = NetworkInterface.Address(interface: "lo", address: IPAddress(v4: 0x7f00_0001), prefixLength: 8)
        #expect(addresses.contains(home))
        #expect(try NetworkInterface.index(of: "lo") == 1)
        #expect(try NetworkInterface.mtu(of: "lo") == 65_536)
        #expect(throws: SystemCallError("ioctl SIOCGIFMTU", "nowhere0", errno: .noSuchDevice)) {
            try NetworkInterface.mtu(of: "nowhere0")
        }
    }

    @Test func theJournalsStreamIsRecognisedByDeviceAndInode() throws {
        var status = stat()
        try #require(unsafe fstat(2, &status) == 0)
        unsafe setenv("JOURNAL_STREAM", "\(status.st_dev):\(status.st_ino)", 1)
        #expect(StandardError.isJournal)
        unsafe setenv("JOURNAL_STREAM", "\(status.st_dev):\(status.st_ino + 1)", 1)
        #expect(!StandardError.isJournal)
        unsafe unsetenv("JOURNAL_STREAM")
        #expect(!StandardError.isJournal)
    }

    @Test func theProcessKnowsItsSize() {
        #expect(ProcessMemory.resident() > 1 << 20)
        #expect(ProcessMemory.ofMachine() > ProcessMemory.resident())
        #expect(ProcessMemory.available() <= ProcessMemory.ofMachine())
        #expect(ProcessMemory.available() > ProcessMemory.resident())
    }

    @Test func aToolsExitStatusComesBack() throws {
        #expect(try Tool.run("sh", ["-c", "exit 3"]) == 3)
        #expect(try Tool.run("sh", ["-c", "kill -9 $$"]) == 128 + 9)
        #expect(throws: SystemCallError("posix_spawn", "no-such-tool", errno: .noSuchFile)) {
            try Tool.run("no-such-tool", [])
        }
    }
}

@Suite("Small files")
struct SmallFileTests {
    /// A file that is removed at the end of the test.
    private static func withFile(
        _ content: String, mode: mode_t, _ body: (String) throws -> Void
    ) throws {
        let path = "/tmp/starship-test-\(SystemRandom().number)"
        let number = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL, 0o600)
        try #require(number >= 0)
        defer { unsafe unlink(path) }
        _ = unsafe write(number, content, content.utf8.count)
        fchmod(number, mode)
        close(number)
        try body(path)
    }

    @Test func readsWholeFilesUpToALimit() throws {
        let text = String(repeating: "0123456789", count: 5000)
        try Self.withFile(text, mode: 0o644) { path in
            let read = try SmallFile.read(path, limit: 50_000)
            #expect(read == Array(text.utf8))
            #expect(throws: FileError.tooLarge(path: path, limit: 49_999)) {
                try SmallFile.read(path, limit: 49_999)
            }
        }
    }

    @Test func aSecretIsForItsOwnerAlone() throws {
        try Self.withFile("hush", mode: 0o600) { path in
            let secret = try SmallFile.readSecret(path)
            #expect(secret == Array("hush".utf8))
        }
        try Self.withFile("hush", mode: 0o640) { path in
            let error = #expect(throws: FileError.self) { try SmallFile.readSecret(path) }
            #expect(error == .readableByOthers(path: path, mode: 0o640))
            #expect("\(error!)" == "\(path): others may read this secret (mode 0640); chmod 600 it")
        }
    }

    @Test func whatIsNotAFileIsRefused() {
        #expect(throws: FileError.notRegular(path: "/tmp")) { try SmallFile.read("/tmp", limit: 10) }
        #expect(throws: FileError.system(SystemCallError("open", "/no/such", errno: .noSuchFile))) {
            try SmallFile.read("/no/such", limit: 10)
        }
    }
}

extension SystemRandom {
    fileprivate var number: UInt64 {
        var random = self
        return random.next()
    }
}
