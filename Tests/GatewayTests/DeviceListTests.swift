/// What a device sends elsewhere than its profile says, and what it is told that it wanted.

import Addresses
import Bytes
import LinuxIO
import Names
import Routing
import Testing
import Upstreams
import Wire

@testable import Gateway

private func listedPolicy(domains: [String], _ change: (inout RoutingSettings) -> Void = { _ in }) throws -> Policy {
    let server = UpstreamSettings.Kind.http(server: Target(Bench.address("192.0.2.8", 8080)))
    var routing = RoutingSettings(profile: "qa", upstream: UpstreamSettings(server))
    routing.profiles[0].rules = try RuleSet(
        domains: domains.map { SourceText(text: $0) }, bypass: [SourceText(text: "bypassed.example")],
        rules: [SourceText(text: "DOMAIN,never.example,REJECT")])
    routing.fakesNames = true
    let lists = try DeviceRules(
        direct: ["cdn.example", "never.example"], proxied: ["extra.example", "bypassed.example", "203.0.113.0/24"])
    routing.devices.profiles[Bench.device] = 0
    routing.devices.lists[Bench.device] = lists
    change(&routing)
    return try Policy(routing)
}

@Suite("A device's own lists")
struct DeviceListTests {
    private static let other = Bench.address("10.9.0.3", 0).address

    /// Where a name goes, and why.
    private func way(_ name: String, _ device: IPAddress, by policy: Policy) -> String {
        let route = policy.route(to: Destination(name: name, port: 443, source: .fake), from: device)
        let rule = route.rule.map { " \($0)" } ?? ""
        guard case .upstream(let upstream) = route.way else { return "refused\(rule)" }
        return (upstream.server == nil ? "direct" : "proxied") + " by \(route.profileID)" + rule
    }

    @Test("they win over rules, bypass and domains, and are another device's business no more")
    func decides() throws {
        let own = "this phone's own list"
        for domains in [["shop.example", "cdn.example"], []] {
            let policy = try listedPolicy(domains: domains)
            #expect(way("x.cdn.example", Bench.device, by: policy) == "direct by qa \(own): cdn.example")
            #expect(way("never.example", Bench.device, by: policy) == "direct by qa \(own): never.example")
            #expect(way("extra.example", Bench.device, by: policy) == "proxied by qa \(own): extra.example")
            #expect(way("bypassed.example", Bench.device, by: policy) == "proxied by qa \(own): bypassed.example")
            #expect(way("x.cdn.example", Self.other, by: policy).hasPrefix("proxied"))
            #expect(way("never.example", Self.other, by: policy).hasPrefix("refused"))
            #expect(way("bypassed.example", Self.other, by: policy).hasPrefix("direct"))
            #expect(way("extra.example", Self.other, by: policy).hasPrefix(domains.isEmpty ? "proxied" : "direct"))
        }
    }

    @Test("DNS answers with a fake address for what is proxied, and with the real one for what is direct")
    func names() throws {
        let policy = try listedPolicy(domains: ["shop.example", "cdn.example"])
        #expect(policy.nameVerdict("extra.example", for: Bench.device) == .fake)
        #expect(policy.nameVerdict("cdn.example", for: Bench.device) == .real(maximumTTL: 60))
        #expect(policy.nameVerdict("extra.example", for: Self.other) == .real(maximumTTL: 60))
        #expect(policy.nameVerdict("cdn.example", for: Self.other) == .fake)
        let global = try listedPolicy(domains: [])
        #expect(global.nameVerdict("cdn.example", for: Bench.device) == .real(maximumTTL: nil))
    }

    @Test("an upstream's machine and its name stay direct, whatever a device wants")
    func upstreams() throws {
        let policy = try listedPolicy(domains: []) { $0.upstreamNames = ["extra.example"] }
        #expect(way("extra.example", Bench.device, by: policy).hasPrefix("direct by qa the target is an upstream"))
        #expect(policy.nameVerdict("extra.example", for: Bench.device) == .real(maximumTTL: nil))
    }

    @Test("capture stays by names, since the lists are names")
    func capture() throws {
        let policy = try listedPolicy(domains: ["shop.example"])
        #expect([Bench.device, Self.other].map { "\(policy.capture(of: $0))" } == ["names", "names"])
        let network = try #require(IPPrefix(parsing: "203.0.113.0/24"))
        #expect(policy.settings.devices.lists[Bench.device]?.prefixes == [network])
    }

    @Test("a flow without a name is looked at where a name in it could change its way")
    func sniffs() throws {
        // Without a rule of its own the profile needs no name.
        let policy = try listedPolicy(domains: []) { $0.profiles[0].rules = .everything }
        let target = Destination(Bench.address("198.51.100.7", 443))
        #expect(policy.wantsSniffing(target, from: Bench.device) && !policy.wantsSniffing(target, from: Self.other))
    }
}
