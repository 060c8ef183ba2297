/// The `limits` object: the range of each number.

internal import Bytes

extension Limits {
    init(_ value: JSON5Value) throws(ConfigurationError) {
        let section = try Section(
            value, path: "limits", keys: ConfigurationKeys.limits)
        try section.read("dial", into: &dial, within: .milliseconds(100) ... .seconds(60))
        try section.read("connect", into: &connect, within: .seconds(1) ... .seconds(120))
        try section.read("attemptDelay", into: &attemptDelay, within: .milliseconds(10) ... .seconds(2))
        try section.read("halfOpen", into: &halfOpen, within: 1...1_048_576)
        try section.read("halfOpenPerDevice", into: &halfOpenPerDevice, within: 1...65_536)
        try section.read("flows", into: &flows, within: 1...1_048_576)
        try section.read("flowsPerDevice", into: &flowsPerDevice, within: 1...1_048_576)
        try section.read("timeWait", into: &timeWait, within: .seconds(1) ... .seconds(240))
        try section.read("halfClose", into: &halfClose, within: .seconds(1) ... .hours(24))
        try section.read("idle", into: &idle, within: .seconds(60) ... .hours(24 * 30))
        try section.read("keepaliveClient", into: &keepaliveClient, within: .hours(2) ... .hours(24 * 30))
        try section.read("keepaliveUpstream", into: &keepaliveUpstream, within: .seconds(5) ... .hours(24))
        try section.read("flowBuffer", intoSize: &flowBuffer, within: 64 << 10...16 << 20)
        try section.read("icmpErrors", into: &icmpErrors, within: 0...10_000)
        try section.read("udpFlows", into: &udpFlows, within: 1...65_536)
        try section.read("udpFlowsInAll", into: &udpFlowsInAll, within: 1...1_048_576)
        try section.read("udpIdle", into: &udpIdle, within: .seconds(5) ... .hours(1))
        try section.read("dnsIdle", into: &dnsIdle, within: .seconds(1) ... .hours(1))
        try section.read("sniffBytes", intoSize: &sniffBytes, within: 512...64 << 10)
        try section.read("sniffTime", into: &sniffTime, within: .milliseconds(10) ... .seconds(10))
        try section.read("fakePerDevice", into: &fakePerDevice, within: 16...1_048_576)
        try section.read("fragments", intoSize: &fragments, within: 64 << 10...64 << 20)
        try section.read("fragmentTime", into: &fragmentTime, within: .seconds(1) ... .seconds(120))
        try section.read("credentialRetry", into: &credentialRetry, within: .seconds(60) ... .hours(24))
        try readSynAck(section)
        try readSniffPorts(section)
        try readBuffers(section)
    }

    private mutating func readSniffPorts(_ section: Section) throws(ConfigurationError) {
        guard section["sniffPorts"] != nil else { return }
        let expected = "a list of up to 16 ports, each once"
        var ports: [UInt16] = []
        for value in try section.list("sniffPorts", expected, limit: 16) {
            guard case .number(let number) = value.content else {
                throw section.error(
                    .wrongType, "sniffPorts", found: "\(value.kind) in the list", expected: expected, at: value)
            }
            guard let integer = number.integer, (1...65535).contains(integer), !ports.contains(UInt16(integer)) else {
                throw section.error(
                    .badValue, "sniffPorts", found: "\(Shown.number(number)) in the list", expected: expected, at: value
                )
            }
            ports.append(UInt16(integer))
        }
        sniffPorts = ports
    }

    private mutating func readSynAck(_ section: Section) throws(ConfigurationError) {
        guard section["synAck"] != nil else { return }
        var waits: [Interval] = []
        for wait in try section.list("synAck", "a list of durations", limit: 8) {
            waits.append(try section.duration(wait, "synAck", within: .milliseconds(200) ... .seconds(60)))
        }
        synAck = waits
    }

    private mutating func readBuffers(_ section: Section) throws(ConfigurationError) {
        if let value = section["buffers"], value.content != .string("auto") {
            var size = 0
            try section.read("buffers", intoSize: &size, within: 1 << 20...64 << 30)
            buffers = size
        }
        if let buffers, buffers < flowBuffer {
            throw section.error(
                .conflict, "buffers", found: "\"\(Quantity.text(octets: buffers))\"",
                expected: "at least what one flow may hold, \"\(Quantity.text(octets: flowBuffer))\"",
                hint: "flowBuffer is the bound for one flow")
        }
        if halfOpenPerDevice > halfOpen {
            throw section.error(
                .conflict, "halfOpenPerDevice", found: "\(halfOpenPerDevice)",
                expected: "no more than halfOpen, which is \(halfOpen)")
        }
    }
}
