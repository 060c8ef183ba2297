/// Every page in every state, with a text of a device's or a person's choice wherever one can stand.

import Bytes
import Health
import Profiles

@testable import Page

let key = Array(UInt8(0)..<32)
let now: Int64 = 1_800_000_000
let phone = "3c:28:6d:12:34:56@wlan0"

func context(_ gateway: String = "lab-3") -> PageContext {
    PageContext(gateway: gateway, authority: "10.9.0.1", now: now, tokens: PageToken(key: key), device: phone)
}

extension PageAnswer {
    var text: String { String(decoding: body, as: UTF8.self) }
}

/// Makes every page with one text.
struct Views {
    var text: String

    var device: DeviceView { DeviceView(name: text, label: text, address: "10.9.0.23") }
    private var context: PageContext { PageTests.context(text) }

    func upstream(_ colour: Colour, _ cause: Cause?, _ kind: UpstreamView.Kind = .charles) -> UpstreamView {
        UpstreamView(
            address: text, kind: kind, reading: .decrypts(issuer: text), colour: colour, cause: cause, note: text,
            since: now - 100, lastGood: now - 100_000)
    }

    func profile(_ mode: ProfileView.Mode, _ upstream: UpstreamView) -> ProfileView {
        ProfileView(id: text, name: text, mode: mode, upstream: upstream)
    }

    func home(_ cause: Cause? = nil, _ mode: ProfileView.Mode = .everything) -> HomeView {
        HomeView(
            device: device, way: .profile(profile(mode, upstream(cause == nil ? .green : .red, cause))),
            origin: .assignment(by: text, since: now - 60, until: now + 3120),
            choices: [HomeView.Choice(id: text, name: text), HomeView.Choice(id: "whistle-qa", name: "Whistle QA")],
            lease: 28_800)
    }

    /// Where every page is offered.
    private var full: PageContext {
        var full = context
        full.offers = [.certificate, .ownProxy, .board, .proxyScript, .learn]
        return full
    }

    /// The pages, each under a name of its own.
    func pages() throws -> [(name: String, answer: PageAnswer)] {
        try homes + [
            (
                "confirm",
                confirm(
                    .offer(
                        ConfirmView.Offer(
                            profile: profile(.domains([text]), upstream(.red, .portClosed)), signer: text, lease: 3600))
                )
            ),
            ("confirm-refused", confirm(.refused(text))),
        ] + requests + learn + certificates + proxies() + codes() + checks + refusals
    }

    private func confirm(_ outcome: ConfirmView.Outcome) -> PageAnswer {
        ConfirmView(device: device, current: text, query: text, outcome: outcome).answer(in: full)
    }

    private var homes: [(name: String, answer: PageAnswer)] {
        var first = home(nil, .domains([text]))
        first.isFirstVisit = true
        first.device.name = nil
        first.naming = FormField(text, error: text)
        first.refusal = text
        first.warnings = [text, text]
        first.leftCertificate = .whistle
        first.usesProxyScript = true
        var noted = home(nil, .domains(Array(repeating: text, count: 7)))
        noted.notice = .switched
        var direct = home()
        direct.way = .direct
        direct.origin = .interface(text)
        direct.choices = []
        var blocked = direct
        blocked.way = .blocked
        blocked.origin = .newcomer
        let causes = Self.causes(text).enumerated().map { ("cause-\($0)", home($1).answer(in: context)) }
        return causes + [
            ("first", first.answer(in: context)), ("noted", noted.answer(in: full)),
            ("direct", direct.answer(in: context)), ("blocked", blocked.answer(in: context)),
        ]
    }

    /// Every cause.
    static func causes(_ text: String) -> [Cause] {
        let steps: [Cause.Step] = [.connect, .proxy, .page]
        return [
            .noUplink(text), .nameUnknown(text), .portClosed, .unreachable(text), .credentialsRejected,
            .schemesNotSupported([text]), .refused(status: 403, text: text), .socksRefused(text), .originFailing(text),
            .wrongPage(text), .slow(.seconds(3)), .stale(.hours(3)), .neverTried, .notVerified, .gateway(text),
            .wayAround(text),
        ] + steps.map(Cause.silent) + steps.map(Cause.closed) + steps.map { .malformed($0, text) }
    }

