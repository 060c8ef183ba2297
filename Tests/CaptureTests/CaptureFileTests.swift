/// The files: lengths, times, filters, turning over, and what is left after a kill.

import Bytes
import Capture
import Glibc
import TestSupport
import Testing

@Suite("Capture files")
struct CaptureFileTests {
    static let noon = UnixTime(seconds: 1_785_585_600, nanoseconds: 123_456_789)

    /// An IPv4 packet (RFC 791) of protocol 253, which is for experiments (RFC 3692), of this length.
    static func packet(_ length: Int) -> [UInt8] {
        [0x45, 0, UInt8(length >> 8), UInt8(length & 0xff), 0, 0, 0, 0, 64, 253, 0, 0, 10, 9, 0, 2, 198, 51, 100, 10]
            + [UInt8](repeating: 0x5a, count: length - 20)
    }

    /// An IPv6 packet (RFC 8200) without payload from fd00:9::2.
    static let packet6: [UInt8] = hex(
        "60000000 0000 3b40 fd000009000000000000000000000002 20010db8005100000000000000000010")

    static func time() -> UnixTime {
        var now = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &now)
        return UnixTime(seconds: Int64(now.tv_sec), nanoseconds: Int32(now.tv_nsec))
    }

    @Test("B225: a cut packet keeps its true length, and the header is one that readers accept")
    func lengths() throws {
        let scratch = try Scratch()
        let path = scratch.path("cut.pcap")
        var writer = try CaptureWriter(CaptureSettings(path: path, snapLength: 96))
        for length in [60, 96, 97, 1400] { try writer.record(Self.packet(length).span, at: Self.noon) }
        try writer.record(Self.packet6.span, at: Self.noon)
        try writer.flush()
        let file = try Scratch.bytes(path)
        #expect(file.word(at: 0) == 0xa1b2_c3d4)
        #expect(file.word(at: 16) == 96)
        #expect(file.word(at: 20) == 101)
        #expect(file.recordLengths == [[60, 60], [96, 96], [96, 97], [96, 1400], [40, 40]])
    }

    @Test("B225: the snap length stays within what readers accept", arguments: [0, 262_144, 262_145, Int(UInt32.max)])
    func snapLength(wanted: Int) throws {
        let scratch = try Scratch()
        let path = scratch.path("snap.pcap")
        _ = try CaptureWriter(CaptureSettings(path: path, snapLength: wanted))
        let snapLength = try Scratch.bytes(path).word(at: 16)
        #expect((1...262_144).contains(snapLength))
        let read = try CaptureReader(path: path).snapLength
        #expect(read == Int(snapLength))
    }

    @Test(
        "B226: each packet has the time at which it was captured",
        arguments: [CaptureSettings.Precision.microseconds, .nanoseconds])
    func times(precision: CaptureSettings.Precision) throws {
        let scratch = try Scratch()
        let path = scratch.path("time.pcap")
        var writer = try CaptureWriter(CaptureSettings(path: path, precision: precision))
        let before = Self.time()
        try writer.record(Self.packet(60).span, at: Self.time())
        usleep(250_000)
        try writer.record(Self.packet(60).span, at: Self.time())
        try writer.flush()

        let file = try Scratch.bytes(path)
        let unit: UInt32 = precision == .nanoseconds ? 1 : 1000
        #expect(file.word(at: 0) == (precision == .nanoseconds ? 0xa1b2_3c4d : 0xa1b2_c3d4))
        for offset in [24, 24 + 16 + 60] {
            #expect(Int64(file.word(at: offset)) - before.seconds < 5)
            #expect(file.word(at: offset + 4) < 1_000_000_000 / unit)
        }
        var reader = try CaptureReader(path: path)
        let (first, second) = (try reader.next(), try reader.next())
        let times = try [#require(first).time, #require(second).time].map {
            $0.seconds * 1_000_000_000 + Int64($0.nanoseconds)
        }
        let start = before.seconds * 1_000_000_000 + Int64(before.nanoseconds)
        #expect(times[0] - start > -1000 && times[0] - start < 50_000_000)
        #expect((200_000_000...400_000_000).contains(times[1] - times[0]))
    }

    @Test("B226: every flushed record can be read after a kill")
    func kill() async throws {
        await #expect(processExitsWith: .signal(SIGKILL)) { try Killed.run(parent: getppid()) }
        let path = Killed.path(parent: getpid())
        defer { unsafe unlink(path) }
        var reader = try CaptureReader(path: path)
        for number in 0..<200 {
            let packet = try reader.next()
            #expect(packet?.bytes == Self.packet(40 + number))
        }
    }

    @Test func aFileCutOffInARecordGivesAllBefore() throws {
        let scratch = try Scratch()
        let path = scratch.path("whole.pcap")
        var writer = try CaptureWriter(CaptureSettings(path: path))
        for length in [100, 200, 300] { try writer.record(Self.packet(length).span, at: Self.noon) }
        try writer.flush()
        try #require(unsafe truncate(path, off_t(24 + 16 + 100 + 16 + 200 + 16 + 299)) == 0)
        var reader = try CaptureReader(path: path)
        let first = try reader.next()
        #expect(first?.time == UnixTime(seconds: 1_785_585_600, nanoseconds: 123_456_000))
        #expect(first?.bytes == Self.packet(100))
        let second = try reader.next()
        #expect(second?.originalLength == 200)
        #expect(throws: CaptureError.self) { _ = try reader.next() }
    }

    @Test func whatDoesNotPassTheFilterIsNotWritten() throws {
        let scratch = try Scratch()
        let path = scratch.path("filtered.pcap")
        var writer = try CaptureWriter(CaptureSettings(path: path, filter: "ip6 or greater 100"))
        for length in [60, 99, 100] { try writer.record(Self.packet(length).span, at: Self.noon) }
        try writer.record(Self.packet6.span, at: Self.noon)
        try writer.flush()
        #expect(try Scratch.bytes(path).recordLengths == [[100, 100], [40, 40]])
        let counts = (writer.recorded, writer.passedOver)
        #expect(counts == (2, 2))
    }

    @Test(
        "a wrong filter is said in libpcap's words",
        arguments: ["tcp port", "port", "ether host", "host 1.2.3.400", "tcp[0] = = 1"])
    func wrongFilter(text: String) throws {
        let scratch = try Scratch()
        let path = scratch.path("none.pcap")
        let error = #expect(throws: CaptureError.self) {
            _ = try CaptureWriter(CaptureSettings(path: path, filter: text))
        }
        guard case .filter(text, let reason) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(!reason.isEmpty)
        // A refused capture leaves no file behind.
        #expect(scratch.names == [])
    }

    /// Otherwise whoever asks for a capture waits for a resolver, and so does everybody behind them.
    @Test(
        "a name that would be looked up is refused before it is",
        arguments: [
            ("host a.example", "a.example"), ("tcp prot 443", "prot"), ("port 80 or host a", "a"),
            ("1.2.3.4.5", "1.2.3.4.5"),
            ("port domain or udp a.example", "a.example"), ("net lab", "lab"), ("src 1000.9", "1000.9"),
            ("Host", "Host"),
            ("host \\tcp", "\\tcp"), ("host 80-90", "80-90"), ("host 0x", "0x"), ("src port 1 and dst ä", "ä"),
            ("(a)", "a"),
            ("ether host ab:cd:ef:01:02:0g", "ab:cd:ef:01:02:0g"),
        ])
    func names(text: String, name: String) {
        #expect(
            throws: CaptureError.filter(
                text: text, reason: "found the name `\(name)`; expected an address: no names are looked up")
        ) { _ = try CaptureFilter(text) }
    }

    @Test(
        "what is looked up on this machine alone, or not at all, stays",
        arguments: [
            "port domain", "tcp port https or smtp", "portrange 80-90", "ip proto \\udp",
            "ip6 and (tcp or udp) and port 53",
            "tcp[tcpflags] & (tcp-syn|tcp-fin) != 0", "ip[2:2] > 0x40 and len <= 1500", "src net 10.9",
            "net 10.9.0.0/24",
            "host 2001:db8::1 and not dst host 192.0.2.1", "icmp[icmptype] = icmp-echo", "net 10.0.0.0 mask 255.0.0.0",
            "",
        ])
    func noNames(text: String) throws { _ = try CaptureFilter(text) }

    /// The longest filter that the API takes; shortened, it took 18 seconds of the processor's time.
    @Test func theLongestFilterIsReadyInAMoment() throws {
        let text = "portrange 1-65535" + String(repeating: " or portrange 1-2", count: 239)
        #expect((4000...4096).contains(text.utf8.count))
        let before = try Self.processorSeconds()
        let filter = try CaptureFilter(text)
        #expect(try Self.processorSeconds() - before < 6)
        // Of UDP, port 23130; and without ports.
        var datagram = Self.packet(40)
        datagram[9] = 17
        let passed = (filter.passes(datagram.span), filter.passes(Self.packet(40).span))
        #expect(passed == (true, false))
    }

    private static func processorSeconds() throws -> Double {
        var time = timespec()
        try #require(unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    @Test func anEndInTheMiddleOfAFilterIsRefused() {
        #expect(throws: CaptureError.self) { _ = try CaptureFilter("tcp\0 port 443") }
    }

    @Test func fullFilesTurnOverAndTheOldestGoes() throws {
        let scratch = try Scratch()
        let path = scratch.path("turn.pcap")
        var writer = try CaptureWriter(CaptureSettings(path: path, fileSize: 5000, fileCount: 3))
        // 24 + 4 × (16 + 1000) = 4088 octets fit, five packets do not.
        for number in 0..<18 { try writer.record(Self.packet(1000 - number).span, at: Self.noon) }
        try writer.flush()
        #expect(scratch.names == ["turn.pcap", "turn.pcap.1", "turn.pcap.2"])
        let lengths = try ["turn.pcap", "turn.pcap.1", "turn.pcap.2"].map {
            try Scratch.bytes(scratch.path($0)).recordLengths.map { 1000 - $0[0] }
        }
        #expect(lengths == [[16, 17], [12, 13, 14, 15], [8, 9, 10, 11]])
    }

    @Test func aCaptureIsForItsOwnerAlone() throws {
        let scratch = try Scratch()
        let path = scratch.path("mine.pcap")
        _ = try CaptureWriter(CaptureSettings(path: path))
        var status = stat()
        try #require(unsafe stat(path, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600)
        let link = scratch.path("link.pcap")
        try #require(unsafe symlink(path, link) == 0)
        #expect(throws: CaptureError.file(path: link, reason: "Too many levels of symbolic links")) {
            _ = try CaptureWriter(CaptureSettings(path: link))
        }
    }

    @Test func aFullDiskIsReported() throws {
        guard unsafe access("/dev/full", W_OK) == 0 else { return }
        let writer = try CaptureWriter(CaptureSettings(path: "/dev/full"))
        #expect(throws: CaptureError.file(path: "/dev/full", reason: "No space left on device")) { try writer.flush() }
    }
}

/// A process that captures and is killed.
private enum Killed {
    static func path(parent: pid_t) -> String { "/tmp/starship-killed-\(parent).pcap" }

    static func run(parent: pid_t) throws {
        var writer = try CaptureWriter(CaptureSettings(path: path(parent: parent)))
        for number in 0..<200 {
            try writer.record(CaptureFileTests.packet(40 + number).span, at: CaptureFileTests.noon)
        }
        try writer.flush()
        try writer.record(CaptureFileTests.packet(1000).span, at: CaptureFileTests.noon)
        raise(SIGKILL)
    }
}
