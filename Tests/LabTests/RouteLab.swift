/// What the tests of names and routes have in common: a resolver, a proxy and servers that say who has come.
///
///     device ── gateway (network.setup: gateway) ── internet: dnsmasq, tinyproxy ── origin
///
/// A page tells its client's address, so the device sees by itself which way it went.

import Foundation
import TestSupport
import Testing

struct RouteLab {
    static let isPossible = Upstream.tinyproxy.isAvailable && Lab.has("dnsmasq") && Lab.has("dig") && Lab.has("tcpdump")

    /// How the origin calls a client: the proxy, or the gateway's uplink.
    static let proxied = "peer 10.78.0.1"
    static let direct = "peer 10.77.0.1"
    static let resolver = "10.77.0.2"

    let lab: Lab
    let names: LabProgram
    let proxy: LabProgram
    let servers: LabProgram

    /// With `knowsAll` the resolver says of every other name that it does not exist; without, that it won't be asked.
    init(knowsAll: Bool = false) throws {
        lab = try Lab()
        servers = try lab.start(
            .origin, Lab.python(["routes.py", "serve", "198.51.100.10", "198.51.100.11", "2001:db8:51::10"]))
        names = try lab.start(
            .internet,
            [
                "dnsmasq", "--keep-in-foreground", "--conf-file=/dev/null", "--no-resolv", "--no-hosts", "--user=root",
                "--pid-file=", "--listen-address=\(Self.resolver)", "--bind-interfaces", "--log-queries",
                "--log-facility=-", "--local-ttl=300", "--local=/example/",
                "--host-record=web.example,198.51.100.10,2001:db8:51::10",
                "--host-record=news.example,198.51.100.10,2001:db8:51::10", "--host-record=edge.example,198.51.100.10",
                "--host-record=www.google.com,198.51.100.10",
                "--cname=shop.example,edge.example", "--host-record=socket.example,198.51.100.11",
            ] + (knowsAll ? ["--address=/#/"] : []))
        proxy = try Upstream.tinyproxy.start(in: lab)
        try names.waitFor("cleared cache")
        try servers.waitFor("ready")
    }

    // The gateway

    /// A gateway for the device; without domains it is in global mode.
    func settings(_ domains: String..., dns: String = "", more: String = "") -> Daemon.Settings {
        Daemon.Settings {
            $0.network = "setup: \"gateway\", lan: [\"lan\"]"
            $0.upstream = Daemon.Settings.http(Upstream.tinyproxy.port)
            $0.profile = "domains: [\(domains.map { "\"\($0)\"" }.joined(separator: ", "))]"
            $0.more = """
                state: "\(lab.directory.path)/state",
                dns: { resolvers: ["\(Self.resolver):53"], \(dns) },
                \(more)
                """
        }
    }

    func start(_ settings: Daemon.Settings) throws -> Daemon { try Daemon(lab, settings, routed: false) }

    /// What the machine's network is made of.
    func listing() throws -> String {
        let commands = """
            ip rule; ip -6 rule; ip route show table all; ip -6 route show table all
            ip -o address | sed 's/valid_lft.*//'; nft list ruleset
            sysctl -a 2>/dev/null | grep -E '^net[.]ipv[46][.](conf|ip_forward|route|icmp)'
            """
        return try lab.run(.gateway, ["sh", "-c", commands]).output
    }

    /// How many flows have come into the TUN device, and what was read of them once their last words are said.
    func carried(_ daemon: Daemon) throws -> [Int] {
        func read() throws -> [Int] {
            let snapshot = try daemon.snapshot()
            return [snapshot["counters.flows_opened"], snapshot["counters.packets_written"]]
        }
        var seen = try read()
        var quiet = 0
        // A busy machine may leave a flow's last words for a while; then nothing happens for as long either.
        for _ in 0..<100 where quiet < 4 {
            usleep(150_000)
            let now = try read()
            quiet = now == seen ? quiet + 1 : 0
            seen = now
        }
        return seen
    }

    /// Writes down the packets of an interface.
    func watch(_ place: Lab.Place, _ interface: String, _ filter: String, _ options: [String] = []) throws -> LabProgram
    {
        let tcpdump = ["tcpdump", "-n", "-l", "--immediate-mode", "-Z", "root", "-i", interface]
        let program = try lab.start(place, tcpdump + options + [filter])
        try program.waitFor("listening on")
        return program
    }

    // The device

    /// The first address that the gateway's DNS service gives for a name.
    func address(of name: String, _ type: String = "A") throws -> String {
        let dig = ["dig", "+short", "+time=2", "+tries=1", "@10.9.0.1", name, type]
        return try lab.run(.device, dig).output.split(separator: "\n").last.map(String.init) ?? ""
    }

    /// Fetches a page as a browser does: look-up first, unless it still holds an address.
    func page(_ name: String, at held: String? = nil) throws -> String {
        let address = try held ?? address(of: name)
        let shown = address.contains(":") ? "[\(address)]" : address
        let curl = ["curl", "-sS", "--max-time", "5", "--resolve", "\(name):80:\(shown)", "http://\(name)/"]
        let result = try lab.run(.device, curl)
        return result.status == 0 ? String(result.output.dropLast()) : "failed: \(result.errors)"
    }

    func device(_ arguments: String...) throws -> String {
        String(try lab.program(.device, arguments).dropLast())
    }

    // The proxy

    /// Whether the proxy was asked for a target, in its own words.
    func proxyWasAsked(_ target: String) -> Bool { proxy.output.contains(": CONNECT \(target) HTTP/") }
}
