/// The table of names: what it says of addresses, and what it promises across an end.

import Addresses
import Bytes
import Glibc
import LinuxIO
import Names
import Store
import Synchronization
import TestSupport
import Testing

@testable import Gateway

@Suite struct NameTableTests {
    static let phone = IPAddress(v4: 0x0a09_0002)
    static let tablet = IPAddress(v4: 0x0a09_0003)

    static func at(_ seconds: Int64) -> Instant { Instant(nanoseconds: 0) + .seconds(seconds) }

    /// A pool of 239 addresses.
    static func pool() throws -> FakePool {
        FakePool(v4: try prefix("198.18.0.0/24"), v6: try prefix("2001:2::/48"))
    }

    static func prefix(_ text: String) throws -> IPPrefix { try #require(IPPrefix(parsing: text)) }

    /// What the keeper reports.
    final class Reports: Sendable {
        private let list = Mutex<[NameKeeping]>([])
        var all: [NameKeeping] { list.withLock { $0 } }
        @Sendable func take(_ report: NameKeeping) { list.withLock { $0.append(report) } }
    }

    /// The name's address, asked for until the disk, which may be slow, has its record; for a minute at most.
    private static func address(for name: String, in table: NameTable) -> IPAddress? {
        let deadline = Clock.now() + .seconds(60)
        while Clock.now() < deadline {
            if let address = table.address(for: name, .ipv4, device: phone, now: Clock.now()) { return address }
        }
        return nil
    }

    @Test func anAddressIsAFakeOneWithOrWithoutANameOrARealOneWithItsNames() throws {
        let table = NameTable(pool: try Self.pool())
        let address = try #require(table.address(for: "app.test", .ipv4, device: Self.phone, now: Self.at(0)))
        #expect(table.open(address, for: Self.tablet, now: Self.at(1)) == .fake(name: "app.test"))
        table.close(address, now: Self.at(2))
        #expect(table.name(of: address) == "app.test")
        let unknown = try #require(IPAddress(parsing: "198.18.0.99"))
        #expect(table.open(unknown, for: Self.phone, now: Self.at(1)) == .unknownFake)
        #expect(table.isFake(unknown) && table.isFake(address))
        let real = IPAddress(v4: 0xcb00_7109)
        #expect(table.open(real, for: Self.phone, now: Self.at(1)) == .real(names: []))
        table.note(name: "www.test", addresses: [real], device: Self.phone, ttl: .seconds(60), now: Self.at(1))
        #expect(table.open(real, for: Self.phone, now: Self.at(2)) == .real(names: ["www.test"]))
        #expect(table.figures == (1, 239, 0, 1))
    }

    @Test("names and addresses are the same after a stop and a start (B102)")
    func survivesAStop() throws {
        let scratch = try Scratch()
        let reports = Reports()
        var addresses: [IPAddress?] = []
        for round in 0..<3 {
            let table = NameTable.start(pool: try Self.pool(), directory: scratch.directory, report: reports.take)
            let found = (0..<20).map { Self.address(for: "n\($0).test", in: table) }
            if round == 0 { addresses = found }
            #expect(found == addresses)
            #expect(Set(found.compactMap { $0 }).count == 20)
            table.stop()
        }
        #expect(reports.all.count == 2)
        guard case .restored(let last, dropped: 0) = try #require(reports.all.last), last.names == 20 else {
            Issue.record("\(reports.all)")
            return
        }
        // A stop leaves no reservation behind: the next name has the next address.
        let table = NameTable.start(pool: try Self.pool(), directory: scratch.directory, report: reports.take)
        let next = Self.address(for: "next.test", in: table)
        table.stop()
        #expect(next == IPAddress(parsing: "198.18.0.36"))
    }

