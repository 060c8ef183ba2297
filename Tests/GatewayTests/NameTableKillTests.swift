/// The table of names in processes that are killed, and on a disk that is full.

import Addresses
import Bytes
import Glibc
import LinuxIO
import Names
import Store
import TestSupport
import Testing

@testable import Gateway

@Suite struct NameTableKillTests {
    @Test("no kill -9 gives a told address another name (B102)", .timeLimit(.minutes(15)))
    func killedAgainAndAgain() async throws {
        let directory = Asking.directory(of: getpid())
        Scratch.remove(directory)
        var told = Told()
        for round in 0..<LongRun.rounds(12, long: 200) {
            await #expect(processExitsWith: .signal(SIGKILL)) { try Asking.run(parent: getppid()) }
            // Killed before it said anything, the process has left no file.
            try told.read((try? Scratch.bytes("\(directory)/told")) ?? [])
            let loaded = try NameTable.load(pool: Asking.pool(), directory: directory) { report in
                guard case .restored = report else {
                    Issue.record("round \(round): \(report)")
                    return
                }
            }
            var lost = 0
            for (address, name) in told.names {
                let found = loaded.table.name(of: try #require(IPAddress(parsing: address)))
                // A name whose query was not answered may have got the address; here it need not rest before.
                let isTrue = found.map { $0 == name || told.unanswered.contains($0) }
                #expect(isTrue != false, "round \(round): \(address) was \(name) and is \(found ?? "nothing")")
                if isTrue == nil { lost += 1 }
            }
            // Where the disk stood still for 20 ms, a reserved address left without its record: it stands for nothing.
            #expect(lost <= NameTable.reservation(loaded.table.range), "round \(round)")
        }
        #expect(told.count > 100)
        Scratch.remove(directory)
    }

    @Test func aFullDiskIsReportedOnceAndTheWholeMapIsWrittenWhenThereIsRoom() async {
        await #expect(processExitsWith: .success) { try FullDisk.run() }
    }
}

/// What all processes so far have told their devices.
private struct Told {
    /// The name that was told last for each address.
    var names: [String: String] = [:]
    /// Names whose last query was not answered: the disk was slow, or the process ended.
    var unanswered: Set<String> = []
    var count = 0

    mutating func read(_ bytes: [UInt8]) throws {
        self = Told()
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            let words = line.split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) }
            if words.count == 2, words[0] == "?" { unanswered.insert(words[1]) }
            if words.count == 3, words[0] == "=" {
                names[words[1]] = words[2]
                unanswered.remove(words[2])
                count += 1
            }
        }
    }
}

/// A process that answers queries until it is killed, and notes each before and after.
private enum Asking {
    static func directory(of parent: pid_t) -> String { "/tmp/starship-asking-\(parent)" }

    /// 47 addresses, reused without any rest.
    static func pool() throws -> FakePool {
        var limits = FakePool.Limits()
        (limits.rest, limits.restUnderPressure) = (.zero, .zero)
        return FakePool(
            v4: try NameTableTests.prefix("198.18.0.0/26"), v6: try NameTableTests.prefix("2001:2::/48"),
            limits: limits)
    }

    static func run(parent: pid_t) throws {
        let directory = directory(of: parent)
        var random = SystemRandom()
        let pause = UInt32.random(in: 0..<60_000, using: &random)
        try WorkerThread.startDetached(name: "killer") {
            usleep(pause)
            kill(getpid(), SIGKILL)
        }
        let table = NameTable.start(pool: try pool(), directory: directory) { _ in }
        let log = unsafe open("\(directory)/told", O_WRONLY | O_CREAT | O_APPEND, 0o600)
        func say(_ text: String) { _ = unsafe write(log, text, text.utf8.count) }
        try WorkerThread.startDetached(name: "flows") { openAndClose(table) }
        while true {
            let name = "n\(Int.random(in: 0..<100, using: &random)).test"
            say("? \(name)\n")
            let address = table.address(for: name, .ipv4, device: NameTableTests.phone, now: Clock.now())
            if let address { say("= \(address) \(name)\n") }
        }
    }

    /// Holds up to ten flows to any of the addresses.
    private static func openAndClose(_ table: NameTable) {
        var random = SystemRandom()
        var flows: [IPAddress] = []
        while true {
            let address = IPAddress(v4: 0xc612_0000 + UInt32.random(in: 16..<63, using: &random))
            if case .fake = table.open(address, for: NameTableTests.phone, now: Clock.now()) { flows.append(address) }
            if flows.count > 10 { table.close(flows.removeFirst(), now: Clock.now()) }
            usleep(50)
        }
    }
}

/// In a process of its own: a limit on the size of files stands for the end of the disk.
private enum FullDisk {
    static func run() throws {
        signal(SIGXFSZ, SIG_IGN)
        let scratch = try Scratch()
        let reports = NameTableTests.Reports()
        var loaded = try NameTable.load(
            pool: try NameTableTests.pool(), directory: scratch.directory, report: reports.take)
        let table = loaded.table
        limitFiles(to: 2000)
        var told: [IPAddress: String] = [:]
        for number in 0..<200 {
            let address = table.address(for: "n\(number).test", .ipv4, device: NameTableTests.phone, now: Clock.now())
            // It is the keeper that is slow here; once nothing can be written every answer leaves.
            if let address { told[address] = "n\(number).test" }
            if number % 10 == 0 { _ = loaded.keeper.step(Clock.now()) }
        }
        precondition(table.progress?.isOff == true && told.count > 150)
        guard reports.all.count == 1, case .failed(.system(let error)) = reports.all[0] else {
            preconditionFailure("\(reports.all)")
        }
        precondition(error.call == "write" && error.errno == ErrorNumber(rawValue: EFBIG), "\(error)")

        // Still no room: it is tried again, and nobody is told twice.
        _ = loaded.keeper.step(Clock.now() + .seconds(11))
        precondition(reports.all.count == 1 && table.progress?.isOff == true)
        limitFiles(to: Int(Int32.max))
        _ = loaded.keeper.step(Clock.now() + .seconds(22))
        precondition(reports.all.last == .resumed && table.progress?.isOff == false, "\(reports.all)")

        let other = try Scratch()
        try Scratch.put(Scratch.bytes("\(scratch.directory)/fake-map"), "\(other.directory)/fake-map")
        let again = try NameTable.load(pool: try NameTableTests.pool(), directory: other.directory) { _ in }
        for (address, name) in told { precondition(again.table.name(of: address) == name) }
    }

    private static func limitFiles(to size: Int) {
        var limit = rlimit()
        precondition(unsafe getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
        limit.rlim_cur = UInt(size)
        precondition(unsafe setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
    }
}
