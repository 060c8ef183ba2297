/// The table of colours (README, "Health"), causes in words, and every cause in every state.

import Bytes
import TestSupport
import Testing

@testable import Health

/// One thing that happens to an upstream; a second passes before each.
enum Event: Equatable {
    case connect(Sample.Outcome)
    case request(Sample.Outcome)
    case traffic(Sample.Outcome)
    case uplink(String?)
    case others(Int)
    case wait(Int64)

    static let fine = Event.request(.good(.milliseconds(80)))
    static let connected = Event.connect(.good(.milliseconds(10)))
    static let noPort = Event.connect(.bad(.portClosed))
    static let noAnswer = Event.request(.bad(.silent(.proxy)))
    static let noPage = Event.request(.bad(.originFailing("504 Gateway Timeout")))
}

extension Watch {
    mutating func happens(_ event: Event) {
        now = now + .seconds(1)
        switch event {
        case .connect(let outcome): take(.connect, outcome)
        case .request(let outcome): take(.request, outcome)
        case .traffic(let outcome): take(.traffic, outcome)
        case .uplink(let trouble): note(health.uplink(trouble, at: now))
        case .others(let count):
            health.note(otherHosts: count)
            note(health.refresh(at: now))
        case .wait(let seconds):
            now = now + .seconds(seconds)
            note(health.refresh(at: now))
        }
    }

    /// What is shown after these events.
    static func after(_ events: [Event], hasPage: Bool = true) -> String {
        var watch = Watch(page(hasPage: hasPage))
        for event in events { watch.happens(event) }
        return watch.shown
    }
}

@Suite struct ColourTests {
    struct Row {
        var events: [Event]
        var shown: String

        init(_ shown: String, _ events: Event...) {
            self.events = events
            self.shown = shown
        }
    }

