/// A laptop offers the proxy that runs on it: it is tried beside everything else, and one phone takes it with a code.

import Addresses
import Bytes
import Control
import Devices
import Foundation
import LinuxIO
import Page
import Profiles
import Synchronization
import Testing
import Wire

@testable import Administration
@testable import Upstreams

/// What lint would find at a proxy.
private func found(_ kind: ProxyKind = .whistle, type: String? = "http", in plan: LintPlan) -> LintReport {
    var report = LintReport(server: plan.server)
    report.type = type
    report.kind = kind
    report.checks = [LintCheck(.connect, type == nil ? .bad : .good, "as the test says")]
    report.settings = [
        LintSetting(key: "type", value: .text(type ?? ""), reason: "", isUpstreams: true),
        LintSetting(key: "kind", value: .text(kind.rawValue), reason: "", isUpstreams: true),
        LintSetting(key: "halfClose", value: .text("hold"), reason: "", isUpstreams: true),
        LintSetting(key: "identify", value: .flag(true), reason: "", isUpstreams: true),
        LintSetting(key: "connectName", value: .text("sni"), reason: "", isUpstreams: false),
    ]
    if type == nil { report.notes = ["look at its screen"] }
    return report
}

extension Desk {
    static let mac = "02:00:00:00:00:aa"

