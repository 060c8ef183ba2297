/// What users' streams say about their upstream.

import Bytes
import Testing

@testable import Health

@Suite struct TrafficTests {
    /// A green upstream whose next round is minutes away.
    private static func green() -> Watch {
        var watch = Watch(Watch.page(interval: .seconds(300)))
        watch.run(for: .seconds(12)) { _ in .good() }
        watch.forgetChanges()
        return watch
    }

    @Test(
        "a proxy that dies between probes is red within two seconds of five failed streams (B156)",
        arguments: [10, 400])
    func dies(gap: Int64) {
        var watch = Self.green()
        let died = watch.elapsed
        for _ in 0..<5 {
            watch.run(for: .milliseconds(gap)) { _ in .noConnection() }
            watch.take(.traffic, .bad(.portClosed))
        }
        watch.run(for: .seconds(8)) { _ in .noConnection() }
        #expect(watch.colours.last == .red && watch.words.allSatisfy { $0.hasSuffix("port_closed") })
        #expect(watch.changes.first.map { $0.at - died < 2 } == true)
        #expect(watch.changes.last.map { $0.at - died < 2 } == true)
        watch.run(for: .seconds(40)) { _ in .good() }
        #expect(watch.shown == "green -")
    }

    @Test("two failed streams, apart from each other, have a round begin")
    func twoFailures() {
        var watch = Self.green()
        let count = watch.rounds.count
        for _ in 0..<2 {
            watch.take(.traffic, .bad(.portClosed))
            watch.run(for: .seconds(2)) { _ in .good() }
        }
        #expect(watch.rounds.count == count + 1 && watch.words == [])
    }

    @Test("what a target does is not held against the upstream (B156)")
    func targets() {
        var watch = Self.green()
        let count = watch.rounds.count
        let causes: [Cause] = [
            .refused(status: 403, text: "Forbidden"), .refused(status: 502, text: ""), .originFailing("504"),
            .socksRefused("host unreachable"), .silent(.page), .gateway("no descriptor left"),
        ]
        for number in 0..<300 {
            watch.take(.traffic, .bad(causes[number % causes.count]))
            watch.run(for: .milliseconds(100)) { _ in .good() }
        }
        #expect(watch.rounds.count == count && watch.words == [])
    }

    @Test("a proxy that hangs is red from users' streams alone, while the probe still waits for it")
    func hangs() {
        var watch = Self.green()
        let began = watch.elapsed
        for _ in 0..<20 {
            watch.run(for: .milliseconds(100)) { _ in .failing(.silent(.proxy), after: .seconds(10)) }
            watch.take(.traffic, .bad(.silent(.proxy)))
        }
        #expect(watch.words == ["yellow proxy_silent", "red proxy_silent"])
        #expect(watch.changes[1].at - began < 2)
    }

    @Test("failures with answers between them are none of the upstream")
    func mixed() {
        var watch = Self.green()
        let count = watch.rounds.count
        let answers: [Sample.Outcome] = [.good(.milliseconds(20)), .bad(.refused(status: 403, text: "Forbidden"))]
        for number in 0..<500 {
            watch.take(.traffic, .bad(.closed(.proxy)))
            watch.take(.traffic, .bad(.closed(.proxy)))
            watch.run(for: .milliseconds(10)) { _ in .good() }
            watch.take(.traffic, answers[number % 2])
        }
        #expect(watch.rounds.count == count && watch.words == [])
    }

    @Test("a stream that succeeds in bad times has a round begin, and that makes it green")
    func recovery() {
        var watch = Self.green()
        watch.health.hurry(at: watch.now)
        watch.run(for: .seconds(600)) { _ in .noConnection() }
        #expect(watch.shown == "red port_closed")
        watch.take(.traffic, .good(.milliseconds(20)))
        #expect(watch.shown == "red port_closed")
        watch.run(for: .seconds(1)) { _ in .good() }
        #expect(watch.shown == "green -")
    }

    @Test("streams that are through while a round waits keep it from being called slow")
    func speaksForIt() {
        var watch = Self.green()
        watch.health.note(otherHosts: 1)
        watch.health.hurry(at: watch.now)
        for _ in 0..<80 {
            watch.run(for: .milliseconds(100)) { _ in .failing(.silent(.page), after: .seconds(8)) }
            watch.take(.traffic, .good(.milliseconds(20)))
        }
        #expect(watch.words == [])
    }

    @Test("without a page, users' failures are forgotten when connections work and nobody fails any more")
    func withoutPage() {
        var watch = Watch(Watch.page(hasPage: false))
        let connects = Answer(after: .milliseconds(5), samples: [Sample(.connect, .good(.milliseconds(5)))])
        watch.run(for: .seconds(12)) { _ in connects }
        for _ in 0..<20 {
            watch.run(for: .milliseconds(500)) { _ in connects }
            watch.take(.traffic, .bad(.silent(.proxy)))
        }
        #expect(watch.words == ["grey not_verified", "yellow proxy_silent", "red proxy_silent"])
        watch.run(for: .seconds(20)) { _ in connects }
        #expect(watch.shown == "red proxy_silent")
        watch.run(for: .seconds(60)) { _ in connects }
        #expect(watch.shown == "grey not_verified")
    }
}