    static let rows: [Row] = [
        // Grey: never tried, or nothing to verify it with.
        Row("grey never_tried"),
        Row("grey never_tried", .connected),
        Row("grey never_tried", .traffic(.good(.milliseconds(9)))),
        // Green: the last request is good and fresh.
        Row("green -", .connected, .fine),
        Row("green -", .noPort, .noPort, .connected, .fine),
        Row("green -", .fine, .traffic(.bad(.refused(status: 403, text: "Forbidden")))),
        Row("green -", .fine, .wait(60)),
        // Yellow: one miss, of TCP or of the answer to CONNECT.
        Row("yellow port_closed", .fine, .noPort),
        Row("yellow port_closed", .noPort),
        Row("yellow proxy_silent", .fine, .connected, .noAnswer),
        Row("yellow port_closed", .fine, .noPort, .connected),
        Row("yellow proxy_malformed", .fine, .request(.bad(.malformed(.proxy, "no status line")))),
        // Yellow: TCP good, and the request fails, is slow or is long ago.
        Row("yellow connect_refused", .connected, .request(.bad(.refused(status: 403, text: "")))),
        Row(
            "yellow connect_refused", .request(.bad(.refused(status: 503, text: ""))), .noPage, .connected,
            .request(.bad(.refused(status: 503, text: "busy")))),
        Row("yellow socks_refused", .fine, .request(.bad(.socksRefused("general failure")))),
        Row("yellow origin_failing", .fine, .noPage, .noPage, .noPage),
        Row(
            "yellow wrong_page", .fine, .request(.bad(.wrongPage("302 to http://login.hotel.example/ in place of 200")))
        ),
        Row("yellow page_silent", .fine, .request(.bad(.silent(.page)))),
        Row("yellow page_malformed", .fine, .request(.bad(.malformed(.page, "a head of more than 64 KiB")))),
        Row("yellow slow", .fine, .request(.good(.milliseconds(2001)))),
        Row("yellow slow", .fine, .request(.bad(.slow(.seconds(3))))),
        Row("yellow stale", .fine, .wait(70)),
        Row("yellow gateway", .fine, .request(.bad(.gateway("no descriptor left")))),
        // Red: two misses in a row.
        Row("red port_closed", .fine, .noPort, .noPort),
        Row("red port_closed", .noPort, .noPort, .noPort),
        Row("red proxy_silent", .fine, .connected, .noAnswer, .connected, .noAnswer),
        Row("red proxy_silent", .fine, .noPort, .connected, .noAnswer),
        Row("red name_unknown", .fine, .connect(.bad(.nameUnknown("p"))), .connect(.bad(.nameUnknown("p")))),
        Row("red proxy_malformed", .request(.bad(.malformed(.proxy, "x"))), .request(.bad(.malformed(.proxy, "x")))),
        Row("red proxy_closed", .request(.bad(.closed(.proxy))), .wait(30), .request(.bad(.closed(.proxy)))),
        // Red: it does not let us in.
        Row("red credentials_rejected", .fine, .request(.bad(.credentialsRejected))),
        Row("red credentials_rejected", .fine, .traffic(.bad(.credentialsRejected)), .connected),
        Row("red schemes_not_supported", .fine, .request(.bad(.schemesNotSupported(["NTLM"])))),
        // Better after one good request, and not by a connection or by users' streams alone.
        Row("red port_closed", .noPort, .noPort, .connected),
        Row("red port_closed", .fine, .noPort, .noPort, .traffic(.good(.milliseconds(9)))),
        Row("yellow origin_failing", .noPort, .noPort, .noPage),
        Row("green -", .request(.bad(.credentialsRejected)), .fine),
        Row("green -", .fine, .wait(500), .fine),
        // A slow one is well again when it is clearly faster.
        Row("yellow slow", .request(.good(.milliseconds(2100))), .request(.good(.milliseconds(1900)))),
        Row("green -", .request(.good(.milliseconds(2100))), .request(.good(.milliseconds(1500)))),
        // The origin fails behind a good proxy: green stays while three other hosts are reached.
        Row("green -", .fine, .others(3), .noPage, .noPage),
        Row("green -", .fine, .others(4), .request(.bad(.silent(.page)))),
        Row("yellow origin_failing", .fine, .others(2), .noPage),
        Row("yellow origin_failing", .fine, .others(3), .noPage, .others(2)),
        Row("yellow origin_failing", .others(9), .noPage),
        Row("yellow origin_failing", .fine, .noPage, .others(9)),
        Row("yellow wrong_page", .fine, .others(9), .request(.bad(.wrongPage("500 in place of 200")))),
        Row("yellow connect_refused", .fine, .others(9), .request(.bad(.refused(status: 403, text: "")))),
        // The gateway's own way out is told from the proxy's death.
        Row("green -", .fine, .uplink("eth0 has no carrier")),
        Row("yellow no_uplink", .fine, .uplink("eth0 has no carrier"), .connect(.bad(.unreachable("no route")))),
        Row(
            "red no_uplink", .fine, .connect(.bad(.silent(.connect))), .connect(.bad(.silent(.connect))),
            .uplink("down")),
        Row("red no_uplink", .uplink("down"), .connect(.bad(.nameUnknown("p"))), .connect(.bad(.nameUnknown("p")))),
        Row(
            "red no_uplink", .uplink("x"), .connect(.bad(.silent(.connect))), .connect(.bad(.silent(.connect))),
            .uplink(nil)),
        Row(
            "red connect_silent", .uplink("x"), .uplink(nil), .connect(.bad(.silent(.connect))),
            .connect(.bad(.silent(.connect)))),
        Row("red port_closed", .uplink("down"), .noPort, .noPort),
        Row("green -", .uplink("down"), .noAnswer, .noAnswer, .uplink(nil), .fine),
    ]

    @Test("a colour for each row of the table")
    func table() {
        let wrong: [String] = Self.rows.enumerated().compactMap { number, row in
            let shown = Watch.after(row.events)
            return shown == row.shown ? nil : "row \(number): \(shown), not \(row.shown): \(row.events)"
        }
        #expect(wrong == [])
    }

    @Test("without a page green cannot be reached, and grey says so")
    func withoutPage() {
        let rows: [Row] = [
            Row("grey never_tried"),
            Row("grey not_verified", .connected),
            Row("grey not_verified", .connected, .fine, .traffic(.good(.milliseconds(9)))),
            Row("yellow port_closed", .connected, .noPort),
            Row("red port_closed", .connected, .noPort, .noPort),
            Row("grey not_verified", .noPort, .noPort, .connected),
            Row("red credentials_rejected", .connected, .traffic(.bad(.credentialsRejected)), .connected),
            Row(
                "grey not_verified", .connected, .traffic(.bad(.credentialsRejected)), .traffic(.good(.milliseconds(9)))
            ),
        ]
        #expect(rows.map { Watch.after($0.events, hasPage: false) } == rows.map(\.shown))
    }

