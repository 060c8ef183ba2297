/// A device's first packets, while the kernel's news of whose address they bear are held back.

import Addresses
import Bytes
import Names
import Routing
import Synchronization
import Testing
import Upstreams
import Wire

@testable import Gateway

private typealias Station = RoutingSettings.Devices.Station

/// A kernel that knows a few neighbours and counts how often it was asked, and a clock that stands still.
private final class Kernel: Sendable {
    private let state = Mutex<(neighbours: [IPAddress: Station], asked: [IPAddress], now: Instant)>(
        ([:], [], Instant(nanoseconds: 1_000_000_000)))

    func enter(_ address: IPAddress, _ station: Station?) { state.withLock { $0.neighbours[address] = station } }

    func pass(_ time: Interval) { state.withLock { $0.now = $0.now + time } }

    var asked: [IPAddress] { state.withLock { $0.asked } }

    var sight: NeighbourSight {
        NeighbourSight(
            { address in
                self.state.withLock { state in
                    state.asked.append(address)
                    return state.neighbours[address]
                }
            }, now: { self.state.withLock { $0.now } })
    }
}

@Suite("Devices whose news are held back")
struct NeighbourSightTests {
    private static let mac = MACAddress(bits: 0x0200_0000_0002)
    private static let phone = Bench.device
    private static let phone6 = Bench.address("fd00:9::2", 0).address
    private static let stranger = Bench.address("10.9.0.3", 0).address

    /// A phone that is known by its MAC and has the profile "own", on a LAN where nobody else is let in.
    private static func blocking(_ stations: [Station: RoutingSettings.Devices.Standing]) throws -> RoutingSettings {
        let server = UpstreamSettings.Kind.http(server: Target(Bench.address("192.0.2.8", 8080)))
        var routing = RoutingSettings(profile: "std", upstream: UpstreamSettings(server))
        routing.profiles.append(
            .init(
                id: "own", upstream: UpstreamSettings(server),
                rules: try RuleSet(domains: [SourceText(text: "own.example")], bypass: [], rules: [])))
        routing.profiles[0].rules = try RuleSet(domains: [SourceText(text: "std.example")], bypass: [], rules: [])
        routing.fakesNames = true
        routing.lanNetworks = ["10.9.0.0/24", "fd00:9::/64"].compactMap { IPPrefix(parsing: $0) }
        routing.devices.newcomers = .blocked
        routing.devices.stations = stations
        return routing
    }

    private static func isRefused(_ device: IPAddress, by policy: Policy) -> Bool {
        let route = policy.route(to: Destination(name: "own.example", port: 443, source: .fake), from: device)
        guard case .refused = route.way else { return false }
        return true
    }

    @Test("a known phone is let in with its own profile by its first packet, over both families, and nobody else is")
    func firstPacket() throws {
        let kernel = Kernel()
        let station = Station(mac: Self.mac, interface: "lan")
        for address in [Self.phone, Self.phone6] { kernel.enter(address, station) }
        kernel.enter(Self.stranger, Station(mac: MACAddress(bits: 0x0200_0000_0003), interface: "lan"))
        let routing = try Self.blocking([Station(mac: Self.mac, interface: nil): .init(profile: 1)])
        let policy = try Policy(routing, sight: kernel.sight)
        for address in [Self.phone, Self.phone6] {
            #expect(!Self.isRefused(address, by: policy))
            #expect(policy.profile(of: address) == 1)
            #expect(policy.nameVerdict("own.example", for: address) == .fake)
            #expect(policy.nameVerdict("std.example", for: address) != .fake)
        }
        #expect(Self.isRefused(Self.stranger, by: policy))
        #expect(Self.isRefused(Bench.address("10.9.0.4", 0).address, by: policy))
        // The next policy asks the same kernel.
        #expect(!Self.isRefused(Self.phone, by: try Policy(routing, after: policy)))
        // Without anybody to ask it is refused: that is what held-back news meant.
        #expect(Self.isRefused(Self.phone, by: try Policy(routing)))
    }

