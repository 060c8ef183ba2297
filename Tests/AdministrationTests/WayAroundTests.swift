/// What leads around the gateway shows wherever a colour does, and changes nothing else.

import Addresses
import Bytes
import Control
import Gateway
import Health
import LinuxIO
import Profiles
import Testing

@testable import Administration

@Suite("Ways around the gateway")
struct WayAroundTests {
    private static let words = "another router on lan: devices may leave by IPv6 through fe80::1"

    /// Has the administrator know what leads around the gateway; returns how many were told of it.
    private func lead(_ desk: Desk, _ ways: [String]) -> Int {
        let active = desk.administrator.plan.active.id
        let news = desk.administrator.desk?.follow(waysAround: ways, active: active, at: Clock.now()) ?? []
        desk.administrator.tell(news, &desk.gateway)
        return news.count
    }

    /// Each place that shows the colour of the active profile, with what it says.
    private func places(_ desk: Desk) -> [String: String] {
        [
            "status": desk.ask(.get, "/v1/status").text, "profiles": desk.ask(.get, "/v1/profiles").text,
            "metrics": desk.ask(.get, "/metrics").text, "manager": desk.administrator.healthSentence,
            "page": Phone(desk, "10.9.0.2", mac: "02:00:00:00:00:03").get("/").html,
        ]
    }

    private func isSeen(_ colour: Colour, _ place: String, _ text: String) -> Bool {
        switch place {
        case "metrics": text.contains("profile=\"a\",colour=\"\(colour.rawValue)\"} 1")
        case "manager": text.hasPrefix("a is \(colour.rawValue)")
        case "page": text.contains("class=\"state \(colour.rawValue)\"")
        default: text.contains("\"colour\":\"\(colour.rawValue)\"")
        }
    }

    @Test("green is yellow with the reason in every place, red stays, and green is back when the way is gone")
    func everywhere() throws {
        let desk = try Desk("health: { url: \"http://127.0.0.1:9/\" },")
        defer { desk.remove() }
        try desk.lookAfterUpstreams()
        desk.administrator.followHealth(&desk.gateway)
        let good = Sample(.request, .good(.milliseconds(5)))
        _ = desk.administrator.desk?.watched["a"]?.health.take(good, at: Clock.now())
        for (place, text) in places(desk) { #expect(isSeen(.green, place, text), "\(place): \(text)") }

        #expect(lead(desk, [Self.words]) == 1)
        #expect(lead(desk, [Self.words]) == 0, "it is told once")
        for (place, text) in places(desk) {
            #expect(isSeen(.yellow, place, text) && !isSeen(.green, place, text), "\(place): \(text)")
            let reason = place == "metrics" ? "cause=\"way_around\"} 1" : "devices may leave by IPv6 through fe80::1"
            #expect(text.contains(reason), "\(place): \(text)")
        }
        let event = desk.administrator.outbox.last?.data.text ?? ""
        #expect(event.contains(#""colour":"yellow","was":"green""#) && event.contains("way_around"), "\(event)")
        #expect(desk.administrator.desk?.watched["a"]?.health.report.colour == .green, "what decides goes by its own")

        let now = Clock.now()
        let rejected = Sample(.request, .bad(.credentialsRejected))
        _ = desk.administrator.desk?.watched["a"]?.health.take(rejected, at: now)
        for (place, text) in places(desk) { #expect(isSeen(.red, place, text), "\(place): \(text)") }
        _ = desk.administrator.desk?.watched["a"]?.health.take(good, at: now)

        #expect(lead(desk, []) == 1)
        for (place, text) in places(desk) {
            #expect(isSeen(.green, place, text) && !text.contains("fe80::1"), "\(place): \(text)")
        }
    }

    @Test("the active profile is yellow also where nobody looks after it; others stay unknown")
    func unwatched() throws {
        let desk = try Desk()
        defer { desk.remove() }
        try desk.lookAfterUpstreams()
        #expect(lead(desk, [Self.words]) == 1)
        #expect(desk.administrator.seen("a").colour == .yellow)
        #expect(desk.administrator.seen("b").colour == .grey)
        #expect(desk.ask(.get, "/v1/status").has("\"colour\":\"yellow\"", "way_around", "nobody has tried the proxy"))
    }
}
