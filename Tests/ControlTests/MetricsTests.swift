/// Figures for Prometheus: its own `promtool` reads the page, the alert rules and what the dashboard asks.

import Bytes
import Foundation
import Health
import TestSupport
import Testing

@testable import Control

/// The tool of Debian's package `prometheus`.
private enum Promtool {
    static let isThere = ["/usr/bin", "/usr/local/bin"].contains {
        FileManager.default.isExecutableFile(atPath: "\($0)/promtool")
    }

    /// What it says of some input, or of files beside the rules; empty where it is content.
    static func complaint(_ arguments: [String], input: String = "") throws -> String {
        let result = try Command.run(
            ["promtool"] + arguments, in: configs.appending(path: "prometheus").path, input: Array(input.utf8))
        return result.status == 0 ? result.errors : "\(String(decoding: result.output, as: UTF8.self))\(result.errors)"
    }

    static let configs = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Configs")
}

/// A page on which every family is.
private func fullPage() -> MetricsPage {
    var page = MetricsPage()
    page.version = "1.2 \"three\" \\ four\nfive"
    page.uptime = .milliseconds(90_500)
    page.revision = 7
    page.hasUplink = false
    let bounds: [Interval] = [.milliseconds(5), .milliseconds(100), .seconds(1), .seconds(10)]
    var green = MetricsPage.Upstream(profile: "whistle-qa", isActive: true, colour: .green)
    green.sinceGood = .microseconds(1_000_001)
    for (place, layer) in Sample.Layer.allCases.enumerated() {
        green.latency[layer] = MetricsPage.Histogram(
            bounds: bounds, counts: [1, 2, 0, 3, place], sum: .nanoseconds(1_234_567_890))
    }
    var red = MetricsPage.Upstream(profile: "charles", isActive: false, colour: .red)
    red.cause = "port_closed"
    page.upstreams = [green, red]
    var group = MetricsPage.Group(profile: "both", members: ["whistle-qa", "charles"], chosen: "charles")
    group.changes = 3
    page.groups = [group]
    page.flows.open = 12
    page.flows.halfOpen = 2
    page.flows.datagrams = 5
    page.flows.opened = ["tun": 100, "socks": 20, "http": 3]
    page.flows.ended = [
        MetricsPage.Ended(inbound: "tun", outbound: "whistle-qa", reason: "client-closed", count: 90),
        MetricsPage.Ended(inbound: "socks", outbound: "none", reason: "rejected", count: 4),
    ]
    page.flows.octetsUp = 1 << 40
    page.devices.seen = 9
    page.fakeAddresses = MetricsPage.Usage(used: 17, size: 131_056)
    page.buffers.limit = 256 << 20
    page.limits = [MetricsPage.LimitUse("flows", used: 12, of: 65_536, hits: 3)]
    page.process.descriptorLimit = 1024
    page.events.clients = 1
    for (place, counter) in MetricsPage.knownCounters.sorted().enumerated() { page.counters[counter] = place }
    return page
}

/// The names of the families that a page has.
private func families(_ page: MetricsPage) -> Set<String> {
    Set(
        page.text().split(separator: "\n").filter { $0.hasPrefix("# TYPE ") }.map {
            String($0.split(separator: " ")[2])
        })
}

/// The names of ours, and of every process, that a text of PromQL has in it.
private func names(in text: String) -> Set<String> {
    var names: Set<String> = []
    for match in text.matches(of: /\b(starship|process)_[a-z_]+/) {
        var name = String(match.output.0)
        for suffix in ["_bucket", "_sum", "_count"] where name.hasSuffix(suffix) { name.removeLast(suffix.count) }
        names.insert(name)
    }
    return names
}

