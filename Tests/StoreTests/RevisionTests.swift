/// The lab's state as revisions: what counts after each kind of damage, and what is kept.

import Bytes
import Digest
import Glibc
import LinuxIO
import TestSupport
import Testing

@testable import Store

@Suite struct RevisionTests {
    /// A state that follows from its number, so that one is never taken for another.
    static func state(_ number: Int) -> [UInt8] {
        Array("{\"active\":\"p\(number)\",\"filler\":\"\(String(repeating: "x", count: number % 50))\"}".utf8)
    }

    static func append(_ number: Int, to revisions: inout Revisions) throws(StoreError) {
        let given = try revisions.append(
            state: state(number), by: "root", how: "use", summary: "pixel-7 uses p\(number)", at: Int64(number) + 1000)
        precondition(given == number)
    }

    /// Makes a store with so many revisions and returns the folder of its files.
    static func store(_ count: Int, in scratch: borrowing Scratch) throws -> String {
        var revisions = try Revisions.open(in: scratch.directory)
        for number in 1...count { try append(number, to: &revisions) }
        return scratch.path("lab")
    }

    /// Opens a store again that this process has just closed.
    ///
    /// A child that another test has started a moment ago may still hold its descriptors, and with them the claim.
    static func reopen(_ state: String) throws -> Revisions {
        for _ in 0..<100 {
            do throws(StoreError) {
                return try Revisions.open(in: state)
            } catch .inUse {
                usleep(10_000)
            }
        }
        return try Revisions.open(in: state)
    }

    static func file(_ number: Int, in scratch: borrowing Scratch) -> String {
        let digits = String(number)
        return scratch.path("lab/lab-" + String(repeating: "0", count: 6 - digits.count) + digits)
    }

    static func clean(_ scratch: borrowing Scratch) { Scratch.remove(scratch.path("lab")) }

