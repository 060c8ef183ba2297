/// What is seen of an upstream where something leads around the gateway.

import Bytes
import Testing

@testable import Health

struct WayAroundTests {
    private static let words = "another router on lan: devices may leave by IPv6 through fe80::1"

    private func at(_ seconds: Int64) -> Instant { Instant(nanoseconds: 0) + .seconds(seconds) }

    private func report(_ colour: Colour, _ cause: Cause?, note: String? = nil) -> HealthReport {
        var report = HealthReport.untried(since: at(100))
        (report.colour, report.cause, report.note) = (colour, cause, note)
        return report
    }

    @Test(
        "green and grey become yellow with the reason, yellow and red keep theirs",
        arguments: [
            (Colour.green, nil, Colour.yellow, "way_around", nil),
            (.grey, .notVerified, .yellow, "way_around", Cause.notVerified.sentence("the proxy")),
            (.grey, .neverTried, .yellow, "way_around", Cause.neverTried.sentence("the proxy")),
            (.yellow, .slow(.seconds(9)), .yellow, "slow", nil),
            (.red, .portClosed, .red, "port_closed", nil),
        ] as [(Colour, Cause?, Colour, String, String?)])
    func colours(own: Colour, cause: Cause?, colour: Colour, word: String, note: String?) {
        let former = report(own, cause)
        let seen = former.seen(beside: WayAround(Self.words, since: at(200)))
        #expect(seen.colour == colour && seen.cause?.word == word && seen.note == note)
        #expect(seen.since == (word == "way_around" ? at(200) : at(100)))
        #expect(former.seen(beside: nil) == former, "it goes away with what leads around")
    }

    @Test("a note of the upstream's own stays, and so does the later of the two times")
    func note() {
        let seen = report(.green, nil, note: "the page fails").seen(beside: WayAround(Self.words, since: at(50)))
        #expect(seen.note == "the page fails" && seen.since == at(100))
    }

    @Test("a change is told as it is seen, and not at all where nothing is seen of it")
    func changes() {
        let way = WayAround(Self.words, since: at(0))
        func change(_ former: Colour, _ colour: Colour, _ cause: Cause? = nil) -> HealthChange {
            HealthChange(former: former, colour: colour, cause: cause, note: nil)
        }
        #expect(change(.grey, .green).seen(beside: way) == nil)
        #expect(change(.grey, .green).seen(beside: nil) == change(.grey, .green))
        #expect(change(.green, .red, .portClosed).seen(beside: way) == change(.yellow, .red, .portClosed))
        #expect(change(.red, .green).seen(beside: way) == change(.red, .yellow, .wayAround(Self.words)))
        #expect(change(.yellow, .red, .portClosed).seen(beside: way) == change(.yellow, .red, .portClosed))
        let sentence = change(.red, .green).seen(beside: way)?.sentence("qa")
        #expect(sentence == "qa is yellow, it was red: \(Self.words), past qa")
    }
}
