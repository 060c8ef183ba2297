/// Writing the `limits` object.

extension Limits {
    /// What is not as by default.
    var json: JSON {
        let usual = Limits()
        var members: [JSON.Member] = []
        members.add("dial", dial, unless: usual.dial)
        members.add("connect", connect, unless: usual.connect)
        members.add("attemptDelay", attemptDelay, unless: usual.attemptDelay)
        members.add("halfOpen", halfOpen, unless: usual.halfOpen)
        members.add("halfOpenPerDevice", halfOpenPerDevice, unless: usual.halfOpenPerDevice)
        members.add("flows", flows, unless: usual.flows)
        members.add("flowsPerDevice", flowsPerDevice, unless: usual.flowsPerDevice)
        members.add("synAck", .array(synAck.map(JSON.duration)), unless: .array(usual.synAck.map(JSON.duration)))
        members.add("timeWait", timeWait, unless: usual.timeWait)
        members.add("halfClose", halfClose, unless: usual.halfClose)
        members.add("idle", idle, unless: usual.idle)
        members.add("keepaliveClient", keepaliveClient, unless: usual.keepaliveClient)
        members.add("keepaliveUpstream", keepaliveUpstream, unless: usual.keepaliveUpstream)
        if let buffers { members.add("buffers", .string(Quantity.text(octets: buffers))) }
        members.add("flowBuffer", size: flowBuffer, unless: usual.flowBuffer)
        members.add("icmpErrors", icmpErrors, unless: usual.icmpErrors)
        members.add("udpFlows", udpFlows, unless: usual.udpFlows)
        members.add("udpFlowsInAll", udpFlowsInAll, unless: usual.udpFlowsInAll)
        members.add("udpIdle", udpIdle, unless: usual.udpIdle)
        members.add("dnsIdle", dnsIdle, unless: usual.dnsIdle)
        members.add("sniffBytes", size: sniffBytes, unless: usual.sniffBytes)
        members.add("sniffTime", sniffTime, unless: usual.sniffTime)
        if sniffPorts != usual.sniffPorts {
            members.add("sniffPorts", .array(sniffPorts.map { .integer(Int($0)) }))
        }
        members.add("fakePerDevice", fakePerDevice, unless: usual.fakePerDevice)
        members.add("fragments", size: fragments, unless: usual.fragments)
        members.add("fragmentTime", fragmentTime, unless: usual.fragmentTime)
        members.add("credentialRetry", credentialRetry, unless: usual.credentialRetry)
        return .object(members)
    }
}
