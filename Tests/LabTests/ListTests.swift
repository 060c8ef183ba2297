/// A device's own lists, its requests, and what is learned about it, on real packets, a real resolver and a real proxy.

import Foundation
import TestSupport
import Testing

/// A gateway in domain mode, commanded by `starshipctl`, with a device and a tablet.
private struct ListLab {
    let routes: RouteLab
    let daemon: Daemon
    static let device = "10.9.0.2"

    init() throws {
        routes = try RouteLab()
        try routes.lab.addTablet()
        daemon = try routes.start(routes.settings("web.example", more: "clock: \"trust\","))
    }

    @discardableResult
    func control(_ arguments: String...) throws -> String {
        let program = ["\(Lab.binaries)/starshipctl", "--socket", Daemon.socket(routes.lab)]
        let result = try routes.lab.run(.gateway, program + arguments)
        guard result.status == 0 else { throw LabError("starshipctl \(arguments): \(result.errors)") }
        return result.output
    }

    /// What is told of a name, the newest first.
    func requests(of name: String) throws -> [[String: Any]] {
        let text = try control("--json", "requests", Self.device)
        let object = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
        let all = object?["requests"] as? [[String: Any]] ?? []
        return all.filter { $0["name"] as? String == name }
    }

    /// The address that the tablet is given.
    func tablet(_ name: String) throws -> String {
        let dig = ["dig", "+short", "+time=2", "+tries=1", "@10.9.0.1", name, "A"]
        return try routes.lab.run(.tablet, dig).output.split(separator: "\n").last.map(String.init) ?? ""
    }
}

extension LabTests {
    @Suite("lists of a device", .enabled(if: RouteLab.isPossible))
    struct ListTests {
        @Test("one command sends an unlisted host by the proxy and a listed one direct, for one device and its lease")
        func lists() throws {
            let lab = try ListLab()
            let routes = lab.routes
            #expect(try routes.page("web.example").hasPrefix(RouteLab.proxied))
            #expect(try routes.page("news.example").hasPrefix(RouteLab.direct))
            #expect(!routes.proxyWasAsked("news.example:80"))
            let (fake, real) = (try routes.address(of: "web.example"), try routes.address(of: "news.example"))
            let talk = try routes.lab.start(.device, Lab.python(["routes.py", "talk", fake, "120"]))
            try talk.waitFor("peer")

            let answer = try lab.control(
                "lists", ListLab.device, "--proxied", "news.example", "--direct", "web.example")
            #expect(answer.contains("beside lab until ") && answer.contains("flows: "), "\(answer)")
            #expect(Lab.wait(promised: 4) { talk.output.contains("broken") }, "\(talk.output.suffix(300))")
            #expect(try routes.page("news.example").hasPrefix(RouteLab.proxied), "\(lab.daemon.program.errors)")
            #expect(routes.proxyWasAsked("news.example:80"))
            #expect(try routes.page("web.example").hasPrefix(RouteLab.direct))
            // Who still holds what DNS said before goes the new way too.
            #expect(try routes.page("web.example", at: fake).hasPrefix(RouteLab.direct))
            #expect(try routes.page("news.example", at: real).hasPrefix(RouteLab.proxied))
            #expect(try lab.tablet("news.example") == real && lab.tablet("web.example").hasPrefix("198.18."))
            let why = try lab.control("explain", "news.example:80", "--device", ListLab.device)
            #expect(why.contains("this phone's own list: news.example"), "\(why)")
            #expect(lab.daemon.flow(with: ["profile=lab", "rule=\"this phone's own list: news.example\""]))

            try lab.control("release", "--device", ListLab.device)
            #expect(try routes.page("web.example").hasPrefix(RouteLab.proxied))
            #expect(try routes.page("news.example").hasPrefix(RouteLab.direct))
            #expect(try lab.control("--json", "history").contains("has news.example proxied (lab)"))
        }

        @Test("requests tell both hosts with what became of them, and a refusal with its cause")
        func requests() throws {
            let lab = try ListLab()
            let routes = lab.routes
            _ = try routes.page("web.example")
            _ = try routes.page("news.example")
            #expect(Lab.wait { (try? lab.requests(of: "web.example").first?["open"] as? Int) == 0 })
            let proxied = try #require(try lab.requests(of: "web.example").first)
            #expect(proxied["fate"] as? String == "proxied" && proxied["profile"] as? String == "lab", "\(proxied)")
            #expect((proxied["rule"] as? String)?.hasSuffix(": web.example") == true, "\(proxied)")
            #expect((proxied["down"] as? Int ?? 0) > 0 && proxied["failed"] as? Bool == false, "\(proxied)")
            // The kernel forwards it: the question is all that the gateway sees.
            let asked = try #require(try lab.requests(of: "news.example").first)
            #expect(asked["fate"] as? String == "asked" && asked["port"] == nil, "\(asked)")

            try lab.control("lists", ListLab.device, "--direct", "web.example", "--proxied", "news.example")
            _ = try routes.page("news.example")
            let fates = try lab.requests(of: "news.example").compactMap { $0["fate"] as? String }
            #expect(fates == ["proxied", "asked"], "\(fates)")
            let own = try #require(try lab.requests(of: "news.example").first)
            #expect(own["rule"] as? String == "this phone's own list: news.example", "\(own)")

            routes.proxy.end(.kill)
            #expect(try routes.page("news.example").hasPrefix("failed"))
            let failed = try #require(try lab.requests(of: "news.example").first)
            #expect(failed["failed"] as? Bool == true && failed["fate"] as? String == "proxied", "\(failed)")
            #expect((failed["outcome"] as? String)?.contains("no connection to the proxy") == true, "\(failed)")
        }

        @Test("learning collects what the device wants from then on, ready to be pasted")
        func learns() throws {
            let lab = try ListLab()
            _ = try lab.routes.page("shop.example")
            let begun = try lab.control("learn", ListLab.device)
            #expect(begun.contains("learning for") && !begun.contains("shop.example"), "\(begun)")
            _ = try lab.routes.page("web.example")
            _ = try lab.routes.page("news.example")
            let shown = try lab.control("learn", ListLab.device, "--show")
            #expect(shown.contains("domains: [\"news.example\", \"web.example\"]\n"), "\(shown)")
            #expect(!shown.contains("shop.example"))
        }
    }
}
