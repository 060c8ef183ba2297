/// Scripts, run by another program where it is there.

import Addresses
import TestSupport
import Testing

@testable import Page

/// Whether Node.js is installed: the tests need no other part of it than its engine.
private let hasNode: Bool = {
    guard let run = try? Command.run(["node", "--version"], in: "/tmp") else { return false }
    return run.status == 0
}()

struct ProxyScriptTests {
    /// What browsers provide (the PAC format), as far as the script asks.
    private static let provided = """
        function isPlainHostName(host) { return host.indexOf(".") < 0 && host.indexOf(":") < 0; }
        function dnsDomainIs(host, domain) { return host.endsWith(domain); }

        """

    private static func run(_ script: String, _ hosts: [String]) throws -> [String] {
        let calls = hosts.map { "console.log(FindProxyForURL('http://x/', '\($0)'));" }.joined(separator: "\n")
        let run = try Command.run(["node", "-"], in: "/tmp", input: Array((provided + script + calls).utf8))
        try #require(run.status == 0, "\(run.errors)")
        return String(decoding: run.output, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    @Test("all goes to the gateway but the page and names without a dot", .enabled(if: hasNode))
    func ways() throws {
        let script = ProxyScript.text(address: IPAddress(v4: 0x0a09_0001), port: 10809)
        let hosts = [
            "shop.example", "10.9.0.2", "starship.internal.example", "evilstarship.internal", "10.9.0.1", "printer",
            "starship.internal", "Starship.Internal", "n1.check.starship.internal",
        ]
        let proxied = Array(repeating: "PROXY 10.9.0.1:10809", count: 4)
        #expect(try Self.run(script, hosts) == proxied + Array(repeating: "DIRECT", count: 5))
    }

    @Test("an IPv6 address stands in brackets behind PROXY", .enabled(if: hasNode))
    func ipv6() throws {
        let script = ProxyScript.text(address: IPAddress(high: 0xfd00_0000_0000_0000, low: 1), port: 1)
        #expect(
            try Self.run(script, ["a.example", "fd00::1", "[fd00::1]"]) == ["PROXY [fd00::1]:1", "DIRECT", "DIRECT"])
    }

    @Test("it has the type that browsers want, and no way around the proxy at its end")
    func type() {
        let answer = ProxyScript.answer(address: IPAddress(v4: 0x0a09_0001), port: 10809)
        #expect(answer.type == "application/x-ns-proxy-autoconfig")
        #expect(answer.text.contains("return \"PROXY 10.9.0.1:10809\";\n}\n"))
    }
}

struct PageScriptTests {
    /// A page with two marked places and a token, and what the server has by now.
    private static let stage = """
        function node(tag, name, html) {
          return { tagName: tag, value: html, innerHTML: html, className: "", childNodes: [html],
            getAttribute: () => name, contains: () => false,
            replaceChildren: function (part) { this.innerHTML = part; changes.push(name); } };
        }
        var changes = [];
        var old = [node("DIV", "status", "red"), node("DIV", "times", "1 s"), node("INPUT", "token-try", "old")];
        var fresh = { status: node("DIV", "status", "green"), times: node("DIV", "times", "1 s"),
          "token-try": node("INPUT", "token-try", "new") };
        var document = { hidden: false, activeElement: null,
          querySelector: (text) => (text.includes("board") ? null : old[0]), querySelectorAll: () => old };
        var location = { pathname: "/", search: "" };
        function DOMParser() {}
        DOMParser.prototype.parseFromString = () => ({ querySelector: (text) => fresh[text.split("'")[1]] });
        function fetch(url) { return Promise.resolve({ ok: true, text: () => Promise.resolve(url) }); }
        function setInterval(run, time) {
          run();
          setTimeout(() => console.log(changes.join(), old[0].innerHTML, old[2].value, time), 50);
        }

        """

    @Test("a refresh takes over what has changed, and fresh tokens, and leaves the rest alone", .enabled(if: hasNode))
    func refresh() throws {
        let script = PageScript.text.replacing("\"use strict\";", with: "")
        let run = try Command.run(["node", "-"], in: "/tmp", input: Array((Self.stage + script).utf8))
        #expect(run.errors == "")
        #expect(String(decoding: run.output, as: UTF8.self) == "status green new 3000\n")
    }
}
