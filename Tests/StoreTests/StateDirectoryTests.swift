/// Files that are replaced as a whole, or not at all.

import Glibc
import LinuxIO
import TestSupport
import Testing

@testable import Store

@Suite struct StateDirectoryTests {
    @Test func aFileIsReplacedAndReadBack() throws {
        let scratch = try Scratch()
        let directory = try StateDirectory(scratch.directory)
        let nothing = try directory.read("state", limit: 100)
        #expect(nothing == nil)
        for text in ["first", "second, which is longer", "3"] {
            try directory.replace("state", with: Array(text.utf8).span)
            let found = try directory.read("state", limit: 100)
            #expect(found == Array(text.utf8))
        }
        let names = scratch.names
        #expect(names == ["state"])
        var status = stat()
        let isThere = unsafe stat("\(scratch.directory)/state", &status) == 0
        #expect(isThere)
        #expect(status.st_mode & 0o777 == 0o600)
    }

    @Test func theLastPartOfThePathIsMadeForItsOwnerAlone() throws {
        let scratch = try Scratch()
        let path = "\(scratch.directory)/state"
        do {
            let directory = try StateDirectory(path)
            try directory.replace("a", with: [1].span)
            var status = stat()
            _ = unsafe stat(path, &status)
            #expect(status.st_mode & 0o777 == 0o700)
        }
        unsafe unlink("\(path)/a")
        unsafe rmdir(path)
        #expect(throws: StoreError.system(SystemCallError("mkdir", "\(path)/b/c", errno: .noSuchFile))) {
            _ = try StateDirectory("\(path)/b/c")
        }
    }

    @Test func twoProcessesNeverKeepTheirStateInOnePlace() throws {
        let scratch = try Scratch()
        do {
            let first = try StateDirectory(scratch.directory)
            #expect(throws: StoreError.inUse(path: scratch.directory)) { _ = try StateDirectory(first.path) }
        }
        _ = try StateDirectory(scratch.directory)
    }

    @Test func whatLiesInTheWayOfTheUnfinishedFileIsNeverFollowed() throws {
        let scratch = try Scratch()
        let directory = try StateDirectory(scratch.directory)
        try Scratch.put([7], "\(scratch.directory)/victim")
        unsafe symlink("victim", "\(scratch.directory)/state.new")
        try directory.replace("state", with: [1, 2].span)
        let (victim, state) = (
            try directory.read("victim", limit: 10), try directory.read("state", limit: 10)
        )
        #expect(victim == [7])
        #expect(state == [1, 2])
    }

    @Test func aFileThatCannotBeUsedIsSetAside() throws {
        let scratch = try Scratch()
        let directory = try StateDirectory(scratch.directory)
        try directory.replace("state", with: [1].span)
        let name = try directory.setAside("state")
        let (old, aside) = (try directory.read("state", limit: 10), try directory.read(name, limit: 10))
        #expect(old == nil)
        #expect(aside == [1])
    }

    @Test func aFullDiskIsReportedAndTheOldFileIsUntouched() async {
        await #expect(processExitsWith: .success) { try FullDisk.run() }
    }

    @Test("a kill at any moment leaves the old file or the new one", .timeLimit(.minutes(5)))
    func killed() async throws {
        for _ in 0..<LongRun.rounds(5, long: 100) {
            let path = Replacing.path(of: getpid())
            await #expect(processExitsWith: .signal(SIGKILL)) { try Replacing.run(parent: getppid()) }
            do {
                let directory = try StateDirectory(path)
                let found = try #require(try directory.read("state", limit: 1 << 20))
                // A whole file is so many octets of one value.
                let value = try #require(found.first)
                #expect(found.count == 1000 + Int(value) * 100)
                #expect(found.allSatisfy { $0 == value })
            }
            for name in Scratch.names(path) { unsafe unlink("\(path)/\(name)") }
            unsafe rmdir(path)
        }
    }
}

/// In a process of its own: a limit on the size of files stands for the end of the disk.
private enum FullDisk {
    static func run() throws {
        let scratch = try Scratch()
        let directory = try StateDirectory(scratch.directory)
        try directory.replace("state", with: [1, 2, 3].span)
        limitFiles(to: 10_000)
        do throws(StoreError) {
            try directory.replace("state", with: [UInt8](repeating: 9, count: 20_000).span)
            preconditionFailure("the file is larger than it may be")
        } catch .system(let error) {
            precondition(error.errno == ErrorNumber(rawValue: EFBIG) && error.call == "write", "\(error)")
        }
        let found = try directory.read("state", limit: 100)
        precondition(found == [1, 2, 3])
        precondition(scratch.names == ["state"], "\(scratch.names)")

        var journal = try Journal.rewrite("log", in: directory, format: JournalTests.format, JournalBatch())
        var count = 0
        do throws(StoreError) {
            while true {
                try journal.append(JournalTests.batch(count..<count + 1))
                count += 1
            }
        } catch {}
        var read: [Int] = []
        let summary = try Journal.read("log", in: directory, format: JournalTests.format, limit: 1 << 20) {
            read.append(JournalTests.number($0))
        }
        precondition(read == Array(0..<count) && summary?.records == count && count > 100)
    }

    private static func limitFiles(to size: Int) {
        signal(SIGXFSZ, SIG_IGN)
        var limit = rlimit(rlim_cur: UInt(size), rlim_max: UInt(size))
        precondition(unsafe setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
    }
}

/// A process that replaces one file until it is killed.
private enum Replacing {
    static func path(of parent: pid_t) -> String { "/tmp/starship-replacing-\(parent)" }

    static func run(parent: pid_t) throws {
        let directory = try StateDirectory(path(of: parent))
        try directory.replace("state", with: content(0).span)
        var random = SystemRandom()
        let pause = UInt32.random(in: 0..<50_000, using: &random)
        try WorkerThread.startDetached(name: "killer") {
            usleep(pause)
            kill(getpid(), SIGKILL)
        }
        while true {
            for value in 0..<256 { try directory.replace("state", with: content(value).span) }
        }
    }

    private static func content(_ value: Int) -> [UInt8] {
        [UInt8](repeating: UInt8(value), count: 1000 + value * 100)
    }
}
