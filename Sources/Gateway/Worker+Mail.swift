/// What other threads say to a worker.

import Addresses
import Bytes
import Flows
import LinuxIO
import Relay

extension Worker {
    mutating func collectMail() {
        for message in shared.mailboxes[index].collect() {
            switch message {
            case .packet(let bytes, let isChecksumTrusted):
                counters.takenOver += 1
                receive(bytes.span, isChecksumTrusted: isChecksumTrusted)
            case .resolved(let resolution): take(resolution)
            case .reroute(let order): beginRerouting(order)
            case .report(let box): box.put(report())
            case .activity(let box): box.put(activities.all)
            case .requests(let box): box.put(requests)
            case .check(let box): box.put(seenChecks.notes(of: box.nonce, at: now))
            case .learn(let devices, let until):
                for device in devices { requests.learn(device, until: until) }
            case .forget(let devices): requests.forget(devices)
            case .list(let box): box.put(listFlows(matching: box.question))
            case .prove(let round): round.prove()
            case .stop: isStopping = true
            }
        }
        collectNames()
    }

    /// Ends every flow at the gateway's stop: both sides are reset, so nobody waits for a dead gateway.
    mutating func endAllFlows() {
        for place in 0..<flows.capacity {
            guard let handle = flows.handle(at: place) else { continue }
            dropUpstream(handle)
            abort(handle, because: .shutdown)
        }
        flushBursts(isEnd: true)
    }

    /// The device was removed: nothing can be carried any more, and the service manager has to know.
    mutating func tunnelIsGone() {
        output = nil
        tunnelHasMore = false
        isStopping = true
        log(.error, "tunnel-gone") { $0.add("cause", "the TUN device was removed") }
        shared.fail()
    }

    private func report() -> WorkerReport {
        var report = WorkerReport(worker: index, counters: counters, tally: tally)
        report.flows = flows.count
        report.halfOpen = halfOpen.count
        report.lingering = lingering.count
        report.datagramFlows = datagrams.count
        report.chunksUsed = pool.used
        report.chunksResident = pool.resident
        for place in 0..<flows.capacity {
            guard let handle = flows.handle(at: place) else { continue }
            report.states[flows[handle].stateName, default: 0] += 1
            report.profiles[flows[handle].profile, default: 0] += 1
            report.tally.octetsUp += flows[handle].relay.up.bytes
            report.tally.octetsDown += flows[handle].relay.down.bytes
            report.devices[flows[handle].key.client.address, default: 0] += 1
        }
        return report
    }
}

extension Flow {
    /// How far the flow has come, in one word.
    var stateName: String {
        if session != nil, check == nil { return dial == nil ? "greeting" : "dialling" }
        if dial != nil { return "dialling" }
        if isHalfOpen { return "syn-received" }
        if sniff != nil { return "sniffing" }
        if check != nil { return "answered" }
        if upstream == nil { return "refused" }
        return relay.endedFirst == nil ? "open" : "half-closed"
    }
}
