/// The index against the plainest matcher there is: every rule tried in turn, by its definition.

import Addresses
import Routing
import TestSupport
import Testing

/// A rule, as text and as what it means.
private struct PlainRule {
    var text: String
    var verdict: Verdict
    var matches: (RouteQuery) -> Bool

    /// The definitions of the notation, on text.
    static func name(_ type: String, _ value: String, _ verdict: Verdict) -> PlainRule {
        PlainRule(text: "\(type),\(value),\(verdict)", verdict: verdict) { query in
            guard let name = query.name else { return false }
            switch type {
            case "DOMAIN": return name == value
            case "DOMAIN-SUFFIX": return name == value || name.hasSuffix("." + value)
            default: return (0...name.utf8.count).contains { String(name.dropFirst($0)).hasPrefix(value) }
            }
        }
    }

    static func other(_ text: String, _ verdict: Verdict, _ matches: @escaping (RouteQuery) -> Bool) -> PlainRule {
        PlainRule(text: "\(text),\(verdict)", verdict: verdict, matches: matches)
    }
}

struct LinearMatchTests {
    private static let verdicts: [Verdict] = [.proxy, .direct, .reject, .profile("p")]
    private static let labels = ["a", "b", "c", "ab", "com", "xn--a", "_s"]

    private static func name(_ random: inout SeededGenerator) -> String {
        (0..<random.number(1..<5)).map { _ in labels[random.number(0..<labels.count)] }.joined(separator: ".")
    }

    /// Few addresses, so that networks nest.
    private static func address(_ random: inout SeededGenerator) -> IPAddress {
        if random.chance(0.3) { return IPAddress(high: 0x2001_0db8 << 32, low: random.next() & 0xf0f) }
        return IPAddress(v4: 0x0a00_0000 | UInt32(random.number(0..<64)))
    }

    private static func network(_ random: inout SeededGenerator) -> IPPrefix {
        let address = address(&random)
        let length = address.isIPv4 ? random.number(24..<33) : random.number(112..<129)
        return IPPrefix(address, length: random.chance(0.05) ? 0 : length)!
    }

    private static func rule(_ random: inout SeededGenerator) -> PlainRule {
        let verdict = verdicts[random.number(0..<verdicts.count)]
        switch random.number(0..<12) {
        case 0...2: return .name("DOMAIN", name(&random), verdict)
        case 3...5: return .name("DOMAIN-SUFFIX", name(&random), verdict)
        case 6: return .name("DOMAIN-KEYWORD", ["b.c", "xn", "_", "ab", "com", "abc"][random.number(0..<6)], verdict)
        case 7, 8:
            let prefix = network(&random)
            return .other("IP-CIDR,\(prefix)", verdict) { $0.address.map(prefix.contains) ?? false }
        case 9:
            let prefix = network(&random)
            return .other("SRC-IP-CIDR,\(prefix)", verdict) { $0.source.map(prefix.contains) ?? false }
        case 10:
            let first = UInt16(random.number(1..<20))
            let last = first + UInt16(random.number(0..<5))
            return .other("DST-PORT,\(first)-\(last)", verdict) { $0.port.map { first...last ~= $0 } ?? false }
        default:
            let network: Network = random.chance(0.5) ? .tcp : .udp
            return .other("NETWORK,\(network)", verdict) { $0.network == network }
        }
    }

    private static func query(_ random: inout SeededGenerator) -> RouteQuery {
        RouteQuery(
            name: random.chance(0.8) ? name(&random) : nil, address: random.chance(0.7) ? address(&random) : nil,
            port: random.chance(0.8) ? UInt16(random.number(1..<30)) : nil,
            source: random.chance(0.5) ? address(&random) : nil,
            network: random.chance(0.3) ? .tcp : random.chance(0.3) ? .udp : nil)
    }

    @Test("the index decides as trying every rule in turn does (B144)", arguments: 0..<40 as Range<UInt64>)
    func sameDecision(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let rules = (0..<random.number(0..<60)).map { _ in Self.rule(&random) }
        let set = try ruleSet(domains: ["listed.invalid"], rules: rules.map(\.text), profiles: ["p"])
        for _ in 0..<300 {
            let query = Self.query(&random)
            let expected = rules.firstIndex { $0.matches(query) }
            let decision = set.decide(query)
            #expect(decision.origin?.line == expected.map { $0 + 1 }, "seed \(seed): \(query)")
            #expect(decision.verdict == expected.map { rules[$0].verdict } ?? .direct, "seed \(seed): \(query)")
        }
    }

    @Test("a settled name is decided so in every flow to it", arguments: 0..<20 as Range<UInt64>)
    func settledNames(seed: UInt64) throws {
        var random = SeededGenerator(seed: 1000 + seed)
        let rules = (0..<random.number(0..<12)).map { _ in Self.rule(&random) }
        let set = try ruleSet(domains: ["a"], rules: rules.map(\.text), profiles: ["p"])
        for _ in 0..<80 {
            let name = Self.name(&random)
            let flows = (0..<30).map { _ in
                var flow = Self.query(&random)
                (flow.name, flow.address) = (name, nil)
                return set.verdict(flow)
            }
            guard case .settled(let decision) = set.verdict(forName: name) else { continue }
            #expect(flows.allSatisfy { $0 == decision.verdict }, "seed \(seed): \(name)")
        }
    }

    @Test("where a name does not matter, no name changes what is decided", arguments: 0..<20 as Range<UInt64>)
    func indifferentNames(seed: UInt64) throws {
        var random = SeededGenerator(seed: 2000 + seed)
        let rules = (0..<random.number(0..<8)).map { _ in Self.rule(&random) }
        let set = try ruleSet(domains: ["192.0.2.0/24"], rules: rules.map(\.text), profiles: ["p"])
        for _ in 0..<100 {
            var query = Self.query(&random)
            query.name = nil
            guard !set.nameMatters(query) else { continue }
            let without = set.decide(query).verdict
            for _ in 0..<40 {
                query.name = Self.name(&random)
                #expect(set.decide(query).verdict == without, "seed \(seed): \(query)")
            }
        }
    }

    @Test("with capture of names alone, what is not captured is direct", arguments: 0..<40 as Range<UInt64>)
    func captured(seed: UInt64) throws {
        var random = SeededGenerator(seed: 3000 + seed)
        let rules = (0..<random.number(0..<6)).map { _ in Self.rule(&random) }
        let set = try ruleSet(domains: ["a"], rules: rules.map(\.text), profiles: ["p"])
        let device = Self.address(&random)
        guard case .names(let prefixes) = set.capture(for: device) else { return }
        for _ in 0..<200 {
            var query = Self.query(&random)
            query.source = device
            // A name that isn't direct has a fake address, which is captured; so the flow has none here.
            query.name = nil
            query.address = Self.address(&random)
            guard !prefixes.contains(where: { $0.contains(query.address!) }) else { continue }
            #expect(set.decide(query).verdict == .direct, "seed \(seed): \(query)")
        }
    }
}
