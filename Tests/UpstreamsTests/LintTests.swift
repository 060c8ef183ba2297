/// Lint against proxies of every conduct: a small one of our own that does what it is told, and those of Debian.

import Addresses
import Bytes
import LinuxIO
import TestSupport
import Testing
import Upstreams
import Wire

@Suite struct LintTests {
    /// A site behind the proxy that speaks TLS, and the proxy.
    private final class Scene {
        let proxy: PartnerProgram
        let port: UInt16
        private let site: PartnerProgram

        /// The conduct is JSON without its braces.
        init(_ directory: String, _ conduct: String = "") throws {
            site = try Self.site(directory)
            let sitePort = try Self.port(site, behind: "ACCEPT 127.0.0.1:")
            let map = "\"map\": {\"site.example:443\": \(sitePort), \"site.example:80\": \(sitePort)}"
            proxy = try PartnerProgram(
                Lab.python(["conduct.py", "{\(map)\(conduct.isEmpty ? "" : ", ")\(conduct)}"]), in: directory)
            port = try Self.port(proxy, behind: "port ")
        }

        static func site(_ directory: String) throws -> PartnerProgram {
            let made = try Command.run(
                ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
                    + ["-keyout", "s.key", "-out", "s.pem", "-days", "2", "-subj", "/CN=Site authority"],
                in: directory)
            guard made.status == 0 else { throw LabError(made.errors) }
            return try PartnerProgram(
                ["openssl", "s_server", "-accept", "127.0.0.1:0", "-cert", "s.pem", "-key", "s.key", "-www"],
                in: directory)
        }

        static func port(_ program: PartnerProgram, behind text: String) throws -> UInt16 {
            try program.waitFor(text)
            // The line may still grow.
            try program.waitFor("\n")
            let line = program.output.split(separator: "\n").first { $0.hasPrefix(text) } ?? ""
            guard let port = UInt16(line.dropFirst(text.count).prefix { $0.isNumber }) else {
                throw LabError("no port: \(program.output)")
            }
            return port
        }
    }

    private func lint(port: UInt16, _ change: (inout LintPlan) -> Void = { _ in }) throws -> LintReport {
        var plan = LintPlan(Target("127.0.0.1:\(port)"))
        plan.site = .name("site.example")
        plan.idle = .milliseconds(300)
        plan.timeout = .seconds(5)
        change(&plan)
        return try Lint.run(plan)
    }

    private func lint(_ conduct: String, _ change: (inout LintPlan) -> Void = { _ in }) throws -> LintReport {
        let scratch = try Scratch()
        let scene = try Scene(scratch.directory, conduct)
        return try lint(port: scene.port, change)
    }

    @Test("a proxy that does everything right is good in everything, and needs no setting")
    func good() throws {
        let report = try lint("")
        let verdicts = report.checks.map { "\($0.name) \($0.verdict)" }
        let wanted = [
            "connect good", "port443 good", "port80 good", "otherPort good", "framing good", "firstOctets good",
            "halfClose good", "unknownHost good", "certificate good", "idle good",
        ]
        #expect(verdicts == wanted && report.grade == .good && report.type == "http", "\(report)")
        #expect(report.settings.map(\.key) == ["type"] && report.notes.isEmpty)
        #expect(report.words(of: .certificate) == "site.example's is signed by Site authority")
    }

    /// A conduct, the check that tells of it with its verdict and a part of its words, and the setting that fits.
    struct Row: Sendable, CustomTestStringConvertible {
        var conduct: String
        var check: LintCheck.Name
        var verdict: LintCheck.Verdict
        var words: String
        var setting: String?

        var testDescription: String { "\(conduct): \(check)" }
    }

