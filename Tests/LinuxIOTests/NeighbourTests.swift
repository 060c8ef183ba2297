/// Neighbours as the kernel tells them, beside what ip(8) shows and does.

import Addresses
import Bytes
import Glibc
import LinuxIO
import TestSupport
import Testing

@Suite(.enabled(if: Namespace.isAvailable)) struct NeighbourTests {
    private static let mac = MACAddress(bits: 0x0200_0000_0099)

    @Test("the table is what ip neigh has put there, of both families")
    func table() throws {
        let found = try Namespace.run {
            try Self.makePair()
            try Namespace.ip("neigh add 10.9.0.40 lladdr 02:00:00:00:00:99 nud permanent dev lan")
            try Namespace.ip("neigh add 10.9.0.41 lladdr 02:00:00:00:00:99 nud stale dev lan")
            try Namespace.ip("neigh add 10.9.0.42 lladdr 02:00:00:00:00:98 nud reachable dev lan")
            try Namespace.ip("neigh add 2001:db8:9::40 lladdr 02:00:00:00:00:99 nud reachable router dev lan")
            // Nobody is behind these.
            try Namespace.ip("neigh add 10.9.0.43 nud failed dev lan")
            try Namespace.ip("neigh add 10.9.0.44 lladdr 02:00:00:00:00:97 nud noarp dev lan")
            return (try KernelNeighbour.readAll(), try KernelNetwork.read().neighbours)
        }
        let byAddress = Dictionary(found.0.map { ("\($0.address)", $0) }) { first, _ in first }
        #expect(byAddress.keys.sorted() == ["10.9.0.40", "10.9.0.41", "10.9.0.42", "2001:db8:9::40"])
        #expect(found.0.allSatisfy { $0.interface == "lan" })
        #expect(byAddress["10.9.0.40"]?.state == .permanent)
        #expect(byAddress["10.9.0.41"]?.state == .stale)
        #expect(byAddress["10.9.0.42"]?.state == .reachable)
        #expect(byAddress["10.9.0.42"]?.hardware == MACAddress(bits: 0x0200_0000_0098))
        #expect(byAddress["2001:db8:9::40"]?.hardware == Self.mac)
        #expect(found.0.filter(\.isRouter).map { "\($0.address)" } == ["2001:db8:9::40"])
        #expect((byAddress["10.9.0.42"]?.sinceConfirmed ?? .hours(1)) < .seconds(20))
        let known = Set(found.1.map(\.address))
        #expect(known == Set(found.0.map(\.address)))
    }

    @Test("one neighbour is asked for by its address, and only one on a link of ours whose address somebody has")
    func question() throws {
        let (found, after) = try Namespace.run {
            try Self.makePair()
            let question = try NeighbourQuestion()
            try Namespace.ip("neigh add 10.9.0.40 lladdr 02:00:00:00:00:99 nud stale dev lan")
            try Namespace.ip("neigh add 2001:db8:9::40 lladdr 02:00:00:00:00:98 nud reachable router dev lan")
            try Namespace.ip("neigh add 10.9.0.43 nud failed dev lan")
            try Namespace.ip("neigh add fe80::40 lladdr 02:00:00:00:00:99 nud reachable dev lan")
            // The address of a machine behind a router is nobody's on the link, whatever the table has.
            try Namespace.ip("route add 192.0.2.0/24 via 10.9.0.40")
            try Namespace.ip("neigh add 192.0.2.7 lladdr 02:00:00:00:00:99 nud reachable dev lan")
            let texts = [
                "10.9.0.40", "2001:db8:9::40", "10.9.0.43", "10.9.0.41", "192.0.2.7", "10.9.0.1", "fe80::40",
                "203.0.113.5", "ff02::1",
            ]
            let found = texts.map { text in IPAddress(parsing: text).flatMap { question.ask($0) } }
            try Namespace.ip("link set lan down")
            try Namespace.ip("link set lan name wlan7")
            try Namespace.ip("link set wlan7 up")
            try Namespace.ip("neigh replace 10.9.0.40 lladdr 02:00:00:00:00:98 nud reachable dev wlan7")
            return (found, IPAddress(parsing: "10.9.0.40").flatMap { question.ask($0) })
        }
        #expect(found[0]?.hardware == Self.mac && found[0]?.interface == "lan" && found[0]?.state == .stale)
        #expect(found[1]?.hardware.bits == 0x0200_0000_0098 && found[1]?.isRouter == true)
        #expect(found[2...].allSatisfy { $0 == nil }, "\(found)")
        #expect(after?.hardware.bits == 0x0200_0000_0098 && after?.interface == "wlan7")
    }

    @Test("news come one by one, as ip neigh makes them, and a new interface has its name")
    func news() throws {
        let news = try Namespace.run {
            try Self.makePair()
            var monitor = try NeighbourMonitor()
            var poller = try Poller()
            try poller.add(monitor.descriptor, token: 7, events: .readable)
            _ = monitor.news()
            try Namespace.ip("neigh add 10.9.0.40 lladdr 02:00:00:00:00:99 nud reachable dev lan")
            try Namespace.ip("neigh replace 10.9.0.40 lladdr 02:00:00:00:00:98 nud stale dev lan")
            try Namespace.ip("neigh del 10.9.0.40 dev lan")
            try Namespace.ip("link set lan down")
            try Namespace.ip("link set lan name wlan7")
            try Namespace.ip("link set wlan7 up")
            try Namespace.ip("neigh add 10.9.0.41 lladdr 02:00:00:00:00:99 nud reachable dev wlan7")
            var events = [PolledEvent](repeating: .none, count: 4)
            let count = poller.wait(into: &events, until: Clock.now() + .seconds(20))
            guard count == 1, events[0].token == 7 else { return [] as [NeighbourNews] }
            return monitor.news().filter { news in
                guard case .found(let neighbour) = news else { return true }
                return neighbour.address.isIPv4
            }
        }
        let address = try #require(IPAddress(parsing: "10.9.0.40"))
        let found = news.compactMap { item in
            if case .found(let neighbour) = item { neighbour } else { nil as KernelNeighbour? }
        }
        #expect(found.map(\.state) == [.reachable, .stale, .reachable])
        #expect(found.map(\.hardware.bits) == [0x0200_0000_0099, 0x0200_0000_0098, 0x0200_0000_0099])
        #expect(found.map(\.interface) == ["lan", "lan", "wlan7"])
        #expect(news.contains(.gone(address, interface: "lan")))
    }

    @Test("a real neighbour that is asked for shows up with its MAC, and one that is not there does not")
    func real() throws {
        let (seen, all) = try Namespace.run {
            try Self.makePair()
            // The peer answers from a namespace of its own.
            let there = "starship-neighbour-\(getpid())"
            try Namespace.ip("netns add \(there)")
            defer { try? Namespace.ip("netns del \(there)") }
            try Namespace.ip("link set peer netns \(there)")
            try Namespace.ip("-n \(there) addr add 10.9.0.2/24 dev peer")
            try Namespace.ip("-n \(there) link set peer up")
            var monitor = try NeighbourMonitor()
            let socket = try DatagramSocket.bind(to: SocketAddress(IPAddress(v4: 0), 0))
            for host in [2, 3] as [UInt32] {
                _ = socket.send([1].span, to: SocketAddress(IPAddress(v4: 0x0a09_0000 + host), 9))
            }
            let end = Clock.now() + .seconds(20)
            var seen: [NeighbourNews] = []
            while Clock.now() < end, !seen.contains(where: Self.isPeer) {
                seen += monitor.news()
                usleep(10_000)
            }
            return (seen, try KernelNeighbour.readAll())
        }
        #expect(seen.contains(where: Self.isPeer))
        #expect(all.filter(\.address.isIPv4).map { "\($0.address)" } == ["10.9.0.2"])
    }

    @Test("news that come faster than they are read are said to be lost, and the table has everything")
    func lost() throws {
        let count = 4000
        let scratch = try Scratch()
        let batch = scratch.path("batch")
        let lines = (0..<count).map { number in
            "neigh add 10.9.\(16 + number / 250).\(1 + number % 250) lladdr 02:00:00:00:00:99 nud permanent dev lan\n"
        }
        try Scratch.put(Array(lines.joined().utf8), batch)
        let (news, after, table) = try Namespace.run {
            try Self.makePair()
            var monitor = try NeighbourMonitor()
            try Namespace.ip("-batch \(batch)")
            let news = monitor.news()
            try Namespace.ip("neigh add 10.9.0.40 lladdr 02:00:00:00:00:98 nud reachable dev lan")
            return (news, monitor.news(), try KernelNeighbour.readAll())
        }
        #expect(news == [.lost])
        #expect(after.count == 1)
        #expect(table.filter { $0.state == .permanent && $0.address.isIPv4 }.count == count)
    }

    private static func isPeer(_ news: NeighbourNews) -> Bool {
        guard case .found(let neighbour) = news else { return false }
        return neighbour.hardware == mac && neighbour.state == .reachable && "\(neighbour.address)" == "10.9.0.2"
    }

    /// `lan` with addresses, and `peer` at its other end.
    private static func makePair() throws {
        try Namespace.ip("link add lan type veth peer name peer address 02:00:00:00:00:99")
        try Namespace.ip("addr add 10.9.0.1/24 dev lan")
        try Namespace.ip("addr add 2001:db8:9::1/64 dev lan nodad")
        try Namespace.ip("link set lan up")
        try Namespace.ip("link set peer up")
    }
}