    @Test func aRevisionComesBackWithWhoMadeItWhenAndHow() throws {
        let scratch = try Scratch()
        defer { Self.clean(scratch) }
        do {
            var revisions = try Self.reopen(scratch.directory)
            #expect(revisions.current == nil)
            #expect(revisions.history.isEmpty)
            let number = try revisions.append(
                state: Array(#"{"devices":[]}"#.utf8), by: #"key "wall" \ 7"#, how: "link", summary: "Gerät heißt tv",
                at: 1_790_000_000)
            #expect(number == 1)
            try Self.append(2, to: &revisions)
        }
        let revisions = try Self.reopen(scratch.directory)
        let (current, history) = (revisions.current, revisions.history)
        #expect(current?.state == Self.state(2))
        #expect(history.map(\.number) == [2, 1])
        let first = try revisions.read(1)
        #expect(first.state == Array(#"{"devices":[]}"#.utf8))
        let summary = RevisionSummary(
            number: 1, at: 1_790_000_000, by: #"key "wall" \ 7"#, how: "link", summary: "Gerät heißt tv")
        #expect(first.summary == summary)
        #expect(revisions.recovered.isEmpty)
        #expect(throws: StoreError.noRevision(3, kept: 1...2)) { _ = try revisions.read(3) }
    }

    @Test func theFileIsALineAboutItselfAndJSONForItsOwnerAlone() throws {
        let scratch = try Scratch()
        defer { Self.clean(scratch) }
        _ = try Self.store(1, in: scratch)
        let bytes = try Scratch.bytes(Self.file(1, in: scratch))
        let body =
            #"{"number":1,"at":1001,"by":"root","how":"use","summary":"pixel-7 uses p1","state":"#
            + #"{"active":"p1","filler":"x"}}"# + "\n"
        // CRC-32 of "starship lab 1 112" and the body, by zlib.
        #expect(String(decoding: bytes, as: UTF8.self) == "starship lab 1 \(body.utf8.count) c6afafd9\n" + body)
        var status = stat()
        let isThere = unsafe stat(Self.file(1, in: scratch), &status) == 0
        #expect(isThere)
        #expect(status.st_mode & 0o777 == 0o600)
        _ = unsafe stat(scratch.path("lab"), &status)
        #expect(status.st_mode & 0o777 == 0o700)
    }

    @Test func whatAPersonWritesIsOneShortLine() {
        let summary = RevisionSummary(
            number: 1, at: 0, by: "a\nb\u{1b}[31m\u{2028}c", how: "", summary: String(repeating: "ä", count: 500))
        #expect(summary.by == "a b [31m c")
        #expect(summary.summary.unicodeScalars.count == 200)
    }

    @Test func twentyAreKept() throws {
        let scratch = try Scratch()
        defer { Self.clean(scratch) }
        let folder = try Self.store(47, in: scratch)
        #expect(Scratch.names(folder).count == 20)
        let revisions = try Self.reopen(scratch.directory)
        let numbers = revisions.history.map(\.number)
        #expect(numbers == Array((28...47).reversed()))
        let oldest = try revisions.read(28)
        #expect(oldest.state == Self.state(28))
        #expect(throws: StoreError.noRevision(27, kept: 28...47)) { _ = try revisions.read(27) }
    }

    @Test("a file that ends at any octet is set aside, and the one before it counts (B164)")
    func cutOffAnywhere() throws {
        let scratch = try Scratch()
        defer { Self.clean(scratch) }
        _ = try Self.store(3, in: scratch)
        let whole = try Scratch.bytes(Self.file(3, in: scratch))
        for length in 0..<whole.count {
            try Self.expectRecovery(Array(whole.prefix(length)), in: scratch, "\(length) octets")
        }
    }

    @Test("each flipped bit is noticed, and the one before it counts")
    func flippedAnywhere() throws {
        let scratch = try Scratch()
        defer { Self.clean(scratch) }
        _ = try Self.store(3, in: scratch)
        let whole = try Scratch.bytes(Self.file(3, in: scratch))
        for bit in 0..<whole.count * 8 {
            var damaged = whole
            damaged[bit / 8] ^= UInt8(1 << (bit % 8))
            try Self.expectRecovery(damaged, in: scratch, "bit \(bit)")
        }
    }

    /// Puts these octets into the place of revision 3 and expects that 2 counts and that it is said.
    private static func expectRecovery(_ bytes: [UInt8], in scratch: borrowing Scratch, _ what: Comment) throws {
        try Scratch.put(bytes, file(3, in: scratch))
        var revisions = try Self.reopen(scratch.directory)
        let (current, recovered) = (revisions.current, revisions.recovered)
        #expect(current?.number == 2, what)
        #expect(current?.state == state(2), what)
        try #require(recovered.count == 1, what)
        #expect(recovered[0].hasSuffix("set aside as lab-000003.unread; revision 2 counts"), what)
        // The number is not given again.
        try append(4, to: &revisions)
        unsafe unlink(file(4, in: scratch))
    }

    @Test("what was not finished when the program was killed takes no number: the next revision is the next one")
    func unfinishedTakesNoNumber() throws {
        let scratch = try Scratch()
        defer { Self.clean(scratch) }
        _ = try Self.store(2, in: scratch)
        let whole = try Scratch.bytes(Self.file(2, in: scratch))
        try Scratch.put(Array(whole.dropLast(3)), scratch.path("lab/lab-000003.new"))
        var revisions = try Self.reopen(scratch.directory)
        let (current, next) = (revisions.current?.number, revisions.next)
        #expect(current == 2 && next == 3)
        try Self.append(3, to: &revisions)
    }

    @Test func filesThatAreNoneOfOursAreSetAside() throws {
        let scratch = try Scratch()
        defer { Self.clean(scratch) }
        _ = try Self.store(2, in: scratch)
        try Scratch.put(Array("{ profiles: [] }\n".utf8), Self.file(7, in: scratch))
        // A copy of another revision.
        try Scratch.put(Scratch.bytes(Self.file(1, in: scratch)), Self.file(6, in: scratch))
        unsafe mkdir(Self.file(5, in: scratch), 0o700)
        try Scratch.put([UInt8](repeating: 0x20, count: 2 << 20), Self.file(4, in: scratch))
        // Other names are left alone.
        for name in ["README", "lab-3", "lab-0000003", "lab-x", "lab-000009.orig"] {
            try Scratch.put([1], scratch.path("lab/\(name)"))
        }
        try Scratch.put([1], scratch.path("lab/lab-000003.new"))
        let revisions = try Self.reopen(scratch.directory)
        let (current, recovered) = (revisions.current, revisions.recovered)
        #expect(current?.state == Self.state(2))
        let folder = scratch.path("lab")
        #expect(
            recovered
                == (4...7).reversed().map { number in
                    "\(folder)/lab-00000\(number): not a file of this program; set aside as lab-00000\(number).unread;"
                        + " revision 2 counts"
                })
        #expect(
            Scratch.names(folder) == [
                "README", "lab-0000003", "lab-000001", "lab-000002", "lab-000004.unread", "lab-000005.unread",
                "lab-000006.unread", "lab-000007.unread", "lab-000009.orig", "lab-3", "lab-x",
            ])
        unsafe rmdir(scratch.path("lab/lab-000005.unread"))
    }