struct MetricsTests {
    @Test("labels and help are escaped, times are exact seconds, buckets count everything below their bound")
    func format() {
        var text = MetricsText()
        text.begin("a_total", .counter, "Back\\slash,\nand \"quotes\".")
        text.sample(-3)
        text.sample(4, ("x", "a\\b\"c\nd"), ("y", "größe 9"))
        text.begin("b_seconds", .histogram, "Times.")
        text.histogram(
            MetricsPage.Histogram(
                bounds: [.milliseconds(5), .seconds(10)], counts: [2, 1, 4], sum: .nanoseconds(12_000_000_001)),
            ("x", "1"))
        text.begin("c_seconds", .gauge, "A time.")
        text.sample(seconds: .seconds(60))
        text.sample(seconds: .milliseconds(-1500))
        text.sample(seconds: .zero)
        text.sample(true)
        // https://prometheus.io/docs/instrumenting/exposition_formats/#text-format-details
        #expect(
            text.text == """
                # HELP a_total Back\\\\slash,\\nand "quotes".
                # TYPE a_total counter
                a_total -3
                a_total{x="a\\\\b\\"c\\nd",y="größe 9"} 4
                # HELP b_seconds Times.
                # TYPE b_seconds histogram
                b_seconds_bucket{x="1",le="0.005"} 2
                b_seconds_bucket{x="1",le="10"} 3
                b_seconds_bucket{x="1",le="+Inf"} 7
                b_seconds_sum{x="1"} 12.000000001
                b_seconds_count{x="1"} 7
                # HELP c_seconds A time.
                # TYPE c_seconds gauge
                c_seconds 60
                c_seconds -1.5
                c_seconds 0
                c_seconds 1

                """)
    }

    @Test("a page shows what it was given: one colour of four, the chosen member, the counters by their labels")
    func page() {
        let lines = Set(fullPage().text().split(separator: "\n").map(String.init))
        let expected: Set<String> = [
            "starship_upstream_colour{profile=\"charles\",colour=\"green\"} 0",
            "starship_upstream_colour{profile=\"charles\",colour=\"red\"} 1",
            "starship_upstream_cause{profile=\"charles\",cause=\"port_closed\"} 1",
            "starship_upstream_last_good_age_seconds{profile=\"whistle-qa\"} 1.000001",
            "starship_upstream_latency_seconds_bucket{profile=\"whistle-qa\",layer=\"request\",le=\"10\"} 6",
            "starship_upstream_latency_seconds_count{profile=\"whistle-qa\",layer=\"request\"} 7",
            "starship_group_member_chosen{profile=\"both\",member=\"charles\"} 1",
            "starship_flows_ended_total{inbound=\"socks\",outbound=\"none\",reason=\"rejected\"} 4",
            "starship_flows_opened_total{inbound=\"tun\"} 100", "starship_uptime_seconds 90.5", "starship_uplink_up 0",
            "starship_carried_bytes_total{direction=\"up\"} 1099511627776",
            "starship_build_info{version=\"1.2 \\\"three\\\" \\\\ four\\nfive\"} 1",
        ]
        #expect(expected.subtracting(lines).isEmpty)
        // What was not given is not on it, and two pages of the same figures are the same text.
        let empty = families(MetricsPage())
        #expect(!empty.contains { $0.hasPrefix("starship_upstream") || $0.hasPrefix("starship_dns") })
        #expect(fullPage().text() == fullPage().text())
    }

    @Test("no family, no counter and no sample stands twice, and none has a label for hosts or devices")
    func once() {
        let samples = MetricsPage.counterFamilies.flatMap(\.samples).map(\.counter)
        #expect(samples.count == Set(samples).count)
        let lines = fullPage().text().split(separator: "\n")
        let types = lines.filter { $0.hasPrefix("# TYPE") }
        let keys = lines.filter { !$0.hasPrefix("#") }.map { $0[..<($0.lastIndex(of: " ") ?? $0.endIndex)] }
        #expect(types.count == Set(types).count && keys.count == Set(keys).count)
        let labels = Set(fullPage().text().matches(of: /[{,]([a-z]+)="/).map { String($0.output.1) })
        let known: Set<String> = [
            "cause", "colour", "direction", "event", "inbound", "layer", "le", "limit", "member", "outbound", "profile",
            "reason", "result", "service", "source", "state", "version",
        ]
        #expect(labels == known)
    }

    @Test(
        "promtool finds nothing to complain of in a page, neither its form nor its names",
        .enabled(if: Promtool.isThere, "needs prometheus"))
    func promtoolReads() throws {
        for page in [fullPage(), MetricsPage()] {
            let complaint = try Promtool.complaint(["check", "metrics"], input: page.text())
            #expect(complaint.isEmpty)
        }
    }

    @Test(
        "promtool takes the alert rules and the example of a configuration, and each alert comes when it should",
        .enabled(if: Promtool.isThere, "needs prometheus"))
    func rules() throws {
        for arguments in [["check", "config", "prometheus.yml"], ["test", "rules", "alerts.test.yml"]] {
            #expect(try Promtool.complaint(arguments).isEmpty)
        }
    }

    @Test("every figure that an alert or the dashboard names is on the page")
    func named() throws {
        let known = families(fullPage())
        for file in ["prometheus/alerts.yml", "prometheus/alerts.test.yml", "grafana/starship.json"] {
            let text = try String(contentsOf: Promtool.configs.appending(path: file), encoding: .utf8)
            let unknown = names(in: text).subtracting(known)
            #expect(unknown.isEmpty, "\(file)")
        }
        let alerts = try String(contentsOf: Promtool.configs.appending(path: "prometheus/alerts.yml"), encoding: .utf8)
        let tests = try String(
            contentsOf: Promtool.configs.appending(path: "prometheus/alerts.test.yml"), encoding: .utf8)
        let untested = alerts.matches(of: /alert: (\w+)/).map(\.output.1).filter {
            !tests.contains("alertname: \($0)\n")
        }
        #expect(untested.isEmpty)
    }

    @Test(
        "the dashboard asks what promtool understands, shows every family of ours, and no two panels overlap",
        .enabled(if: Promtool.isThere, "needs prometheus"))
    func dashboard() throws {
        let data = try Data(contentsOf: Promtool.configs.appending(path: "grafana/starship.json"))
        let board = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        let panels = try #require(board["panels"] as? [[String: Any]])
        var questions: [String] = []
        var places: Set<[Int]> = []
        var area = 0
        for panel in panels {
            for target in panel["targets"] as? [[String: Any]] ?? [] {
                questions.append(try #require(target["expr"] as? String))
            }
            let place = try #require(panel["gridPos"] as? [String: Int])
            let (x, y, w, h) = (place["x"] ?? 0, place["y"] ?? 0, place["w"] ?? 0, place["h"] ?? 0)
            area += w * h
            for column in x..<x + w { for line in y..<y + h { places.insert([column, line]) } }
            #expect(x + w <= 24)
        }
        #expect(places.count == area)
        #expect(Set(panels.compactMap { $0["id"] as? Int }).count == panels.count)
        let hidden = families(fullPage()).subtracting(names(in: questions.joined(separator: " ")))
        #expect(hidden.sorted() == Self.notOnDashboard)

        var rules = "groups:\n  - name: dashboard\n    rules:\n"
        for (number, question) in questions.enumerated() {
            let plain = question.replacing("$__rate_interval", with: "5m").replacing("$instance", with: ".*")
            let quoted = plain.replacing("'", with: "''")
            rules += "      - record: question:\(number)\n        expr: '\(quoted)'\n"
        }
        let scratch = try Scratch()
        let file = URL(fileURLWithPath: scratch.directory).appending(path: "rules.yml")
        try rules.write(to: file, atomically: true, encoding: .utf8)
        #expect(try Promtool.complaint(["check", "rules", "--lint=all", file.path]).isEmpty)
    }

    /// What nobody watches, and looks up when there is a reason.
    private static let notOnDashboard = [
        "starship_checks_answered_total", "starship_clients_refused_total", "starship_dns_discarded_messages_total",
        "starship_dns_resolver_tcp_queries_total", "starship_dns_streams_total", "starship_echo_requests_total",
        "starship_flows_refused_total", "starship_handed_over_packets_total", "starship_icmp_errors_total",
        "starship_limit",
        "starship_limit_used",
        "starship_profile_active", "starship_tcp_resets_sent_total", "starship_tcp_reused_keys_total",
        "starship_udp_flows_opened_total",
    ]
}
