/// What is bounded, how much of it is used, and how often that was too little.

import Bytes
import Control
import Gateway
import Profiles

/// What the listeners of control API and page have to do.
struct Doors {
    var clients = 0
    /// Nil: there is no page.
    var pageClients: Int?
    /// How often a bound was reached, by the name of the counter.
    var hits: [String: Int] = [:]

    init() {}

    init(_ watches: borrowing Watches) {
        clients = watches.server.clients
        hits = watches.server.limitHits
        guard watches.page != nil else { return }
        pageClients = watches.page.value.clients
        hits.merge(watches.page.value.limitHits, uniquingKeysWith: +)
    }
}

extension Administrator {
    /// Every bound with a use that can be told; the counters have those that are about rates.
    func limits(_ status: GatewayStatus) -> [MetricsPage.LimitUse] {
        let limits = running.limits
        func hits(_ counters: String...) -> Int {
            counters.reduce(0) { $0 + (status.counters[$1] ?? doors.hits[$1] ?? 0) }
        }
        let busiest = status.devices.values.max() ?? 0
        var uses = [
            MetricsPage.LimitUse(
                "flows", used: status.flows, of: limits.flows, hits: hits("flow_limit_hits", "flows_shed")),
            .init("flows_per_device", used: busiest, of: limits.flowsPerDevice, hits: hits("device_flow_limit_hits")),
            .init(
                "half_open", used: status.halfOpen, of: limits.halfOpen,
                hits: hits("cookies_sent", "half_open_evicted")),
            .init("udp_flows", used: status.datagramFlows, of: limits.udpFlowsInAll, hits: hits("udp_limit_hits")),
            .init("buffers", used: status.bufferBytesUsed, of: status.bufferLimit, hits: hits("out_of_memory")),
            .init(
                "descriptors", used: status.descriptors, of: status.descriptorLimit,
                hits: hits("descriptors_exhausted")),
            .init(
                "control_clients", used: doors.clients, of: ControlServer.connectionLimit,
                hits: hits("control_clients_shed")),
            .init(
                "event_streams", used: eventMetrics.clients, of: ControlServer.streamLimit,
                hits: hits("event_streams_refused")),
        ]
        if let clients = doors.pageClients {
            uses.append(
                .init("page_clients", used: clients, of: PageServer.connectionLimit, hits: hits("page_clients_shed")))
        }
        if status.fakePlaces > 0 {
            uses.append(
                .init("fake_addresses", used: status.fakeNames, of: status.fakePlaces, hits: hits("dns_pool_full")))
        }
        return uses
    }

    static func json(_ use: MetricsPage.LimitUse) -> JSON {
        .members([
            "limit": .string(use.name), "used": .integer(use.used), "of": .integer(use.bound),
            "hits": .integer(use.hits),
        ])
    }
}