    func look(from address: String = "10.20.3.77", port: String? = nil) throws -> LaptopView {
        administrator.laptop(
            at: try #require(IPAddress(parsing: address)), port: port, authority: "10.20.0.1:10080", &gateway)
    }

    func confirm(_ port: String, from address: String = "10.20.3.77") throws -> LaptopView {
        administrator.bringLaptop(at: try #require(IPAddress(parsing: address)), port: port, &gateway)
    }

    /// Confirms, and looks until the proxy was tried.
    func offer(_ port: String = "8899", from address: String = "10.20.3.77") throws -> LaptopView {
        _ = try confirm(port, from: address)
        return try wait(at: address)
    }

    /// Looks until the proxy was tried.
    func wait(at address: String) throws -> LaptopView {
        var view = try look(from: address)
        let deadline = Date().addingTimeInterval(10)
        while case .trying = view.stage, Date() < deadline {
            Thread.sleep(forTimeInterval: 0.01)
            view = try look(from: address)
        }
        return view
    }

    /// The query of the code that a laptop shows.
    func code(from address: String = "10.20.3.77") throws -> String {
        guard case .ready(let ticket) = try offer(from: address).stage else { throw Missing() }
        let prefix = "http://10.20.0.1:10080/a?"
        #expect(ticket.link.hasPrefix(prefix))
        return String(ticket.link.dropFirst(prefix.count))
    }

    func take(_ query: String, _ device: String = "pixel") throws(ControlError) -> Int64? {
        try administrator.takeOwnOffer(query, for: try administrator.find(device), device, &gateway)
    }

    struct Missing: Error {}
}

@Suite("Laptops")
struct LaptopTests {
    /// A desk that knows a laptop, whose proxy is as the test says.
    private static func desk(
        _ more: String = Desk.adhoc, _ lint: @escaping @Sendable (LintPlan) -> LintReport = { found(in: $0) }
    ) throws -> Desk {
        let desk = try Desk(more)
        desk.administrator.laptops.lint = lint
        try desk.see(Desk.mac, at: "10.20.3.77")
        return desk
    }

    @Test("the laptop confirms its own address, its proxy is tried, and one phone gets it, as it was found to be")
    func offers() throws {
        let asked = Mutex<LintPlan?>(nil)
        let desk = try Self.desk { plan in
            asked.withLock { $0 = plan }
            return found(in: plan)
        }
        defer { desk.remove() }
        #expect(try desk.look(port: "8899").stage == .asking(port: FormField("8899")))
        let before = Int64(Date().timeIntervalSince1970)
        guard case .ready(let ticket) = try desk.offer().stage else {
            Issue.record("no code")
            return
        }
        #expect(ticket.server == "10.20.3.77:8899" && ticket.kind == .whistle)
        #expect(ticket.findings == [LaptopView.Finding(isGood: true, words: "connection: as the test says")])
        #expect((before + 600...before + 611).contains(ticket.expires))
        let plan = try #require(asked.withLock { $0 })
        #expect(plan.server == Target(host: .address(IPAddress(v4: 0x0a14_034d)), port: 8899) && plan.idle == .zero)
        // Nobody has it before a phone takes it.
        #expect(desk.hasNoOwnProxy)
        let query = try desk.code()
        let offer = try desk.administrator.ownOffer(query, for: try desk.administrator.find("pixel"))
        #expect(offer?.lease == 3600 && offer?.laptop == Desk.mac && offer?.profile.id == "own-pixel")
        let end = try #require(try desk.take(query))
        #expect((before + 3600...before + 3612).contains(end))
        let upstream = try #require(desk.administrator.plan.effective.configuration.profile("own-pixel")).upstream
        #expect(upstream.kind == .whistle && upstream.halfClose == .hold && upstream.identify && upstream.type == .http)
        #expect(desk.ask(.get, "/v1/devices/pixel").has("own proxy of \(Desk.mac)", "\"until\":\(end)"))
        #expect(desk.ask(.get, "/v1/history").has("\"by\":\"pixel\",\"how\":\"own proxy\"", "10.20.3.77:8899"))
        let view = try desk.look()
        #expect(view.phones == ["pixel"] && view.stage == .asking(port: FormField("8899")))
        #expect(desk.ask(.get, "/v1/devices/tv").has("\"profile\":\"a\""))
    }

    @Test("a code is good for one phone, once, and for ten minutes")
    func once() throws {
        let desk = try Self.desk()
        defer { desk.remove() }
        let query = try desk.code()
        #expect(try desk.take(query) != nil)
        for device in ["tv", "pixel"] {
            let error = #expect(throws: ControlError.self) { try desk.take(query, device) }
            #expect(
                error?.status == 403 && error?.message.contains("pixel has taken") == true, "\(error?.message ?? "")")
        }
        let second = try desk.code()
        let nonce = try #require(second.split(separator: "&").first { $0.hasPrefix("once=") }).dropFirst(5)
        var offer = try #require(desk.administrator.laptops.offer(String(nonce)))
        let left = offer.end - Clock.now()
        #expect(left <= .seconds(600) && left > .seconds(580))
        offer.end = Clock.now()
        desk.administrator.laptops.keep(offer)
        let error = #expect(throws: ControlError.self) { try desk.take(second, "tv") }
        #expect(error?.message.contains("10 minutes") == true, "\(error?.message ?? "")")
        #expect(try desk.look().stage == .asking(port: FormField("8899")))
        #expect(desk.ask(.get, "/v1/devices/tv").has("\"profile\":\"a\""))
        // A newer code of the same laptop replaces one that nobody has taken.
        let (third, fourth) = (try desk.code(), try desk.code())
        let replaced = #expect(throws: ControlError.self) { try desk.take(third, "tv") }
        #expect(replaced?.message.contains("newer") == true)
        #expect(try desk.take(fourth, "tv") != nil)
    }

    @Test("a code that was changed is refused, another link is not ours, and what fails leaves the code good")
    func changed() throws {
        let desk = try Self.desk()
        defer { desk.remove() }
        let query = try desk.code()
        for (old, new) in [("port=8899", "port=8898"), ("10.20.3.77", "10.20.3.78"), ("once=", "once=a")] {
            let error = #expect(throws: ControlError.self) { try desk.take(query.replacing(old, with: new)) }
            #expect(error?.code == "wrongSignature", "\(old): \(error?.message ?? "")")
        }
        #expect(try desk.take("v=1&profile=a") == nil)
        #expect(try desk.take("nonsense") == nil)
        // The laptop is no phone of its own, and a device can't be its own proxy.
        let laptop = #expect(throws: ControlError.self) { try desk.take(query, Desk.mac) }
        #expect(laptop?.message.contains("on the laptop") == true)
        #expect(desk.hasNoOwnProxy)
        try desk.edit(Desk.profiles, Desk.phones + "adhoc: { from: ['10.21.0.0/16'] },")
        #expect(desk.ask(.post, "/v1/reload").status == 200)
        #expect(throws: ControlError.self) { try desk.take(query) }
        #expect(desk.hasNoOwnProxy)
        try desk.edit(Desk.profiles, Desk.adhoc)
        #expect(desk.ask(.post, "/v1/reload").status == 200)
        #expect(try desk.take(query) != nil)
    }

    @Test(
        "a port that is none, or out of bounds, is refused beside its field with what was typed",
        arguments: [
            ("80", "found the port 80; expected a port in 1024-9999"), ("", "found no port"), ("0", "found no port"),
            ("99999", "found no port"), ("8899x", "found no port"), ("٨٨٩٩", "found no port"),
        ])
    func ports(port: String, words: String) throws {
        let desk = try Self.desk()
        defer { desk.remove() }
        guard case .asking(let field) = try desk.confirm(port).stage else {
            Issue.record("not refused")
            return
        }
        #expect(field.value == port && field.error?.hasPrefix(words) == true, "\(field)")
        #expect(desk.administrator.laptops.stands.isEmpty)
    }

    @Test("machines elsewhere offer nothing, nor does anybody without `adhoc`")
    func elsewhere() throws {
        let desk = try Self.desk()
        defer { desk.remove() }
        for address in ["10.21.3.77", "127.0.0.1", "fe80::1", "224.0.0.1"] {
            for view in [try desk.look(from: address), try desk.confirm("8899", from: address)] {
                guard case .refused(let why) = view.stage else {
                    Issue.record("\(address) is let in")
                    continue
                }
                #expect(why.contains("10.20.0.0/16"), "\(why)")
            }
        }
        let off = try Self.desk(Desk.phones)
        defer { off.remove() }
        guard case .refused(let why) = try off.confirm("8899").stage else {
            Issue.record("let in")
            return
        }
        #expect(why.contains("adhoc"))
        #expect(off.administrator.laptops.stands.isEmpty)
    }

    @Test("what is no proxy gets no code, and says what was found")
    func failed() throws {
        let desk = try Self.desk { found(type: nil, in: $0) }
        defer { desk.remove() }
        let stage = try desk.offer().stage
        #expect(
            stage
                == .failed(
                    port: FormField("8899", error: "as the test says"),
                    findings: [
                        LaptopView.Finding(isGood: false, words: "connection: as the test says"),
                        LaptopView.Finding(isGood: nil, words: "look at its screen"),
                    ]))
        #expect(desk.administrator.laptops.offers.isEmpty)
    }

