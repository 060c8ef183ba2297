/// The names by which Prometheus knows the figures.
///
/// Names follow Prometheus's conventions: one prefix, base units, `_total` behind what only grows. What each program
/// has (descriptors, memory) has the names that its clients give it everywhere.

internal import Health

extension MetricsPage {
    /// What the page is, for `Content-Type`.
    public static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    /// The page as Prometheus reads it; the same figures give the same octets.
    public func text() -> String {
        var text = MetricsText()
        addGateway(to: &text)
        addUpstreams(to: &text)
        addLatencies(to: &text)
        addGroups(to: &text)
        addFlows(to: &text)
        addMemory(to: &text)
        addProcess(to: &text)
        addCounters(to: &text)
        return text.text
    }

    private func addGateway(to text: inout MetricsText) {
        text.begin("starship_build_info", .gauge, "The version that runs; always 1.")
        text.sample(1, ("version", version))
        text.begin("starship_uptime_seconds", .gauge, "Time since the gateway started.")
        text.sample(seconds: uptime)
        text.begin("starship_configuration_revision", .gauge, "The revision of the lab's state that is running.")
        text.sample(revision)
        text.begin("starship_uplink_up", .gauge, "Whether the gateway itself has a way out.")
        text.sample(hasUplink)
        text.begin("starship_devices", .gauge, "Devices that are known: seen, named, with a profile of their own.")
        text.sample(devices.seen, ("state", "seen"))
        text.sample(devices.named, ("state", "named"))
        text.sample(devices.assigned, ("state", "assigned"))
        text.begin("starship_event_clients", .gauge, "Clients that read the stream of events.")
        text.sample(events.clients)
        text.begin("starship_event_clients_dropped_total", .counter, "Clients dropped because they did not read.")
        text.sample(events.dropped)
    }

    private func addUpstreams(to text: inout MetricsText) {
        guard !upstreams.isEmpty else { return }
        text.begin("starship_profile_active", .gauge, "Whether a profile is the gateway's default.")
        for upstream in upstreams { text.sample(upstream.isActive, ("profile", upstream.profile)) }
        text.begin("starship_upstream_colour", .gauge, "The colour of a profile's upstream: 1 for the one that it has.")
        for upstream in upstreams {
            for colour in Colour.allCases {
                text.sample(
                    upstream.colour == colour, ("profile", upstream.profile), ("colour", colour.rawValue))
            }
        }
        if upstreams.contains(where: { $0.cause != nil }) {
            text.begin("starship_upstream_cause", .gauge, "Why an upstream has its colour; always 1.")
            for upstream in upstreams {
                guard let cause = upstream.cause else { continue }
                text.sample(1, ("profile", upstream.profile), ("cause", cause))
            }
        }
        if upstreams.contains(where: { $0.sinceGood != nil }) {
            text.begin(
                "starship_upstream_last_good_age_seconds", .gauge, "Time since a request came back as it should.")
            for upstream in upstreams {
                guard let age = upstream.sinceGood else { continue }
                text.sample(seconds: age, ("profile", upstream.profile))
            }
        }
    }

    private func addLatencies(to text: inout MetricsText) {
        guard upstreams.contains(where: { !$0.latency.isEmpty }) else { return }
        text.begin(
            "starship_upstream_latency_seconds", .histogram,
            "How long good tries took: connecting, a request through it, opening a user's stream.")
        for upstream in upstreams {
            for layer in Sample.Layer.allCases {
                guard let histogram = upstream.latency[layer] else { continue }
                text.histogram(histogram, ("profile", upstream.profile), ("layer", layer.rawValue))
            }
        }
    }

    private func addGroups(to text: inout MetricsText) {
        guard !groups.isEmpty else { return }
        text.begin("starship_group_member_chosen", .gauge, "Whether a group's new streams go to a member.")
        for group in groups {
            for member in group.members {
                text.sample(group.chosen == member, ("profile", group.profile), ("member", member))
            }
        }
        text.begin("starship_group_changes_total", .counter, "How often a group has chosen another member.")
        for group in groups { text.sample(group.changes, ("profile", group.profile)) }
    }

    private func addFlows(to text: inout MetricsText) {
        text.begin("starship_flows_open", .gauge, "TCP flows that are there, half-open ones too.")
        text.sample(flows.open)
        text.begin("starship_flows_half_open", .gauge, "TCP flows that are being opened.")
        text.sample(flows.halfOpen)
        text.begin("starship_udp_flows_open", .gauge, "UDP flows that are there.")
        text.sample(flows.datagrams)
        if !flows.opened.isEmpty {
            text.begin("starship_flows_opened_total", .counter, "TCP flows by the way they came in.")
            for (inbound, count) in flows.opened.sorted(by: { $0.key < $1.key }) {
                text.sample(count, ("inbound", inbound))
            }
        }
        if !flows.ended.isEmpty {
            text.begin(
                "starship_flows_ended_total", .counter, "TCP flows by the way in, the way out and why they ended.")
            for ended in flows.ended {
                text.sample(
                    ended.count, ("inbound", ended.inbound), ("outbound", ended.outbound), ("reason", ended.reason))
            }
        }
        text.begin(
            "starship_carried_bytes_total", .counter, "Octets of streams, from the devices (up) and to them (down).")
        text.sample(flows.octetsUp, ("direction", "up"))
        text.sample(flows.octetsDown, ("direction", "down"))
    }

    private func addMemory(to text: inout MetricsText) {
        if let fakeAddresses {
            text.begin("starship_fake_addresses_used", .gauge, "Names that have a fake address.")
            text.sample(fakeAddresses.used)
            text.begin("starship_fake_addresses", .gauge, "Names that may have one at a time.")
            text.sample(fakeAddresses.size)
        }
        if !limits.isEmpty {
            text.begin("starship_limit_used", .gauge, "How much is used of what is bounded.")
            for limit in limits { text.sample(limit.used, ("limit", limit.name)) }
            text.begin("starship_limit", .gauge, "Those bounds.")
            for limit in limits { text.sample(limit.bound, ("limit", limit.name)) }
        }
        text.begin("starship_buffer_used_bytes", .gauge, "Octets that wait in flows.")
        text.sample(buffers.used)
        text.begin("starship_buffer_resident_bytes", .gauge, "Memory of the buffers that the kernel has given.")
        text.sample(buffers.resident)
        text.begin("starship_buffer_limit_bytes", .gauge, "Memory that buffers may have.")
        text.sample(buffers.limit)
    }

    private func addProcess(to text: inout MetricsText) {
        text.begin("process_open_fds", .gauge, "Open descriptors.")
        text.sample(process.descriptors)
        text.begin("process_max_fds", .gauge, "Descriptors that may be open.")
        text.sample(process.descriptorLimit)
        text.begin("process_resident_memory_bytes", .gauge, "Memory that is resident.")
        text.sample(process.residentOctets)
    }
}