    /// The keeper's steps and the crashes come at any time between the answers.
    @Test("whatever the keeper has written at a crash, a told address has its name or rests (B102)")
    func crashesBetweenAnswers() throws {
        let scratch = try Scratch()
        var random = SeededGenerator(seed: 102)
        var loaded = try NameTable.load(pool: try Self.pool(), directory: scratch.directory) { _ in }
        var told: [IPAddress: String] = [:]
        var resting = 0
        for number in 0..<230 {
            let name = "n\(number).test"
            if let address = loaded.table.address(for: name, .ipv6, device: Self.phone, now: Clock.now()) {
                told[address] = name
            }
            if random.chance(0.1) { _ = loaded.keeper.step(Clock.now()) }
            guard random.chance(0.1) else { continue }
            let other = try Self.afterACrash(of: scratch)
            let again = try NameTable.load(pool: try Self.pool(), directory: other.directory) { _ in }
            let used = again.table.content.withLock { $0.pool.usedPlaces }
            for (address, name) in told {
                let found = again.table.name(of: address)
                #expect(found == nil || found == name)
                if found == nil { resting += 1 }
                // What comes next is behind it.
                #expect(Int(try #require(again.table.range.place(of: address))) < used, "\(name) is not reserved")
            }
        }
        #expect(told.count > 100 && resting > 10)
    }

    @Test func aRecordFollowsItsAnswerAtOnce() throws {
        let scratch = try Scratch()
        let table = NameTable.start(pool: try Self.pool(), directory: scratch.directory) { _ in }
        for number in 0..<50 {
            let name = "name-\(number).test"
            _ = table.address(for: name, .ipv6, device: Self.phone, now: Clock.now())
            let deadline = Clock.now() + .seconds(60)
            var isThere = false
            while !isThere, Clock.now() < deadline {
                let text = String(decoding: try Scratch.bytes("\(scratch.directory)/fake-map"), as: UTF8.self)
                isThere = text.contains(name)
            }
            #expect(isThere)
        }
        table.stop()
    }

    /// The keeper's thread does not run here: the disk stands still until the test lets it go on.
    @Test func whileTheDiskStandsStillOnlyAnswersThatCanDoNoHarmLeave() throws {
        let scratch = try Scratch()
        var loaded = try NameTable.load(pool: try Self.pool(), directory: scratch.directory) { _ in }
        let table = loaded.table
        func ask(_ name: String, _ now: Instant = Clock.now()) -> IPAddress? {
            table.address(for: name, .ipv4, device: Self.phone, now: now)
        }
        // Nothing is reserved yet: the first name waits for its record, and so does its next query.
        let start = Clock.now()
        #expect(ask("a.test") == nil)
        #expect(Clock.now() - start >= .milliseconds(20))
        #expect(ask("a.test") == nil)
        _ = loaded.keeper.step(Clock.now())
        let first = try #require(ask("a.test"))

        // What most of some questions took, and their answers: this machine may stand still for one of them.
        func ask(_ names: [String]) -> (median: Interval, answers: [IPAddress?]) {
            let answers = names.map { name in
                let start = Clock.now()
                let answer = ask(name)
                return (took: Clock.now() - start, answer: answer)
            }
            return (answers.map(\.took).sorted()[names.count / 2], answers.map(\.answer))
        }
        // 14 more places are reserved now, and their answers do not wait at all.
        let reserved = ask((1..<15).map { "r\($0).test" })
        #expect(reserved.answers.allSatisfy { $0 != nil } && reserved.median < NameTable.patience)
        // The keeper is behind after one wait, and nobody else waits.
        let beyond = ask((0..<20).map { "beyond\($0).test" })
        #expect(beyond.answers.allSatisfy { $0 == nil } && beyond.median < NameTable.patience)

        // A crash now: none of these records was written.
        let other = try Self.afterACrash(of: scratch)
        var again = try NameTable.load(pool: try Self.pool(), directory: other.directory) { _ in }
        #expect(again.table.open(first, for: Self.phone, now: Clock.now()) == .fake(name: "a.test"))
        for address in reserved.answers {
            #expect(again.table.open(try #require(address), for: Self.phone, now: Clock.now()) == .unknownFake)
        }
        #expect(again.table.address(for: "new.test", .ipv4, device: Self.phone, now: Clock.now()) == nil)
        _ = again.keeper.step(Clock.now())
        let new = again.table.address(for: "new.test", .ipv4, device: Self.phone, now: Clock.now())
        #expect(new == IPAddress(parsing: "198.18.0.31"))
    }

