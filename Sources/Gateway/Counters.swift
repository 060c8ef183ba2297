/// What a worker counts: each counter is written by one worker alone and added up when somebody asks.

import LinuxIO
import Wire

struct Counters: Sendable {
    // Packets on the TUN device
    var packetsRead = 0
    var packetsWritten = 0
    var bytesRead = 0
    var bytesWritten = 0
    var writesRefused = 0
    var writesFull = 0

    // Packets that were dropped, by reason
    var droppedMalformed = 0
    var droppedChecksum = 0
    var droppedFragment = 0
    var droppedUnsupported = 0
    var droppedNoise = 0
    var droppedHandoff = 0

    // Flows
    var flowsOpened = 0
    var flowsRefused = 0
    var cookiesSent = 0
    var cookiesAccepted = 0
    var cookiesRejected = 0
    var halfOpenEvicted = 0
    var flowLimitHits = 0
    var deviceFlowLimitHits = 0
    /// Idle flows that gave way.
    var flowsShed = 0
    var descriptorsExhausted = 0
    var resetsSent = 0
    var timeWaitReused = 0
    var clientsNotAllowed = 0
    var checksAnswered = 0
    /// Flows that another upstream of their group was asked for.
    var failovers = 0

    // TCP towards the devices
    var retransmittedBytes = 0

    var outOfMemory = 0
    var tooManyRanges = 0
    var outdated = 0
    var challenged = 0

    // Other protocols
    var echoReplies = 0
    var echoRefused = 0
    var udpRefused = 0
    var udpFlowsOpened = 0
    var udpLimitHits = 0
    /// Datagrams that went out, came back, and went nowhere.
    var udpCarried = 0
    var udpAnswered = 0
    var udpDropped = 0
    /// Errors of the network outside that were passed on.
    var udpErrorsTold = 0
    var icmpLimited = 0
    var icmpErrorsAccepted = 0
    var icmpErrorsIgnored = 0

    // Between workers
    var handedOver = 0
    var takenOver = 0

    /// Names and values, in the order of the snapshot.
    var named: [(name: String, value: Int)] {
        [
            ("packets_read", packetsRead), ("packets_written", packetsWritten), ("bytes_read", bytesRead),
            ("bytes_written", bytesWritten), ("writes_refused", writesRefused), ("writes_full", writesFull),
            ("dropped_malformed", droppedMalformed), ("dropped_checksum", droppedChecksum),
            ("dropped_fragment", droppedFragment), ("dropped_unsupported", droppedUnsupported),
            ("dropped_noise", droppedNoise), ("dropped_handoff", droppedHandoff), ("flows_opened", flowsOpened),
            ("flows_refused", flowsRefused), ("cookies_sent", cookiesSent), ("cookies_accepted", cookiesAccepted),
            ("cookies_rejected", cookiesRejected), ("half_open_evicted", halfOpenEvicted),
            ("flow_limit_hits", flowLimitHits), ("device_flow_limit_hits", deviceFlowLimitHits),
            ("flows_shed", flowsShed), ("descriptors_exhausted", descriptorsExhausted),
            ("resets_sent", resetsSent), ("time_wait_reused", timeWaitReused),
            ("retransmitted_bytes", retransmittedBytes), ("out_of_memory", outOfMemory),
            ("too_many_ranges", tooManyRanges), ("outdated_segments", outdated), ("challenged_segments", challenged),
            ("clients_not_allowed", clientsNotAllowed), ("checks_answered", checksAnswered), ("failovers", failovers),
            ("echo_replies", echoReplies), ("echo_refused", echoRefused), ("udp_refused", udpRefused),
            ("udp_flows_opened", udpFlowsOpened), ("udp_limit_hits", udpLimitHits), ("udp_carried", udpCarried),
            ("udp_answered", udpAnswered), ("udp_dropped", udpDropped), ("udp_errors_told", udpErrorsTold),
            ("icmp_limited", icmpLimited),
            ("icmp_errors_accepted", icmpErrorsAccepted), ("icmp_errors_ignored", icmpErrorsIgnored),
            ("handed_over", handedOver), ("taken_over", takenOver),
        ]
    }
}

extension Counters {
    /// Counts a packet that was dropped because it makes no sense.
    mutating func note(_ error: WireError) {
        switch error {
        case .checksum: droppedChecksum += 1
        case .unsupported: droppedUnsupported += 1
        case .truncated, .inconsistent: droppedMalformed += 1
        }
    }

    /// Counts a packet that was written, or was not.
    mutating func note(_ outcome: TunnelWrite, bytes: Int) {
        switch outcome {
        case .written:
            packetsWritten += 1
            bytesWritten += bytes
        case .full: writesFull += 1
        case .refused, .gone: writesRefused += 1
        }
    }
}