    @Test func withoutAnyWholeRevisionTheLabStartsAnewAndSaysSo() throws {
        let scratch = try Scratch()
        defer { Self.clean(scratch) }
        _ = try Self.store(1, in: scratch)
        try Scratch.put([1, 2, 3], Self.file(1, in: scratch))
        var revisions = try Self.reopen(scratch.directory)
        let (isEmpty, recovered) = (revisions.current == nil, revisions.recovered)
        #expect(isEmpty)
        #expect(recovered.first?.hasSuffix("no revision is left, so the lab starts anew") == true)
        try Self.append(2, to: &revisions)
    }

    @Test func aNewerFormatIsRefusedWhole() throws {
        let scratch = try Scratch()
        defer { Self.clean(scratch) }
        let folder = try Self.store(3, in: scratch)
        let newer = RevisionFile.sealed(Array("whatever comes then".utf8), format: 2)
        try Scratch.put(newer, Self.file(4, in: scratch))
        let error = StoreError.newerFormat(path: "\(folder)/lab-000004", found: 2, known: 1)
        #expect(throws: error) { _ = try Self.reopen(scratch.directory) }
        #expect(
            "\(error)"
                == "\(folder)/lab-000004: written by a newer starshipd (format 2, this program knows 1): upgrade,"
                + " or move the file away")
        #expect(Scratch.names(folder) == ["lab-000001", "lab-000002", "lab-000003", "lab-000004"])
        // One that is moved away is out of the way; an older one harms nobody.
        unsafe rename(Self.file(4, in: scratch), Self.file(2, in: scratch))
        let revisions = try Self.reopen(scratch.directory)
        let numbers = revisions.history.map(\.number)
        #expect(numbers == [3, 1])
    }

    @Test func aRevisionThatIsDamagedLaterIsNotRead() throws {
        let scratch = try Scratch()
        defer { Self.clean(scratch) }
        let folder = try Self.store(3, in: scratch)
        let revisions = try Self.reopen(scratch.directory)
        try Scratch.put([1], Self.file(2, in: scratch))
        #expect(throws: StoreError.damaged(path: "\(folder)/lab-000002")) { _ = try revisions.read(2) }
    }

    @Test func oneProcessHasTheRevisionsAndLeavesTheDirectoryToOthers() throws {
        let scratch = try Scratch()
        defer { Self.clean(scratch) }
        let journals = try StateDirectory(scratch.directory)
        let revisions = try Revisions.open(in: journals.path)
        #expect(throws: StoreError.inUse(path: scratch.path("lab"))) {
            _ = try Revisions.open(in: scratch.directory)
        }
        #expect(revisions.history.isEmpty)
    }

    @Test func aStateThatCouldNotBeReadAgainIsNotWritten() throws {
        let scratch = try Scratch()
        defer { Self.clean(scratch) }
        let limit = Revisions.stateLimit
        do {
            var revisions = try Self.reopen(scratch.directory)
            #expect(throws: StoreError.tooLarge(octets: limit + 1, limit: limit)) {
                _ = try revisions.append(
                    state: [UInt8](repeating: 0x20, count: limit + 1), by: "", how: "", summary: "", at: 0)
            }
            _ = try revisions.append(
                state: [UInt8](repeating: 0x20, count: limit), by: "", how: "", summary: "", at: 0)
        }
        let revisions = try Self.reopen(scratch.directory)
        let count = revisions.current?.state.count
        #expect(count == limit)
    }

    @Test("what is written is read, and nothing else is", arguments: LongRun.seeds(20, long: 1000))
    func mutations(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let revision = Revision(
            summary: RevisionSummary(
                number: random.number(1..<1_000_000), at: Int64(random.number(0..<1 << 40)), by: "\"\\ü",
                how: String(decoding: random.bytes(20), as: UTF8.self), summary: ""),
            state: random.bytes(random.number(1..<200)))
        let bytes = RevisionFile.write(revision)
        #expect(try RevisionFile.parse(bytes) == revision)
        for _ in 0..<200 {
            // The body alone, so that the checksum fits.
            let start = try #require(bytes.firstIndex(of: 0x0a)) + 1
            var body = Array(bytes[start...])
            let place = random.number(0..<body.count)
            switch random.number(0..<3) {
            case 0: body[place] = UInt8(random.number(0..<256))
            case 1: body.remove(at: place)
            default: body.insert(UInt8(random.number(0..<256)), at: place)
            }
            let changed = RevisionFile.sealed(body, format: 1)
            if let read = try? RevisionFile.parse(changed) { #expect(RevisionFile.write(read) == changed) }
        }
    }
}
