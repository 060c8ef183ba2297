/// Revisions in processes that are killed, and on a disk that is full.

import Bytes
import Glibc
import LinuxIO
import TestSupport
import Testing

@testable import Store

@Suite struct RevisionKillTests {
    @Test("kill -9 at any moment leaves the old revision or the new one (B164)", .timeLimit(.minutes(10)))
    func killedAgainAndAgain() async throws {
        let directory = Appending.directory(of: getpid())
        defer { Appending.remove(directory) }
        Appending.remove(directory)
        var newest = 0
        for round in 0..<LongRun.rounds(12, long: 200) {
            await #expect(processExitsWith: .signal(SIGKILL)) { try Appending.run(parent: getppid()) }
            let log = String(decoding: (try? Scratch.bytes("\(directory)/told")) ?? [], as: UTF8.self)
            let told = log.split(separator: "\n").compactMap { Int($0) }.last ?? 0
            let revisions = try RevisionTests.reopen(directory)
            let (current, recovered) = (revisions.current, revisions.recovered)
            let number = current?.number ?? 0
            // The one that was being written when the kill came may count or not.
            #expect(number == told || number == told + 1, "round \(round): told \(told)")
            #expect(recovered.isEmpty, "round \(round)")
            if let current { #expect(current.state == RevisionTests.state(number), "round \(round)") }
            let numbers = revisions.history.map(\.number)
            #expect(numbers == Array((max(1, number - 19)...max(1, number)).reversed()) || number == 0)
            newest = number
        }
        #expect(newest > 0)
    }

    @Test("a disk without room leaves the former revision, and says so (B164)", .enabled(if: Disk.isAvailable))
    func fullDisk() throws {
        let scratch = try Scratch()
        try Disk.mount(on: scratch.directory)
        defer { Disk.unmount(scratch.directory) }
        try Self.fill(scratch.directory)
        let revisions = try RevisionTests.reopen(scratch.directory)
        let (current, recovered) = (revisions.current, revisions.recovered)
        #expect(current?.state == RevisionTests.state(2))
        #expect(recovered.isEmpty)
    }

    private static func fill(_ directory: String) throws {
        var revisions = try Revisions.open(in: directory)
        try RevisionTests.append(1, to: &revisions)
        let large = [UInt8](repeating: 0x20, count: 900_000)
        do throws(StoreError) {
            _ = try revisions.append(state: large, by: "root", how: "push", summary: "too much", at: 5)
            Issue.record("there was room")
        } catch {
            #expect("\(error)".hasSuffix("No space left on device"))
        }
        let (current, names) = (revisions.current, Scratch.names("\(directory)/lab"))
        #expect(current?.number == 1)
        #expect(names == ["lab-000001"])
        // With room it goes on, and nothing of the attempt is left.
        try RevisionTests.append(2, to: &revisions)
    }
}

/// A disk of 256 KiB.
private enum Disk {
    static let isAvailable = getuid() == 0 && canMount()

    static func mount(on directory: String) throws {
        let result = try Command.run(
            ["mount", "-t", "tmpfs", "-o", "size=256k,mode=700", "none", directory], in: "/tmp")
        try #require(result.status == 0, "\(result.errors)")
    }

    static func unmount(_ directory: String) { _ = try? Command.run(["umount", "-l", directory], in: "/tmp") }

    private static func canMount() -> Bool {
        guard let scratch = try? Scratch(), (try? mount(on: scratch.directory)) != nil else { return false }
        unmount(scratch.directory)
        return true
    }
}

/// A process that appends revisions until it is killed, and notes each when it counts.
private enum Appending {
    static func directory(of parent: pid_t) -> String { "/tmp/starship-appending-\(parent)" }

    static func remove(_ directory: String) {
        Scratch.remove("\(directory)/lab")
        Scratch.remove(directory)
    }

    static func run(parent: pid_t) throws {
        let directory = directory(of: parent)
        var random = SystemRandom()
        // Some are killed while they open the store; the first one, on a slow machine too, has something to show.
        let isLate = unsafe access("\(directory)/told", F_OK) != 0 || Bool.random(using: &random)
        let pause = UInt32.random(in: 0..<80_000, using: &random)
        if !isLate { try startKiller(pause) }
        var revisions = try Revisions.open(in: directory)
        let log = unsafe open("\(directory)/told", O_WRONLY | O_CREAT | O_APPEND, 0o600)
        var number = revisions.current?.number ?? 0
        func tell() {
            let line = "\(number)\n"
            _ = unsafe write(log, line, line.utf8.count)
        }
        tell()
        if isLate {
            number += 1
            try RevisionTests.append(number, to: &revisions)
            tell()
            try startKiller(pause)
        }
        while true {
            number += 1
            try RevisionTests.append(number, to: &revisions)
            tell()
        }
    }

    private static func startKiller(_ pause: UInt32) throws {
        try WorkerThread.startDetached(name: "killer") {
            usleep(pause)
            kill(getpid(), SIGKILL)
        }
    }
}
