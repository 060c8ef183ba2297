/// Many probes beside each other.

import Addresses
import Bytes
import Health
import LinuxIO
import Synchronization
import Testing
import Upstreams
import Wire

@Suite struct ProberTests {
    private static let good: [Step] = [
        .expect("\r\n\r\n"), .send(ProbeTests.ok), .expect("\r\n\r\n"), .send("HTTP/1.1 200 OK\r\n\r\n"),
    ]

    @Test("B154: fifteen probes that hang delay none that doesn't, and each ends at its own time")
    func hanging() throws {
        let silent = try SilentServer()
        let server = try ScriptedServer()
        let prober = try Prober()
        try server.playing([Self.good, Self.good, Self.good]) {
            for ticket in 0..<15 {
                var request = ProbeRequest(try upstream(at: silent.address), page: ProbeTests.page())
                request.timeout = .seconds(6)
                #expect(prober.begin(request, ticket: UInt64(ticket)))
            }
            let start = Clock.now()
            // Three rounds beside them, one after the other, with the same outcome each.
            for round in 100..<103 {
                #expect(
                    prober.begin(
                        ProbeRequest(try upstream(at: server.address), page: ProbeTests.page()), ticket: UInt64(round)))
                let result = try #require(wait(prober, 1).first)
                #expect(result.ticket == UInt64(round) && result.request?.isGood == true, "\(result)")
                #expect(result.steps.map(\.name) == [.connect, .proxy, .request, .page])
            }
            #expect(Clock.now() - start < .milliseconds(5900))
        }
        let late = try wait(prober, 15)
        #expect(Set(late.map(\.ticket)) == Set(0..<15) && late.allSatisfy { $0.connect?.cause == .silent(.connect) })
    }

    @Test("forty probes on sixteen places: all come to their end")
    func manyWait() throws {
        let server = try ScriptedServer()
        let prober = try Prober()
        let results = try server.playing([[Step]](repeating: Self.good, count: 40)) {
            for ticket in 0..<40 {
                let request = ProbeRequest(try upstream(at: server.address), page: ProbeTests.page())
                #expect(prober.begin(request, ticket: UInt64(ticket)))
            }
            return try wait(prober, 40)
        }
        #expect(Set(results.map(\.ticket)) == Set(0..<40) && results.allSatisfy { $0.request?.isGood == true })
    }

    @Test("one that is cancelled has no result, whether it ran or waited; the others go on")
    func cancelled() throws {
        let silent = try SilentServer()
        let prober = try Prober()
        for ticket in 0..<20 {
            var request = ProbeRequest(try upstream(at: silent.address), page: ProbeTests.page())
            request.timeout = .milliseconds(ticket == 19 ? 200 : 5000)
            #expect(prober.begin(request, ticket: UInt64(ticket)))
        }
        for ticket in 0..<19 { prober.cancel(UInt64(ticket)) }
        #expect(try wait(prober, 1).map(\.ticket) == [19])
        prober.stop()
    }

    @Test("more than can wait is refused, and room comes back with the results")
    func full() throws {
        let silent = try SilentServer()
        let prober = try Prober()
        let upstream = try upstream(at: silent.address)
        let taken = (0..<1100).filter { prober.begin(ProbeRequest(upstream), ticket: UInt64($0)) }
        #expect(taken == Array(0..<1024))
        for ticket in taken { prober.cancel(UInt64(ticket)) }
        var isTaken = false
        for _ in 0..<1000 where !isTaken {
            sleep(.milliseconds(20))
            isTaken = prober.begin(ProbeRequest(upstream), ticket: 1)
        }
        #expect(isTaken)
    }

    @Test("without a proxy the page's host is asked for by the gateway's own resolver, and connected to")
    func direct() throws {
        let server = try ScriptedServer()
        let asked = Mutex<[String]>([])
        let result = try server.playing([[.expect("\r\n\r\n"), .send("HTTP/1.1 200 OK\r\n\r\n")]]) {
            var settings = UpstreamSettings(.direct)
            settings.policy.allowed = [try #require(IPPrefix(parsing: "127.0.0.0/8"))]
            let page = ProbePage(Target("intranet.example.test:\(server.address.port)"))
            return try probe(ProbeRequest(try Upstream(settings), page: page)) { name, ticket, reply in
                asked.withLock { $0.append(name) }
                reply(Resolution(ticket: ticket, name: name, result: .success([server.address.address])))
                return true
            }
        }
        #expect(result.steps.map(\.name) == [.resolve, .connect, .request, .page], "\(result)")
        #expect(asked.withLock { $0 } == ["intranet.example.test"])
        // Nobody there, no such name, a place where the gateway goes for nobody.
        let rows: [(String, [IPAddress], Cause)] = [
            ("gone.example.test", [], .originFailing("the name gone.example.test does not resolve")),
            ("here.example.test", [IPAddress(v4: 0x7f00_0001)], Cause(.forbidden)),
        ]
        for (name, addresses, cause) in rows {
            let upstream = try Upstream(UpstreamSettings(.direct))
            let page = ProbePage(Target("\(name):80"))
            let result = try probe(ProbeRequest(upstream, page: page)) { name, ticket, reply in
                reply(Resolution(ticket: ticket, name: name, result: .success(addresses)))
                return true
            }
            #expect(result.steps.last?.failure == cause, "\(result)")
        }
    }

    /// So many results.
    private func wait(_ prober: Prober, _ count: Int) throws -> [ProbeResult] {
        var results: [ProbeResult] = []
        for _ in 0..<200 where results.count < count {
            _ = prober.bell.wait(atMost: .milliseconds(100))
            results += prober.takeAll()
        }
        guard results.count >= count else { throw ProbeHung() }
        return results
    }
}