    static let rows: [Row] = [
        Row(
            conduct: "\"refuse\": [80]", check: .port80, verdict: .odd,
            words: "refused with 403: not this port; in absolute form: status 200", setting: "http80"),
        Row(
            conduct: "\"half\": false", check: .halfClose, verdict: .odd, words: "the answer is lost",
            setting: "halfClose"),
        Row(conduct: "\"own\": false", check: .halfClose, verdict: .good, words: "still hear the other"),
        Row(conduct: "\"own\": false", check: .otherPort, verdict: .odd, words: "refused with 502: no such host"),
        Row(
            conduct: "\"head\": [\"Content-Length: 0\"]", check: .framing, verdict: .odd,
            words: "content-length on a yes, where it means nothing"),
        Row(conduct: "\"newline\": \"\\n\"", check: .framing, verdict: .odd, words: "a bare line feed"),
        Row(
            conduct: "\"glue\": \"<html>Log in</html>\"", check: .framing, verdict: .bad,
            words: "19 octets behind its yes that no server has sent: \"<html>Log in</html>\""),
        Row(conduct: "\"eat\": 4", check: .firstOctets, verdict: .bad, words: "\"ship-lint 1\" arrives"),
        Row(conduct: "\"early\": true", check: .unknownHost, verdict: .odd, words: "a yes is no proof of anything"),
        Row(conduct: "\"idle\": 0.1", check: .idle, verdict: .odd, words: "a silent tunnel is closed within 1 s"),
        Row(
            conduct: "\"page\": \"<title>Whistle</title>\"", check: .connect, verdict: .good, words: "127.0.0.1",
            setting: "identify"),
        Row(
            conduct: "\"page\": \"Server: squid/5.7\"", check: .connect, verdict: .good, words: "127.0.0.1",
            setting: "kind"),
        Row(conduct: "\"login\": \"qa:secret\"", check: .login, verdict: .bad, words: "it wants one (Basic)"),
        Row(
            conduct: "\"login\": \"qa:secret\", \"schemes\": [\"NTLM\"]", check: .login, verdict: .bad,
            words: "it accepts only NTLM, and Basic is what the gateway speaks"),
        Row(conduct: "\"socks\": true", check: .port443, verdict: .good, words: "yes", setting: "type"),
        Row(
            conduct: "\"socks\": true, \"login\": \"qa:secret\"", check: .login, verdict: .bad,
            words: "it wants another login; with a user and a password"),
        Row(conduct: "\"mute\": true", check: .port443, verdict: .bad, words: "it doesn't answer"),
    ]