    @Test("what is said of a MAC on its interface is nearer than what is said of it anywhere, lists as well")
    func interfaces() throws {
        let kernel = Kernel()
        let lists = try DeviceRules(direct: [], proxied: ["extra.example"])
        let policy = try Policy(
            try Self.blocking([
                Station(mac: Self.mac, interface: nil): .init(profile: 0),
                Station(mac: Self.mac, interface: "wlan0"): .init(profile: 1, lists: lists),
            ]), sight: kernel.sight)
        kernel.enter(Self.phone, Station(mac: Self.mac, interface: "wlan0"))
        kernel.enter(Self.stranger, Station(mac: Self.mac, interface: "eth0"))
        #expect(policy.profile(of: Self.phone) == 1 && policy.profile(of: Self.stranger) == 0)
        #expect(policy.lists(of: Self.phone) == lists && policy.lists(of: Self.stranger) == nil)
        #expect(policy.nameVerdict("extra.example", for: Self.phone) == .fake)
    }

    @Test("nobody is asked about an address that the settings know, nor where no MAC is known, nor about ourselves")
    func asksOnlyWhatHelps() throws {
        let kernel = Kernel()
        let known: [Station: RoutingSettings.Devices.Standing] = [Station(mac: Self.mac, interface: nil): .init()]
        var routing = try Self.blocking(known)
        routing.devices.familiar = [Self.phone]
        routing.devices.profiles = [Self.phone6: 1]
        let policy = try Policy(routing, sight: kernel.sight)
        for address in [Self.phone, Self.phone6] { #expect(!Self.isRefused(address, by: policy)) }
        _ = policy.profile(of: Bench.address("127.0.0.1", 0).address)
        let none = try Policy(try Self.blocking([:]), sight: kernel.sight)
        #expect(Self.isRefused(Self.stranger, by: none))
        #expect(kernel.asked == [])
    }

    @Test("an address is asked for once a second, one that nobody has ten times, and made-up ones so often in all")
    func bounds() {
        let kernel = Kernel()
        let sight = kernel.sight
        let station = Station(mac: Self.mac, interface: "lan")
        kernel.enter(Self.phone, station)
        for _ in 0..<1000 {
            for _ in 0..<10 {
                #expect(sight.station(at: Self.phone) == station)
                #expect(sight.station(at: Self.stranger) == nil)
            }
            kernel.pass(.milliseconds(1))
        }
        let asked = kernel.asked
        #expect(asked.count { $0 == Self.phone } == 1)
        #expect(asked.count { $0 == Self.stranger } == 10)
        // Whoever has come meanwhile is found within a tenth of a second.
        kernel.enter(Self.stranger, station)
        kernel.pass(.milliseconds(100))
        #expect(sight.station(at: Self.stranger) == station)
        // It has gone to another device.
        kernel.enter(Self.phone, nil)
        kernel.pass(.seconds(1))
        #expect(sight.station(at: Self.phone) == nil)

        kernel.pass(.seconds(1))
        let before = kernel.asked.count
        for number in 0..<100_000 as Range<UInt32> { _ = sight.station(at: IPAddress(v4: 0x0a09_0100 + number)) }
        #expect(kernel.asked.count - before == NeighbourSight.questions)
        kernel.enter(Self.phone, station)
        kernel.pass(.milliseconds(100))
        #expect(sight.station(at: Self.phone) == station)
    }
}

extension WorkerTests {
    @Suite("First packets")
    struct FirstPackets {
        @Test("the first SYN of a known phone is carried though its news are held back, and a stranger's is refused")
        func syn() throws {
            let kernel = Kernel()
            let bench = try Bench { settings in
                settings.routing.lanNetworks = [IPPrefix(parsing: "10.9.0.0/24")].compactMap(\.self)
                settings.routing.devices.newcomers = .blocked
            }
            let mac = MACAddress(bits: 0x0200_0000_0002)
            kernel.enter(Bench.device, Station(mac: mac, interface: "lan"))
            var routing = bench.shared.policy.settings
            routing.devices.stations = [Station(mac: mac, interface: nil): .init(profile: 0)]
            bench.shared.board.replace(
                by: try Policy(routing, after: bench.shared.policy, sight: kernel.sight))
            let client = bench.client()
            let peer = try client.open()
            try client.send("first words")
            bench.until("the bytes arrive") { peer.text.hasSuffix("first words") }
            let stranger = bench.client(from: Bench.address("10.9.0.3", 0).address)
            try stranger.sendSYN()
            bench.until("the stranger is refused") { stranger.wasReset }
            try client.reset()
            bench.expectNothingLeft()
        }
    }
}
