/// Machines that are upstreams: what they open goes directly and DNS tells them the truth, at each of their addresses,
/// or a proxy would be fed its own requests.

import Addresses
import Bytes
import Names
import Routing
import Testing
import Upstreams
import Wire

@testable import Gateway

private typealias Station = RoutingSettings.Devices.Station

@Suite("Machines that are upstreams")
struct UpstreamMachineTests {
    private static func address(_ text: String) -> IPAddress { Bench.address(text, 0).address }

    /// A laptop that is an upstream at the first address and has others; one whose address was found by its name.
    private static let laptop = ["10.9.0.4", "10.9.0.44", "fd00:9::4"].map(address)
    private static let found = address("10.9.0.6")
    private static let phone = address("10.9.0.2")
    /// Its MAC is the laptop's, on another interface.
    private static let namesake = address("10.9.1.4")

    /// Who is where, as the kernel says.
    private static let sight: NeighbourSight = {
        let mac = MACAddress(bits: 0x0200_0000_0004)
        var stations: [IPAddress: Station] = [:]
        for address in laptop { stations[address] = Station(mac: mac, interface: "lan") }
        stations[phone] = Station(mac: MACAddress(bits: 0x0200_0000_0002), interface: "lan")
        stations[namesake] = Station(mac: mac, interface: "wlan0")
        let known = stations
        return NeighbourSight({ known[$0] }, now: { Instant(nanoseconds: 1_000_000_000) })
    }()

    private static func policy(
        domains: [String], _ change: (inout RoutingSettings) throws -> Void = { _ in }
    ) throws -> Policy {
        let server = UpstreamSettings.Kind.http(server: Target(SocketAddress(laptop[0], 8888)))
        var routing = RoutingSettings(profile: "qa", upstream: UpstreamSettings(server))
        routing.profiles[0].rules = try RuleSet(
            domains: domains.map { SourceText(text: $0) }, bypass: [],
            rules: [SourceText(text: "DOMAIN,never.example,REJECT")])
        routing.fakesNames = true
        routing.lanNetworks = ["10.9.0.0/24", "10.9.1.0/24", "fd00:9::/64"].compactMap { IPPrefix(parsing: $0) }
        routing.upstreamMachines = [laptop[0]]
        routing.foundMachines = [found]
        try change(&routing)
        return try Policy(routing, sight: sight)
    }

    /// Where a flow goes, and why.
    private func way(
        _ name: String, _ device: IPAddress, by policy: Policy, over network: Network = .tcp
    ) -> String {
        let destination = Destination(name: name, port: 443, source: .fake)
        let route = policy.route(to: destination, from: device, over: network)
        let rule = route.rule.map { "\($0)" } ?? ""
        guard case .upstream(let upstream) = route.way else { return "refused: \(rule)" }
        return (upstream.server == nil ? "direct: " : "proxied: ") + rule
    }

    @Test("real answers and a direct way at each of its addresses, in both modes", arguments: [[], ["shop.example"]])
    func isDirect(domains: [String]) throws {
        let policy = try Self.policy(domains: domains)
        for device in Self.laptop + [Self.found] {
            for name in ["shop.example", "never.example"] {
                // Nothing of it is proxied, so no answer has to be short-lived for a switch.
                #expect(policy.nameVerdict(name, for: device) == .real(maximumTTL: nil), "\(name) \(device)")
                #expect(!policy.isFaked(name, for: device))
                for network in [Network.tcp, .udp] {
                    let way = way(name, device, by: policy, over: network)
                    #expect(way == "direct: the device is an upstream", "\(name) \(device)")
                }
            }
        }
        for device in [Self.phone, Self.namesake, Self.address("10.9.0.77")] {
            #expect(policy.nameVerdict("shop.example", for: device) == .fake, "\(device)")
            #expect(way("shop.example", device, by: policy).hasPrefix("proxied"), "\(device)")
            #expect(way("never.example", device, by: policy).hasPrefix("refused"), "\(device)")
        }
    }

    @Test("nothing that is said of the device counts more: profile, lists, and what becomes of strangers")
    func countsMost() throws {
        let policy = try Self.policy(domains: ["shop.example"]) { routing in
            routing.devices.newcomers = .blocked
            for device in Self.laptop {
                routing.devices.profiles[device] = 0
                routing.devices.lists[device] = try DeviceRules(direct: [], proxied: ["shop.example"])
            }
        }
        for device in Self.laptop + [Self.found] {
            #expect(policy.nameVerdict("shop.example", for: device) == .real(maximumTTL: nil))
            #expect(way("shop.example", device, by: policy) == "direct: the device is an upstream")
        }
        #expect(way("shop.example", Self.phone, by: policy).hasPrefix("refused"))
    }

    @Test("an address that has the machine's MAC no more is any other device's")
    func changesHands() throws {
        let stranger = Station(mac: MACAddress(bits: 0x0200_0000_0009), interface: "lan")
        let moved = NeighbourSight(
            { address in
                if address == Self.laptop[1] { return stranger }
                return address == Self.laptop[0]
                    ? Station(mac: MACAddress(bits: 0x0200_0000_0004), interface: "lan") : nil
            }, now: { Instant(nanoseconds: 1_000_000_000) })
        let policy = try Policy(try Self.policy(domains: []).settings, sight: moved)
        #expect(policy.nameVerdict("shop.example", for: Self.laptop[0]) == .real(maximumTTL: nil))
        #expect(policy.nameVerdict("shop.example", for: Self.laptop[1]) == .fake)
    }
}

extension WorkerTests {
    @Suite("A machine that is an upstream, in the tunnel")
    struct UpstreamMachines {
        /// The bench's upstream stands for the target too: who comes to it without a CONNECT has come directly.
        @Test("what it opens is dialled without the proxy, whether its address was written down or found")
        func goesDirect() throws {
            let machines = ["10.9.0.4", "10.9.0.6"].map { Bench.address($0, 0).address }
            let bench = try Bench {
                $0.routing.upstreamMachines = [machines[0]]
                $0.routing.foundMachines = [machines[1]]
            }
            for machine in machines {
                let client = bench.client(from: machine, to: bench.upstreamAddress)
                try client.sendSYN()
                let peer = try bench.accept()
                try client.establish()
                try client.send("first words")
                bench.until("they arrive as they are") { peer.text == "first words" }
                try client.reset()
                bench.settle()
                #expect(bench.lastFlowLine.contains("the device is an upstream"), "\(bench.lastFlowLine)")
            }
            let phone = bench.client(to: bench.upstreamAddress)
            try phone.sendSYN()
            let peer = try bench.accept()
            bench.until("the CONNECT is there") { peer.text.hasSuffix("\r\n\r\n") }
            #expect(peer.take().hasPrefix("CONNECT \(bench.upstreamAddress) HTTP/1.1\r\n"))
            try phone.sendRaw(.reset, sequence: SequenceNumber(1001))
            bench.expectNothingLeft()
        }
    }
}