    @Test("each conduct is told, with the setting that fits it", arguments: rows)
    func conduct(row: Row) throws {
        let report = try lint(row.conduct) { $0.timeout = .milliseconds(row.conduct.contains("mute") ? 500 : 5000) }
        let check = report.checks.first { $0.name == row.check }
        #expect(check?.verdict == row.verdict && check?.words.contains(row.words) == true, "\(report)")
        if let setting = row.setting { #expect(report.settings.contains { $0.key == setting }, "\(report)") }
    }

    @Test("a SOCKS5 proxy is tried like any other", arguments: ["", ", \"login\": \"qa:secret\""])
    func socks(login: String) throws {
        let report = try lint("\"socks\": true\(login)") { ($0.user, $0.password) = ("qa", "secret") }
        let verdicts = Set(report.checks.map(\.verdict))
        #expect(report.type == "socks5" && verdicts == [.good], "\(report)")
        #expect(report.settings.first?.value == .text("socks5"))
        #expect(report.words(of: .unknownHost) == "refused: host unreachable")
    }

    @Test(
        "a password is shown when it is asked for, rejected ones once, and none is ever printed",
        arguments: ["", ", \"rejects\": \"401 Unauthorized\""])
    func login(rejection: String) throws {
        let scratch = try Scratch()
        let scene = try Scene(scratch.directory, "\"login\": \"qa:secret\"\(rejection)")
        let right = try lint(port: scene.port) { ($0.user, $0.password) = ("qa", "secret") }
        #expect(right.words(of: .login) == "accepted (Basic)" && right.grade == .good, "\(right)")
        let before = scene.proxy.output.split(separator: "\n").count { $0.contains("Proxy-Authorization") }
        var plan = LintPlan(Target("127.0.0.1:\(scene.port)"))
        (plan.user, plan.password) = ("qa", "wrongsecret")
        let wrong = try Lint.run(plan)
        #expect(wrong.checks.first { $0.name == .login }?.verdict == .bad, "\(wrong)")
        let after = scene.proxy.output.split(separator: "\n").count { $0.contains("Proxy-Authorization") }
        #expect(after == before + 1)
        #expect(!"\(right)\(wrong)\(plan)\(String(reflecting: plan))".contains("secret"))
    }

    @Test("a port where nobody is, one that is no proxy, and a name that does not exist")
    func none() throws {
        var address = SocketAddress(IPAddress(v4: 0x7f00_0001), 0)
        do { address = try ScriptedServer().address }
        let gone = try lint(port: address.port)
        #expect(gone.checks.map(\.name) == [.connect] && gone.grade == .bad && gone.type == nil, "\(gone)")
        let scratch = try Scratch()
        let site = try Scene.site(scratch.directory)
        let port = try Scene.port(site, behind: "ACCEPT 127.0.0.1:")
        let other = try lint(port: port)
        let words = other.words(of: .port443) ?? ""
        #expect(words.hasPrefix("it speaks TLS at this port") && other.type == nil, "\(other)")
        let unknown = try Lint.run(LintPlan(Target("no-such-proxy.invalid:3128")))
        #expect(unknown.checks.map(\.name) == [.name] && unknown.grade == .bad, "\(unknown)")
    }

    // MARK: Those of Debian

    @Test(
        "squid: its kind, and that it ends a tunnel at a half-close",
        .enabled(if: Lab.has("squid") && Lab.hasSystemUsers))
    func squid() throws {
        let scratch = try Scratch()
        var address = SocketAddress(IPAddress(v4: 0x7f00_0001), 0)
        do { address = try ScriptedServer().address }
        let text = """
            http_port 127.0.0.1:\(address.port)
            http_access allow all
            access_log none
            cache_log /dev/null
            pid_filename none
            coredump_dir /tmp
            shutdown_lifetime 0 seconds
            dns_timeout 2 seconds
            pinger_enable off
            visible_hostname lab.example

            """
        try Scratch.put(Array(text.utf8), scratch.path("squid.conf"))
        let name = "lint\(address.port)"
        let program = try PartnerProgram(
            ["squid", "-N", "-n", name, "-f", scratch.path("squid.conf")], in: scratch.directory)
        try program.waitForPort(address.port, within: 60)
        let report = try lint(port: address.port) { $0.site = .address(address.address) }
        #expect(report.kind == .squid && report.type == "http", "\(report)")
        #expect(report.settings.map(\.key) == ["type", "kind", "halfClose"], "\(report)")
        #expect(report.checks.first { $0.name == .otherPort }?.verdict == .good)
        #expect(report.checks.first { $0.name == .port443 }?.verdict == .unknown, "\(report)")
    }

    @Test("tinyproxy: its kind, and that it ends a tunnel at a half-close", .enabled(if: Lab.has("tinyproxy")))
    func tinyproxy() throws {
        let scratch = try Scratch()
        var address = SocketAddress(IPAddress(v4: 0x7f00_0001), 0)
        do { address = try ScriptedServer().address }
        let text = "Port \(address.port)\nListen 127.0.0.1\nTimeout 600\nMaxClients 50\nAllow 127.0.0.1\n"
        try Scratch.put(Array(text.utf8), scratch.path("tinyproxy.conf"))
        let program = try PartnerProgram(["tinyproxy", "-d", "-c", "tinyproxy.conf"], in: scratch.directory)
        try program.waitForPort(address.port)
        let report = try lint(port: address.port) { $0.site = .address(address.address) }
        #expect(report.kind == .tinyproxy, "\(report)")
        #expect(report.settings.map(\.key) == ["type", "kind", "halfClose"], "\(report)")
    }

    @Test("mitmproxy: its kind by the certificates that it makes", .enabled(if: Lab.has("mitmdump")))
    func mitmproxy() throws {
        let scratch = try Scratch()
        var address = SocketAddress(IPAddress(v4: 0x7f00_0001), 0)
        do { address = try ScriptedServer().address }
        let program = try PartnerProgram(
            [
                "mitmdump", "--listen-host", "127.0.0.1", "--listen-port", "\(address.port)", "--ssl-insecure",
                "--set", "confdir=\(scratch.directory)",
            ], in: scratch.directory)
        try program.waitForPort(address.port, within: 60)
        let report = try lint(port: address.port) { $0.site = .name("localhost") }
        #expect(report.kind == .mitmproxy, "\(report) \(program.output)")
        #expect(report.settings.contains { $0.key == "connectName" && $0.value == .text("sni") }, "\(report)")
    }
}

extension LintReport {
    func words(of name: LintCheck.Name) -> String? { checks.first { $0.name == name }?.words }
}
