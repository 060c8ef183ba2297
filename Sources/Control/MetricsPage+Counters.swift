/// The gateway's counters, from the names of its snapshot to families with labels.

extension MetricsPage {
    /// A family, and the counters that are its samples.
    struct CounterFamily: Sendable {
        var name: String
        var help: String
        /// Nil for a family of one sample.
        var label: String?
        var samples: [(counter: String, value: String)]

        init(_ name: String, _ help: String, _ label: String, _ samples: [(counter: String, value: String)]) {
            (self.name, self.help, self.label, self.samples) = (name, help, label, samples)
        }

        init(_ name: String, _ help: String, _ counter: String) {
            (self.name, self.help, label, samples) = (name, help, nil, [(counter, "")])
        }
    }

    /// Every counter that has a place on the page.
    public static var knownCounters: Set<String> {
        // By their inbound they are in `flows`.
        Set(counterFamilies.flatMap(\.samples).map(\.counter)).union(["flows_opened"])
    }

    /// Adds what has been counted; a counter that the page was not given is left out.
    func addCounters(to text: inout MetricsText) {
        for family in Self.counterFamilies {
            let given = family.samples.compactMap { sample in counters[sample.counter].map { ($0, sample.value) } }
            guard !given.isEmpty else { continue }
            text.begin(family.name, .counter, family.help)
            for (count, value) in given {
                if let label = family.label {
                    text.sample(count, (label, value))
                } else {
                    text.sample(count)
                }
            }
        }
    }

    static let counterFamilies: [CounterFamily] = packets + tcp + limits + others + dns

    private static let packets: [CounterFamily] = [
        CounterFamily(
            "starship_tun_packets_total", "Packets on the TUN device, each up to 64 KiB.", "direction",
            [("packets_read", "read"), ("packets_written", "written")]),
        CounterFamily(
            "starship_tun_bytes_total", "Octets of those packets.", "direction",
            [("bytes_read", "read"), ("bytes_written", "written")]),
        CounterFamily(
            "starship_tun_write_failures_total", "Packets that the TUN device did not take.", "reason",
            [("writes_refused", "refused"), ("writes_full", "full")]),
        CounterFamily(
            "starship_tun_dropped_packets_total",
            "Packets of devices for which the TUN device's queue had no room, by the kernel's count.", "tun_tx_dropped"),
        CounterFamily(
            "starship_dropped_packets_total", "Packets that went nowhere, and why.", "reason",
            [
                ("dropped_malformed", "malformed"), ("dropped_checksum", "checksum"), ("dropped_fragment", "fragment"),
                ("dropped_unsupported", "unsupported"), ("dropped_noise", "noise"), ("dropped_handoff", "handoff"),
            ]),
        CounterFamily(
            "starship_handed_over_packets_total", "Packets that reached another worker than their own.", "direction",
            [("handed_over", "out"), ("taken_over", "in")]),
    ]

    private static let tcp: [CounterFamily] = [
        CounterFamily(
            "starship_tcp_retransmitted_bytes_total", "Octets sent to devices once more.", "retransmitted_bytes"),
        CounterFamily(
            "starship_tcp_discarded_segments_total", "Segments of devices that were not used, and why.", "reason",
            [
                ("too_many_ranges", "too_many_ranges"), ("outdated_segments", "outdated"),
                ("challenged_segments", "challenged"),
            ]),
        CounterFamily("starship_tcp_resets_sent_total", "Resets sent to devices.", "resets_sent"),
        CounterFamily(
            "starship_tcp_reused_keys_total", "Flows whose key was still remembered.", "time_wait_reused"),
        CounterFamily(
            "starship_syn_cookies_total", "SYN cookies, used beyond the bound of half-open flows.", "result",
            [("cookies_sent", "sent"), ("cookies_accepted", "accepted"), ("cookies_rejected", "rejected")]),
        CounterFamily("starship_flows_refused_total", "Flows that never came to be.", "flows_refused"),
    ]

