/// What is done at the bounds: the flow that has been idle for longest gives way, else the newcomer is refused.

import Addresses
import Bytes
import Flows
import LinuxIO
import Relay

/// A bound that was reached, in the words of the log.
enum Bound: String, CaseIterable {
    case flows = "flow-limit"
    case flowsPerDevice = "device-flow-limit"
    case halfOpen = "half-open-limit"
    case datagramFlows = "udp-flow-limit"
    case descriptors = "descriptor-limit"
    case buffers = "buffer-limit"
}

extension Worker {
    /// Makes room for one more flow of a device; returns why there is none.
    mutating func makeRoom(for device: IPAddress) -> CloseReason? {
        if shares.isFull(for: device), !shed(of: device) {
            counters.deviceFlowLimitHits += 1
            say(.flowsPerDevice, limit: shares.limit, device)
            return .deviceFlowLimit
        }
        if flows.count >= flowLimit, !shed(of: nil) {
            counters.flowLimitHits += 1
            say(.flows, limit: flowLimit)
            return .flowLimit
        }
        return nil
    }

    /// Ends the flow of a device (nil: of any) that has been idle for longest; false when none has been for long
    /// enough.
    private mutating func shed(of device: IPAddress?) -> Bool {
        // Those that have moved meanwhile, or are gone, are passed over.
        for _ in 0...FlowShares.batch {
            guard let found = nextIdle(of: device) else { return false }
            guard flows.contains(found.flow), flows[found.flow].idleSince == found.since else { continue }
            counters.flowsShed += 1
            say(device == nil ? .flows : .flowsPerDevice, limit: device == nil ? flowLimit : shares.limit, device)
            abort(found.flow, because: .shed)
            return true
        }
        return false
    }

    private mutating func nextIdle(of device: IPAddress?) -> IdleFlow? {
        // Taken out while all flows are looked at.
        var shares = FlowShares(limit: 1)
        swap(&shares, &self.shares)
        defer { swap(&shares, &self.shares) }
        return shares.next(of: device, now: now) { idlest(of: device) }
    }

    /// The flows that have been idle for longest and for long enough, the idlest last.
    private func idlest(of device: IPAddress?) -> [IdleFlow] {
        var found: [IdleFlow] = []
        let latest = now - FlowShares.patience
        for place in 0..<flows.capacity {
            guard let handle = flows.handle(at: place), let since = flows[handle].idleSince, since <= latest else {
                continue
            }
            if let device, flows[handle].key.client.address != device { continue }
            if found.count == FlowShares.batch {
                guard since < found[0].since else { continue }
                found.removeFirst()
            }
            let position = found.firstIndex { $0.since <= since } ?? found.count
            found.insert(IdleFlow(flow: handle, since: since), at: position)
        }
        return found
    }

    /// Counts something that could not be done for want of a descriptor.
    mutating func noteDescriptorShortage() {
        counters.descriptorsExhausted += 1
        say(.descriptors, limit: DescriptorLimit.current().soft)
    }

    /// Says that a bound was reached, once in ten seconds for each.
    mutating func say(_ bound: Bound, limit: Int, _ device: IPAddress? = nil) {
        guard now >= boundWarnings[bound, default: now] else { return }
        boundWarnings[bound] = now + .seconds(10)
        log(.warning, bound.rawValue) { line in
            line.add("limit", limit)
            if let device { line.add("device", device.description) }
        }
    }
}

extension Flow {
    /// Since when no octet has moved; nil for a flow whose upstream is still asked.
    var idleSince: Instant? {
        upstream == nil ? nil : max(relay.up.lastMoved, relay.down.lastMoved)
    }
}