    @Test("an error page never makes it green, whatever else is reached (B150)")
    func errorPage() {
        let answers: [Sample.Outcome] = [
            .bad(.refused(status: 504, text: "Gateway Timeout")), .bad(.originFailing("504 Gateway Timeout")),
            .bad(.wrongPage("504 in place of 200")),
        ]
        for answer in answers {
            var watch = Watch()
            watch.health.note(otherHosts: 5)
            watch.run(for: .seconds(600)) { _ in
                Answer(
                    after: .milliseconds(20),
                    samples: [Sample(.connect, .good(.milliseconds(1))), Sample(.request, answer)])
            }
            #expect(watch.colours == [.yellow], "\(answer)")
        }
    }

    @Test("one failure told for two layers is one miss")
    func oneMiss() {
        var watch = Watch()
        watch.happens(.fine)
        watch.happens(.noPort)
        watch.take(.request, .bad(.portClosed))
        #expect(watch.shown == "yellow port_closed")
    }

    @Test("a green one whose page fails has a note, and says when the note goes")
    func note() {
        var watch = Watch()
        for event in [Event.fine, .others(4), .noPage, .noPage, .fine] { watch.happens(event) }
        let told: [HealthChange] = watch.changes.map(\.change)
        let note =
            "the proxy works, and the page behind it fails: 504 Gateway Timeout;"
            + " 4 other hosts were reached through it within the last minute"
        #expect(told.map(\.note) == [nil, note, nil])
        #expect(told.map(\.colour) == [.green, .green, .green])
        #expect(told[1].sentence("whistle-qa") == "whistle-qa is green: \(note)")
    }

    @Test("numbers alone are no news, another kind of cause is")
    func news() {
        var watch = Watch()
        let events: [Event] = [
            .fine, .request(.good(.seconds(3))), .request(.good(.seconds(4))), .noPage,
            .request(.bad(.originFailing("502"))), .request(.bad(.refused(status: 403, text: "no"))),
        ]
        for event in events { watch.happens(event) }
        #expect(watch.words == ["green -", "yellow slow", "yellow origin_failing", "yellow connect_refused"])
        let sentence = watch.changes[1].change.sentence("whistle-qa")
        #expect(sentence == "whistle-qa is yellow, it was green: whistle-qa is slow: a request through it takes 3.0 s")
    }

    @Test("a lost probe does not hide what is wrong behind the proxy")
    func steadyCause() {
        #expect(Watch.after([.fine, .noPage, .noAnswer]) == "yellow origin_failing")
        #expect(Watch.after([.fine, .noPage, .noAnswer, .noAnswer]) == "red proxy_silent")
    }

    @Test("the report has each layer with its latency, its age and its misses")
    func report() {
        var watch = Watch()
        for event in [Event.connected, .fine, .noAnswer, .noAnswer, .traffic(.good(.milliseconds(7)))] {
            watch.happens(event)
        }
        func at(_ second: Int64) -> Instant { Instant(nanoseconds: 1_000_000_000_000) + .seconds(second) }
        let silent = Cause.silent(.proxy)
        let report = watch.health.report
        #expect(report.colour == .red && report.cause == silent && report.note == nil)
        #expect(report.since == at(4) && report.lastGood == at(2))
        let ten = Interval.milliseconds(10)
        let seven = Interval.milliseconds(7)
        let expected: [LayerReport?] = [
            Self.layer(.good(ten), at(1), ten, 0), Self.layer(.bad(silent), at(4), .milliseconds(80), 2),
            Self.layer(.good(seven), at(5), seven, 0),
        ]
        #expect(Sample.Layer.allCases.map { report[$0] } == expected)
        #expect(watch.health.recent.values == [.milliseconds(80), nil, nil])
        #expect(watch.health.histogram(of: .traffic).count == 1)
    }

    private static func layer(
        _ outcome: Sample.Outcome, _ at: Instant, _ latency: Interval, _ misses: Int
    ) -> LayerReport {
        LayerReport(outcome: outcome, at: at, latency: latency, misses: misses)
    }