    private var requests: [(name: String, answer: PageAnswer)] {
        let ways: [RequestsView.Entry.Way] = [.proxied, .direct, .refused, .asked]
        var view = RequestsView(
            device: device,
            entries: ways.map { way in
                RequestsView.Entry(
                    host: text, way: way, rule: text, result: text, up: 900, down: 5 << 20, at: now - 5,
                    mayGoDirect: way == .proxied, mayBeProxied: way != .proxied)
            })
        view.sentDirect = [text]
        view.proxied = [text]
        view.refusal = text
        let empty = RequestsView(device: device, entries: [])
        return [("requests", view.answer(in: full)), ("requests-none", empty.answer(in: context))]
    }

    private var learn: [(name: String, answer: PageAnswer)] {
        let groups = [
            LearnView.Group(suffix: text, names: [text, text], isTicked: true),
            LearnView.Group(suffix: "b.example", names: [text], isTicked: false),
        ]
        var refused = LearnView(device: device, stage: .over, groups: groups)
        refused.refusal = text
        let stages: [LearnView.Stage] = [.ready, .running(until: now + 90), .over]
        return stages.enumerated().map { number, stage in
            ("learn-\(number)", LearnView(device: device, stage: stage, groups: groups).answer(in: context))
        } + [("learn-refused", refused.answer(in: context))]
    }

    private var certificates: [(name: String, answer: PageAnswer)] {
        let found = CertificateView.Certificate(
            subject: text, sha256: Array(repeating: 10, count: 32), expires: now - 1)
        let outcomes: [CertificateView.Outcome] = [.notNeeded, .missing(text), .found(found), .underway]
        return outcomes.enumerated().map { number, outcome in
            let view = CertificateView(device: device, profile: text, kind: .mitmproxy, outcome: outcome)
            return ("certificate-\(number)", view.answer(in: context))
        }
    }

    private func proxies() throws -> [(name: String, answer: PageAnswer)] {
        let terms = OwnProxyTerms(lease: 3600, longest: 28_800, from: text, ports: text)
        let own = OwnProxyView(
            device: device, terms: terms, server: FormField(text, error: text), domains: FormField(text, error: text))
        let ticket = try LaptopView.Ticket(
            server: text, kind: .whistle,
            findings: [true, false, nil].map { LaptopView.Finding(isGood: $0, words: text) }, link: text,
            expires: now + 600)
        let stages: [LaptopView.Stage] = [
            .asking(port: FormField(text, error: text)), .ready(ticket), .refused(text),
            .trying(server: text), .failed(port: FormField(text), findings: ticket.findings),
        ]
        return [
            ("own", own.answer(in: context)),
            ("own-off", OwnProxyView(device: device, terms: nil).answer(in: context)),
        ]
            + stages.enumerated().map { number, stage in
                (
                    "laptop-\(number)",
                    LaptopView(address: text, terms: terms, stage: stage, phones: [text]).answer(in: context)
                )
            }
    }

    private func codes() throws -> [(name: String, answer: PageAnswer)] {
        var sheet = CodeSheet(gateway: text)
        try sheet.add(profile: "whistle-qa", name: text, .page(gateway: "10.9.0.1"))
        let rows = [Colour.green, .yellow, .red, .grey].map { colour in
            BoardView.Row(device: text, profile: text, colour: colour, cause: text, until: now + 9, seen: now - 9)
        }
        return [
            ("codes", CodesView(sheet: sheet).answer(in: context)),
            ("codes-none", CodesView(sheet: CodeSheet(gateway: text)).answer(in: context)),
            (
                "board",
                BoardView(rows: rows + [BoardView.Row(device: text, profile: text, colour: nil)]).answer(in: context)
            ),
        ]
    }

    private var checks: [(name: String, answer: PageAnswer)] {
        let images = CheckView.Images(nonce: "n1x", route: "198.18.0.2", ipv6: "[2001:2::2]")
        let faults = CheckView.Fault.allCases.map { CheckView.Result(.names, fault: $0, detail: text) }
        let stages: [CheckView.Stage] =
            [.unknown, .results(faults + CheckView.Question.allCases.map { CheckView.Result($0) })]
            + (images.map { [.asking(nonce: "n1x", $0)] } ?? [])
        return stages.enumerated().map { number, stage in
            ("check-\(number)", CheckView(device: device, stage: stage).answer(in: context))
        }
    }

    private var refusals: [(name: String, answer: PageAnswer)] {
        let all: [PageRefusal] = [
            .otherHost, .method(allowed: ["GET"]), .otherOrigin, .notForm, .tooLarge, .form(.repeated(text)), .token,
            .unknownPath, .tooOften, .busy,
        ]
        return all.enumerated().map { ("refusal-\($0)", $1.answer(in: context)) }
            + [("refused", RefusalView(title: text, words: text).answer(in: context))]
    }
}
