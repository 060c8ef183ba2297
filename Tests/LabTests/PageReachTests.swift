/// Who reaches the page, by which addresses, and what becomes of those who ask too much: seen from the devices.

import Foundation
import TestSupport
import Testing

/// A gateway with its page.
private struct ReachLab {
    let lab: Lab
    let daemon: Daemon
    let settings: Daemon.Settings

    init(_ more: String = "") throws {
        lab = try Lab()
        settings = Self.settings(more)
        daemon = try Daemon(lab, settings, routed: false)
    }

    static func settings(_ more: String) -> Daemon.Settings {
        Daemon.Settings {
            $0.network = "setup: \"gateway\", lan: [\"lan\"]"
            $0.more = "dns: { resolvers: [\"10.77.0.2:53\"] }, \(more)"
        }
    }

    /// Asks as a browser of a place does: status and page, or `000` and why there is none.
    func get(_ url: String, from place: Lab.Place = .device, _ more: String...) throws -> (status: String, page: String)
    {
        let curl = ["curl", "-sS", "--globoff", "--max-time", "5", "-w", "\n%{http_code}"] + more + [url]
        let result = try lab.run(place, curl)
        let lines = result.output.split(separator: "\n", omittingEmptySubsequences: false)
        return (String(lines.last ?? ""), lines.dropLast().joined(separator: "\n") + result.errors)
    }
}

/// Connects again and again, asks once on each connection, and counts what comes of it.
private let knocking = """
    import collections, socket, sys
    seen, waits = collections.Counter(), set()
    for _ in range(int(sys.argv[1])):
        try:
            with socket.create_connection(("10.9.0.1", 80), timeout=5) as page:
                page.sendall(b"GET / HTTP/1.1\\r\\nHost: 10.9.0.1\\r\\n\\r\\n")
                head = page.recv(65536).partition(b"\\r\\n\\r\\n")[0]
        except ConnectionResetError:
            seen["reset"] += 1
            continue
        seen[head[9:12].decode()] += 1
        if head[9:12] == b"429":
            waits.add(b"Retry-After: 1" in head)
    print(dict(seen), waits)
    """

extension LabTests {
    @Suite("reaching the page", .enabled(if: Lab.has("curl")))
    struct PageReachTests {
        @Test("the page is there over IPv6 too: at the LAN's address, by its name, and printed as it was asked for")
        func overIPv6() throws {
            let lab = try ReachLab()
            let page = try lab.get("http://[fd00:9::1]/")
            #expect(page.status == "200" && page.page.contains("http://[fd00:9::1]/"), "\(page)")
            #expect(page.page.contains("fd00:9::2"))
            let named = try lab.get("http://starship.internal/", "--resolve", "starship.internal:80:[2001:2::1]")
            #expect(named.status == "200" && named.page.contains("http://starship.internal/"), "\(named)")
            // Nothing listens for HTTPS, and that is said at once.
            let start = Stopwatch()
            #expect(try lab.get("https://[fd00:9::1]/").status == "000")
            #expect(start.seconds < 4)
            // The gateway's address on the other side is none of the page's.
            #expect(try lab.get("http://[fd00:77::1]/").status != "200")
        }

        @Test("a link-local address says on no link which device it is: it is told so, with the address to go to")
        func linkLocal() throws {
            let lab = try ReachLab()
            let list = ["ip", "-6", "-o", "address", "show", "dev", "lan", "scope", "link"]
            let words = try lab.lab.run(.gateway, list).output.split(separator: " ")
            let address = try #require(words.first { $0.hasPrefix("fe80::") }?.split(separator: "/").first)
            let page = try lab.get("http://[\(address)%25eth0]/")
            #expect(page.status == "403" && page.page.contains("Which device is this?"), "\(page)")
            #expect(page.page.contains("http://10.9.0.1/"))
        }

        @Test("who uses the HTTP proxy from another network reaches the page where the proxy is, and nobody else does")
        func guests() throws {
            let lab = try ReachLab("http: { listen: \"10.9.0.1:10809\", allow: [\"10.77.0.2\"] },")
            try lab.lab.run(.internet, ["ip", "route", "add", "10.9.0.0/24", "via", "10.77.0.1"])
            try lab.lab.run(.origin, ["ip", "route", "add", "10.9.0.0/24", "via", "10.78.0.1"])
            let script = try lab.get("http://10.9.0.1/proxy.pac", from: .internet)
            #expect(script.status == "200" && script.page.contains("PROXY 10.9.0.1:10809"), "\(script)")
            let home = try lab.get("http://10.9.0.1/", from: .internet)
            #expect(home.status == "200" && home.page.contains("10.77.0.2"), "\(home)")
            #expect(home.page.contains("This phone comes by its proxy setting"))
            #expect(try lab.get("http://10.9.0.1:10080/", from: .internet).status == "200")
            // The proxy isn't at this address, and so the page isn't.
            #expect(try lab.get("http://10.77.0.1:10080/", from: .internet).status == "000")
            #expect(try lab.get("http://10.9.0.1:10080/", from: .origin).status == "000")
            #expect(try lab.get("http://10.9.0.1/", from: .origin).status == "000")
            #expect(try lab.get("http://10.9.0.1/").status == "200")
        }

        @Test("another port in the file counts at once, a port that is taken is refused, and page: false ends it")
        func moves() throws {
            let lab = try ReachLab()
            #expect(try lab.get("http://10.9.0.1:10080/").status == "200")
            try lab.daemon.reload(ReachLab.settings("page: { port: 10090 },"))
            for url in ["http://10.9.0.1/", "http://10.9.0.1:10090/", "http://[fd00:9::1]/"] {
                #expect(try lab.get(url).status == "200", "\(url)")
            }
            #expect(try lab.get("http://10.9.0.1:10080/").status == "000")
            // The SOCKS inbound has this one.
            try lab.daemon.reload(ReachLab.settings("page: { port: \(Lab.socksPort) },"), until: "reload")
            #expect(lab.daemon.events("reload").last?.contains("refused") == true)
            #expect(try lab.get("http://10.9.0.1/").status == "200")
            try lab.daemon.reload(ReachLab.settings("page: false,"))
            #expect(try lab.get("http://10.9.0.1/").status == "000")
            try lab.daemon.reload(ReachLab.settings(""))
            #expect(try lab.get("http://10.9.0.1/").status == "200")
        }

        @Test("one who connects anew for each request is told to wait, and never reset")
        func knocks() throws {
            let lab = try ReachLab()
            let result = try lab.lab.run(.device, ["python3", "-c", knocking, "300"])
            #expect(result.status == 0 && result.output.contains("'429': "), "\(result)")
            #expect(!result.output.contains("reset") && result.output.contains("{True}"), "\(result)")
            #expect(!result.output.contains("False"), "\(result)")
        }
    }
}