    @Test("settings that change keep what is known, but for a page that comes or goes")
    func change() {
        var watch = Watch()
        watch.happens(.connected)
        watch.happens(.fine)
        watch.note(watch.health.change(Watch.page(interval: .seconds(300)), at: watch.now))
        #expect(watch.shown == "green -")
        watch.note(watch.health.change(Watch.page(hasPage: false), at: watch.now))
        #expect(watch.words == ["green -", "grey not_verified"])
        watch.note(watch.health.change(Watch.page(), at: watch.now))
        watch.happens(.fine)
        #expect(watch.words == ["green -", "grey not_verified", "grey never_tried", "green -"])
    }
}

// MARK: - Every cause in every state

/// What the table allows, kept beside it from the events alone.
private struct Bounds {
    var hasBeenGood = false
    var lastAnswer: Sample.Outcome?
    var misses = 0
    var requestMisses = 0
    var isRejected = false
    var others = 0

    static let missed: Set<String> = [
        "no_uplink", "name_unknown", "port_closed", "unreachable", "connect_silent", "proxy_silent", "connect_closed",
        "proxy_closed", "connect_malformed", "proxy_malformed",
    ]
    static let rejecting: Set<String> = ["credentials_rejected", "schemes_not_supported"]
    static let answering: Set<String> = [
        "connect_refused", "socks_refused", "origin_failing", "wrong_page", "slow", "page_silent", "page_closed",
        "page_malformed",
    ]
    static let behind: Set<String> = ["origin_failing", "page_silent", "page_closed"]

    mutating func happens(_ event: Event) {
        switch event {
        case .request(.good(let latency)): answered(.good(latency))
        case .request(.bad(.slow(let latency))): answered(.good(latency))
        case .request(.bad(let cause)) where Self.answering.contains(cause.word): answered(.bad(cause))
        case .connect(.bad(let cause)), .request(.bad(let cause)), .traffic(.bad(let cause)):
            if Self.missed.contains(cause.word) { misses += 1 }
            if Self.rejecting.contains(cause.word) { isRejected = true }
            guard case .request = event else { return }
            if Self.missed.contains(cause.word) { requestMisses += 1 }
            if Self.rejecting.contains(cause.word) { requestMisses = 0 }
        case .others(let count): others = count
        case .connect, .traffic, .uplink, .wait: return
        }
    }

    private mutating func answered(_ outcome: Sample.Outcome) {
        lastAnswer = outcome
        misses = 0
        requestMisses = 0
        isRejected = false
        if case .good = outcome { hasBeenGood = true }
    }

    /// What is wrong with this report, if anything.
    func objection(_ report: HealthReport) -> String? {
        if (report.colour == .green) != (report.cause == nil) { return "a colour and its cause disagree" }
        if requestMisses >= 2, report.colour != .red { return "two requests in a row without an answer, and not red" }
        switch report.colour {
        case .green:
            if !hasBeenGood { return "green without a good request" }
            if requestMisses > 0 || isRejected { return "green after a miss" }
            if case .bad(let cause)? = lastAnswer, !(Self.behind.contains(cause.word) && others >= 3) {
                return "green after \(cause)"
            }
        case .red: if misses < 2, !isRejected { return "red without two misses" }
        case .grey: if lastAnswer != nil { return "grey after an answer" }
        case .yellow: break
        }
        return nil
    }
}

@Suite struct EveryCauseTests {
    static let steps: [Cause.Step] = [.connect, .proxy, .page]
    static let causes: [Cause] =
        steps.map { .silent($0) } + steps.map { .closed($0) } + steps.map { .malformed($0, "x") }
        + [
            .noUplink("x"), .nameUnknown("x"), .portClosed, .unreachable("x"), .credentialsRejected,
            .schemesNotSupported(["NTLM"]), .refused(status: 502, text: "x"), .socksRefused("x"), .originFailing("x"),
            .wrongPage("x"), .slow(.seconds(9)), .stale(.seconds(9)), .neverTried, .notVerified, .gateway("x"),
            .wayAround("x"),
        ]
    static let outcomes: [Sample.Outcome] =
        [.good(.milliseconds(5)), .good(.seconds(5))] + causes.map { .bad($0) }

    static var all: [Event] {
        var events: [Event] = outcomes.map { .connect($0) }
        events += outcomes.map { .request($0) }
        events += outcomes.map { .traffic($0) }
        events += [.uplink("x"), .uplink(nil), .others(5), .others(0), .wait(100)] as [Event]
        return events
    }

