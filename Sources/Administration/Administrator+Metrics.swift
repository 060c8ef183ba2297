/// The figures for Prometheus.

import Bytes
import Control
import Devices
import Gateway
import Health
import LinuxIO
import Profiles

extension Administrator {
    func metrics(_ gateway: inout Gateway) -> ControlAnswer {
        let status = gateway.status()
        var page = MetricsPage()
        page.version = version
        page.uptime = .seconds(uptime.nanoseconds / 1_000_000_000)
        page.revision = store.number
        page.hasUplink = desk?.uplinkTrouble == nil
        page.upstreams = upstreamMetrics()
        page.groups = groupMetrics()
        page.flows = Self.flowMetrics(status)
        let seen = devices.devices
        page.devices.seen = seen.count { $0.seen != nil }
        page.devices.named = seen.count { $0.name != nil }
        page.devices.assigned = plan.effective.assignments.count
        if status.fakePlaces > 0 {
            page.fakeAddresses = MetricsPage.Usage(used: status.fakeNames, size: status.fakePlaces)
        }
        page.buffers.used = status.bufferBytesUsed
        page.buffers.resident = status.bufferBytes
        page.buffers.limit = status.bufferLimit
        page.process.descriptors = status.descriptors
        page.process.descriptorLimit = status.descriptorLimit
        page.process.residentOctets = status.residentKiB << 10
        page.events = eventMetrics
        page.counters = status.counters.merging(doors.hits, uniquingKeysWith: +)
        page.limits = limits(status)
        return ControlAnswer(document: page.text(), type: MetricsPage.contentType)
    }

    private func upstreamMetrics() -> [MetricsPage.Upstream] {
        let now = Clock.now()
        return (desk?.watched.values.sorted { $0.profile < $1.profile } ?? []).map { one in
            let report = seen(one.profile)
            var upstream = MetricsPage.Upstream(
                profile: one.profile, isActive: one.profile == plan.active.id, colour: report.colour)
            upstream.cause = report.cause?.word
            upstream.sinceGood = report.lastGood.map { now - $0 }
            for layer in Sample.Layer.allCases {
                upstream.latency[layer] = MetricsPage.Histogram(one.health.histogram(of: layer))
            }
            return upstream
        }
    }

    private func groupMetrics() -> [MetricsPage.Group] {
        (desk?.groups.sorted { $0.key < $1.key } ?? []).map { id, group in
            let names = group.options.members
            var metrics = MetricsPage.Group(
                profile: id, members: names, chosen: group.choice.order.first.map { names[$0] })
            metrics.changes = group.changes
            return metrics
        }
    }

    private static func flowMetrics(_ status: GatewayStatus) -> MetricsPage.Flows {
        var flows = MetricsPage.Flows()
        flows.open = status.flows
        flows.halfOpen = status.halfOpen
        flows.datagrams = status.datagramFlows
        flows.opened = status.tally.opened
        flows.ended = status.tally.ended.map { kind, count in
            MetricsPage.Ended(inbound: kind.inbound, outbound: kind.outbound, reason: kind.reason, count: count)
        }
        flows.octetsUp = Int(clamping: status.tally.octetsUp)
        flows.octetsDown = Int(clamping: status.tally.octetsDown)
        return flows
    }
}

extension MetricsPage.Histogram {
    /// The same in the page's form: each bucket alone.
    init(_ histogram: LatencyHistogram) {
        var before: UInt64 = 0
        let counts = histogram.cumulative.map { total in
            defer { before = total }
            return Int(clamping: total - before)
        }
        self.init(bounds: LatencyHistogram.bounds, counts: counts, sum: histogram.sum)
    }
}