    @Test("nobody waits for a proxy that is tried, and only a few are at a time")
    func aside() throws {
        let gate = DispatchSemaphore(value: 0)
        let desk = try Self.desk { plan in
            gate.wait()
            return found(in: plan)
        }
        defer { desk.remove() }
        for number in 1...4 {
            let view = try desk.confirm("8899", from: "10.20.4.\(number)")
            #expect(view.stage == .trying(server: "10.20.4.\(number):8899"))
        }
        #expect(try desk.look(from: "10.20.4.1").stage == .trying(server: "10.20.4.1:8899"))
        // Asking again is no second trial.
        #expect(try desk.confirm("8899", from: "10.20.4.1").stage == .trying(server: "10.20.4.1:8899"))
        guard case .asking(let field) = try desk.confirm("8899", from: "10.20.4.5").stage else {
            Issue.record("a fifth one is tried")
            return
        }
        #expect(field.error?.contains("too many") == true)
        for _ in 1...4 { gate.signal() }
        guard case .ready = try desk.wait(at: "10.20.4.1").stage else {
            Issue.record("no code")
            return
        }
        gate.signal()
        _ = try desk.offer(from: "10.20.4.5")
    }

    @Test("phones follow a laptop to its new address when its page is opened again, by its MAC alone")
    func follows() throws {
        let networks = "adhoc: { from: ['10.20.0.0/16', '2001:db8::/32'] },"
        let desk = try Self.desk(Desk.phones + networks)
        defer { desk.remove() }
        let end = try #require(try desk.take(try desk.code()))
        try desk.bring("10.20.3.77:8899", for: "tv")
        func place(_ profile: String) -> String? {
            desk.administrator.plan.effective.configuration.profile(profile)?.upstream.server?.description
        }
        let revision = desk.administrator.store.number
        // Its IPv6 address, its old one, and another machine's page change nothing.
        try desk.see(Desk.mac, at: "2001:db8::77")
        try desk.see("02:00:00:00:00:bb", at: "10.20.3.99")
        for address in ["2001:db8::77", "10.20.3.77", "10.20.3.99"] { _ = try desk.look(from: address) }
        #expect(place("own-pixel") == "10.20.3.77:8899" && desk.administrator.store.number == revision)
        // Out of bounds it is not followed.
        try desk.see(Desk.mac, at: "10.21.3.78")
        _ = try desk.look(from: "10.21.3.78")
        #expect(place("own-pixel") == "10.20.3.77:8899")
        try desk.see(Desk.mac, at: "10.20.3.78", on: "eth1")
        let view = try desk.look(from: "10.20.3.78")
        #expect(place("own-pixel") == "10.20.3.78:8899" && view.phones == ["pixel"])
        #expect(desk.ask(.get, "/v1/devices/pixel").has("\"until\":\(end)"))
        #expect(desk.ask(.get, "/v1/history").has("is at 10.20.3.78 now: own-pixel follows"))
        // What somebody has typed stays as it was typed.
        #expect(place("own-tv") == "10.20.3.77:8899")
    }

    @Test("Lint itself: a port where nobody listens is no proxy", .timeLimit(.minutes(1)))
    func nobody() throws {
        let report = LintJob.lint(LintPlan(Target(host: .address(IPAddress(v4: 0x7f00_0001)), port: 9)))
        #expect(report.type == nil && report.checks.map(\.verdict) == [.bad])
    }
}