    /// One of each weight, which lead to every state.
    static let leading: [Event] = [
        .fine, .connected, .noPort, .noAnswer, .noPage, .request(.good(.seconds(5))),
        .request(.bad(.credentialsRejected)),
        .request(.bad(.gateway("x"))), .traffic(.bad(.portClosed)), .traffic(.good(.milliseconds(5))),
        .traffic(.bad(.credentialsRejected)), .uplink("x"), .others(5), .wait(100),
    ]

    @Test("no cause in any state breaks the table", arguments: [true, false])
    func walk(hasPage: Bool) {
        var objections: Set<String> = []
        let all = Self.all
        func visit(_ watch: Watch, _ bounds: Bounds, _ path: [Event], depth: Int) {
            for event in depth == 0 ? all : Self.leading {
                var (watch, bounds) = (watch, bounds)
                watch.happens(event)
                bounds.happens(event)
                let report = watch.health.report
                if hasPage, let objection = bounds.objection(report), objections.count < 20 {
                    objections.insert("\(objection): \(path + [event]) is \(watch.shown)")
                }
                if !hasPage, report.colour == .green { objections.insert("green without a page: \(path + [event])") }
                if depth > 0 { visit(watch, bounds, path + [event], depth: depth - 1) }
            }
        }
        visit(Watch(Watch.page(hasPage: hasPage)), Bounds(), [], depth: LongRun.rounds(2, long: 4))
        #expect(objections == [])
    }

    @Test("each cause has one word of its own and one line that names the upstream or the gateway")
    func words() {
        let words = Self.causes.map(\.word)
        #expect(Set(words).count == words.count)
        let odd = words.filter { $0.contains { !($0.isLowercase || $0 == "_") } }
        #expect(odd == [])
        let hostile = "a\nb\u{1b}[2J\u{202e}c"
        let texts: [Cause] = [
            .noUplink(hostile), .nameUnknown(hostile), .unreachable(hostile), .schemesNotSupported([hostile]),
            .refused(status: 403, text: hostile), .socksRefused(hostile), .malformed(.page, hostile),
            .malformed(.proxy, hostile), .originFailing(hostile), .wrongPage(hostile), .gateway(hostile),
            .wayAround(hostile),
        ]
        let lines = (Self.causes + texts).map { $0.sentence("whistle-qa") } + texts.map { $0.sentence(hostile) }
        let broken = lines.filter { line in line.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x202e } }
        #expect(broken == [])
        #expect(Self.causes.allSatisfy { $0.sentence("whistle-qa").contains("whistle-qa") })
    }

    @Test("a sentence says what is wrong and what to do about it")
    func sentences() {
        let sentences: [(Cause, String)] = [
            (.portClosed, "nobody listens at the port of qa: start the proxy there, or correct the port"),
            (
                .noUplink("eth0 has no carrier"),
                "the gateway itself has no way out (eth0 has no carrier), so nothing is known about qa:"
                    + " check the gateway's cable, Wi-Fi or default route"
            ),
            (
                .nameUnknown("proxy.lan"),
                "proxy.lan, the host of qa, does not resolve: check its spelling and the gateway's DNS"
            ),
            (.credentialsRejected, "qa rejects the credentials: correct user and password in the profile"),
            (
                .refused(status: 403, text: "Forbidden"),
                "qa refuses CONNECT (403, Forbidden): its access rules must let this gateway in"
            ),
            (.refused(status: 503, text: ""), "qa refuses CONNECT (503)"),
            (.slow(.milliseconds(3250)), "qa is slow: a request through it takes 3.2 s"),
            (.slow(.milliseconds(950)), "qa is slow: a request through it takes 950 ms"),
            (.stale(.seconds(70)), "the last good request through qa is 70 s old"),
            (.stale(.seconds(600)), "the last good request through qa is 10 min old"),
            (.stale(.hours(5)), "the last good request through qa is 5 h old"),
            (.stale(.hours(72)), "the last good request through qa is 3 d old"),
            (.stale(Interval(nanoseconds: .min)), "the last good request through qa is 0 ms old"),
            (
                .wayAround("another router on lan: devices may leave by IPv6 through fe80::1"),
                "another router on lan: devices may leave by IPv6 through fe80::1, past qa"
            ),
            (.notVerified, "qa is not verified: its profile names no page to ask for (health.url)"),
        ]
        #expect(sentences.map { $0.0.sentence("qa") } == sentences.map(\.1))
    }
}