    @Test func aReusedAddressIsNotAnsweredBeforeItsRecordIsWritten() throws {
        let scratch = try Scratch()
        var loaded = try NameTable.load(pool: try Self.pool(), directory: scratch.directory) { _ in }
        let table = loaded.table
        let now = Clock.now()
        for number in 0..<239 {
            _ = table.address(for: "n\(number).test", .ipv4, device: Self.phone, now: now)
            if number % 20 == 0 || number == 238 { _ = loaded.keeper.step(Clock.now()) }
        }
        let later = now + .hours(2)
        #expect(table.address(for: "late.test", .ipv4, device: Self.phone, now: later) == nil)
        #expect(table.address(for: "late.test", .ipv4, device: Self.tablet, now: later) == nil)
        // A crash now: the address has its old name, and nobody was told the new one.
        let other = try Self.afterACrash(of: scratch)
        let again = try NameTable.load(pool: try Self.pool(), directory: other.directory) { _ in }
        let address = try #require(IPAddress(parsing: "198.18.0.16"))
        #expect(again.table.name(of: address) == "n0.test")
        _ = loaded.keeper.step(Clock.now())
        #expect(table.address(for: "late.test", .ipv4, device: Self.phone, now: later) == address)
    }

    /// The files as they would be found if the process ended here.
    private static func afterACrash(of scratch: borrowing Scratch) throws -> Scratch {
        let other = try Scratch()
        try Scratch.put(Scratch.bytes("\(scratch.directory)/fake-map"), "\(other.directory)/fake-map")
        return other
    }

    @Test func aFileThatIsNoMapIsSetAsideAndReported() throws {
        let scratch = try Scratch()
        let reports = Reports()
        for text in ["hello\n", "starship fake-map 2\nfrom a later version"] {
            try Scratch.put(Array(text.utf8), "\(scratch.directory)/fake-map")
            let table = NameTable.start(pool: try Self.pool(), directory: scratch.directory, report: reports.take)
            #expect(Self.address(for: "a.test", in: table) != nil)
            table.stop()
            #expect(try Scratch.bytes("\(scratch.directory)/fake-map.unread") == Array(text.utf8))
        }
        let path = "\(scratch.directory)/fake-map"
        #expect(
            reports.all == [
                .setAside(as: "fake-map.unread", .foreign(path: path)),
                .setAside(as: "fake-map.unread", .version(path: path, found: "2", known: 1)),
            ])
    }

    @Test func withoutADirectoryItIsReportedAndNamesWork() throws {
        let reports = Reports()
        let table = NameTable.start(pool: try Self.pool(), directory: "/proc/none/state", report: reports.take)
        let address = table.address(for: "a.test", .ipv4, device: Self.phone, now: Clock.now())
        #expect(address == IPAddress(parsing: "198.18.0.16"))
        #expect(reports.all.count == 1)
        guard case .failed(.system(let error)) = reports.all.first else {
            Issue.record("\(reports.all)")
            return
        }
        #expect(error.subject == "/proc/none/state")
        table.stop()
    }

    @Test(.timeLimit(.minutes(2))) func theJournalIsWrittenAnewBeforeItGrowsWithoutEnd() throws {
        let scratch = try Scratch()
        // 15 addresses whose names change all the time: the map stays small, the records are many.
        let pool = FakePool(v4: try Self.prefix("198.18.0.0/27"), v6: try Self.prefix("2001:2::/48"))
        let table = NameTable.start(pool: pool, directory: scratch.directory) { _ in }
        var now = Clock.now()
        var largest = 0
        for number in 0..<10_000 {
            now = now + .hours(2)
            let name = "n\(number).a-rather-long-name.example.test"
            // While the file is written anew an address that had another name waits.
            while table.address(for: name, .ipv4, device: Self.phone, now: now) == nil { usleep(1000) }
            if number % 100 == 0 { largest = max(largest, try Scratch.bytes("\(scratch.directory)/fake-map").count) }
        }
        // 10,000 records of 45 octets would be 450,000.
        #expect(largest > 60_000 && largest < 100_000)
        table.stop()
        #expect(try Scratch.bytes("\(scratch.directory)/fake-map").count < 1000)
    }
}
