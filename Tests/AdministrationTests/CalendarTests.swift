/// A calendar that is set while people's leases run.

import Bytes
import Control
import Devices
import Foundation
import LinuxIO
import Profiles
import Testing

@testable import Administration

@Suite("The calendar")
struct CalendarTests {
    private func watch() -> CalendarWatch {
        CalendarWatch(UnixTime(seconds: 1_796_119_200, nanoseconds: 0), sinceStart: Self.at(500))
    }

    private static func at(_ seconds: Int64) -> Instant { Instant(nanoseconds: seconds * 1_000_000_000) }

    @Test func timeThatPassesIsNoJump() {
        var watch = watch()
        #expect(watch.step(UnixTime(seconds: 1_796_119_201, nanoseconds: 0), sinceStart: Self.at(501)) == nil)
        // Also a day asleep, which CLOCK_BOOTTIME counts.
        #expect(watch.step(UnixTime(seconds: 1_796_205_601, nanoseconds: 0), sinceStart: Self.at(86_901)) == nil)
    }

    @Test("an hour is noticed once, forth and back", arguments: [3600, -3600] as [Int64])
    func jumps(step: Int64) {
        var watch = watch()
        let later = UnixTime(seconds: 1_796_119_210 + step, nanoseconds: 0)
        #expect(watch.step(later, sinceStart: Self.at(510)) == step)
        #expect(watch.step(later, sinceStart: Self.at(510)) == nil)
        #expect(watch.step(UnixTime(seconds: 1_796_119_220, nanoseconds: 0), sinceStart: Self.at(520)) == -step)
    }

    @Test func slowCorrectionsNeverAddUpToAJump() {
        var watch = watch()
        for number in 1...100 as ClosedRange<Int64> {
            let calendar = UnixTime(seconds: 1_796_119_200 + number * 65, nanoseconds: 0)
            #expect(watch.step(calendar, sinceStart: Self.at(500 + number * 60)) == nil)
        }
    }

    @Test func leasesAndConfirmationsKeepTheirLength() throws {
        let desk = try Desk("devices: [{ name: \"stb\", address: \"10.9.0.50\" }],")
        defer { desk.remove() }
        desk.ask(.post, "/v1/activate", "{\"profile\": \"b\", \"device\": \"stb\", \"for\": \"2h\"}")
        let profile = "{\"upstream\": {\"type\": \"http\", \"host\": \"127.0.0.1\", \"port\": 8080}}"
        desk.ask(.put, "/v1/profiles/p?confirm=60", profile)
        let before = desk.administrator.plan.lab
        // As if the calendar had been an hour behind until now.
        let now = Clock.unixTime()
        desk.administrator.calendar = CalendarWatch(
            UnixTime(seconds: now.seconds - 3600, nanoseconds: now.nanoseconds), sinceStart: Clock.sinceBoot())
        desk.administrator.heedCalendar(&desk.gateway)
        let after = desk.administrator.plan.lab
        let until = try #require(before.assignments.first?.until)
        #expect(after.assignments.first?.until == until + 3600)
        #expect(after.assignments.first.map(\.since) == before.assignments.first.map { $0.since + 3600 })
        #expect(after.unconfirmed.map(\.until) == before.unconfirmed.map { $0.until + 3600 })
        // It is kept, and said who has done it.
        #expect(desk.ask(.get, "/v1/history").has("the clock was moved by 3600 s"))
        desk.administrator.heedCalendar(&desk.gateway)
        #expect(desk.administrator.plan.lab == after)
    }
}