    private static let limits: [CounterFamily] = [
        CounterFamily(
            "starship_limit_hits_total", "How often a bound was reached.", "limit",
            [
                ("half_open_evicted", "half_open_per_device"), ("flow_limit_hits", "flows"),
                ("device_flow_limit_hits", "flows_per_device"), ("flows_shed", "idle_flows"),
                ("dns_streams_shed", "dns_streams_idle"), ("control_clients_shed", "control_clients"),
                ("event_streams_refused", "event_streams"), ("page_clients_shed", "page_clients"),
                ("page_requests_refused", "page_requests"),
                ("descriptors_exhausted", "descriptors"), ("out_of_memory", "buffers"), ("udp_limit_hits", "udp_flows"),
                ("icmp_limited", "icmp_errors"), ("dns_pool_full", "fake_addresses"),
                ("dns_overloaded", "dns_questions"), ("dns_streams_refused", "dns_streams"),
            ])
    ]

    private static let others: [CounterFamily] = [
        CounterFamily(
            "starship_clients_refused_total", "Clients that may not use a service.", "service",
            [("clients_not_allowed", "proxy"), ("dns_not_allowed", "dns")]),
        CounterFamily(
            "starship_checks_answered_total", "Checks for Internet that the gateway answered itself.",
            "checks_answered"),
        CounterFamily(
            "starship_echo_requests_total", "Pings behind the tunnel.", "result",
            [("echo_replies", "answered"), ("echo_refused", "refused")]),
        CounterFamily("starship_udp_flows_opened_total", "UDP flows.", "udp_flows_opened"),
        CounterFamily(
            "starship_udp_datagrams_total", "Datagrams of devices, and what became of them.", "result",
            [
                ("udp_carried", "sent"), ("udp_answered", "received"), ("udp_dropped", "dropped"),
                ("udp_refused", "refused"),
            ]),
        CounterFamily(
            "starship_icmp_errors_total", "Errors of the network, and what became of them.", "result",
            [
                ("icmp_errors_accepted", "accepted"), ("icmp_errors_ignored", "ignored"),
                ("udp_errors_told", "passed_on"),
            ]),
    ]

    private static let dns: [CounterFamily] = [
        CounterFamily(
            "starship_dns_queries_total", "Questions of devices and of this machine's own flows.", "source",
            [("dns_udp", "udp"), ("dns_tcp", "tcp"), ("dns_lookups", "gateway")]),
        CounterFamily(
            "starship_dns_answers_total", "How they were answered.", "result",
            [
                ("dns_fake", "fake"), ("dns_own", "own"), ("dns_negative", "negative"), ("dns_refused", "refused"),
                ("dns_cached", "cached"), ("dns_joined", "joined"), ("dns_forwarded", "forwarded"),
                ("dns_failed", "failed"),
            ]),
        CounterFamily(
            "starship_dns_discarded_messages_total", "Messages without an answer, and answers without room.", "reason",
            [("dns_ignored", "no_question"), ("dns_malformed", "malformed"), ("dns_unsent", "no_room")]),
        CounterFamily(
            "starship_dns_streams_total", "TCP connections to the DNS service.", "event",
            [("dns_streams", "opened"), ("dns_streams_idle", "closed_idle")]),
        CounterFamily("starship_dns_resolver_queries_total", "Questions to the resolvers.", "dns_resolver_sent"),
        CounterFamily("starship_dns_resolver_tcp_queries_total", "Those of them over TCP.", "dns_resolver_tcp"),
        CounterFamily(
            "starship_dns_resolver_failures_total", "What resolvers owed, or sent wrong.", "reason",
            [
                ("dns_resolver_timeouts", "timeout"), ("dns_resolver_strays", "stray"),
                ("dns_resolver_malformed", "malformed"), ("dns_fake_from_resolver", "fake_address"),
            ]),
    ]
}
