/// The schema of the objects at the top of the file.

internal import Bytes

extension ConfigurationSchema {
    static var tunnel: SchemaObject {
        let usual = TunnelOptions()
        var object = SchemaObject()
        object.add("name", .interface, "the name of the device; starship0 unless given")
        object.add("mtu", .number(usual.mtu, 1280...65535), "its MTU")
        object.add(
            "workers", .number(usual.workers, 1...64),
            "threads, each with a queue of the device; one for every two processors unless given, 4 at most")
        object.add("offload", .words(usual.offload), "what is left to the kernel")
        return object
    }

    static var network: SchemaObject {
        let usual = NetworkOptions()
        var lan = SchemaObject(required: ["interface"])
        lan.add("interface", .interface, "an interface with devices on it")
        lan.add("profile", .text(), "the id of the profile of its devices")
        var object = SchemaObject()
        object.add("setup", .words(usual.setup), "who makes routes and rules")
        let entry = Schema.either(.interface, Schema(lan))
        object.add("lan", .list(entry, most: 64), "the interfaces that devices are on")
        object.add("uplink", .interface, "the interface of direct traffic, or auto")
        object.add(
            "mark", .text(pattern: "^(0x[0-9A-Fa-f]{1,8}|[0-9]{1,10})/(0x[0-9A-Fa-f]{1,8}|[0-9]{1,10})$"),
            "the mark of every socket of the gateway, and its mask")
        object.add(
            "masquerade", .flag(usual.masquerades), "whether direct traffic gets the gateway's address on the uplink")
        object.add("whenDown", .words(usual.whenDown), "what becomes of traffic after a crash")
        return object
    }

    static var dns: SchemaObject {
        let usual = DNSOptions()
        var object = SchemaObject()
        object.add("mode", .words(DNSOptions.Mode.fake), "how the name of a flow is known")
        object.add("listen", .listeners, "where to answer; empty: on the gateway's own addresses")
        object.add("resolvers", .list(.text(), least: 1, most: 8), "who is asked for real answers")
        object.add("order", .words(usual.order), "how several are asked")
        object.add("timeout", .duration(usual.timeout), "100ms to 30s")
        object.add("cache", .number(usual.cache, 0...1_000_000), "names whose answers are kept")
        object.add("maxTTL", .duration(usual.maximumTTL), "1s to 1h")
        object.add("families", .words(usual.families), "whether fake names have AAAA too")
        object.add("pool", .network, "fake IPv4 addresses")
        object.add("pool6", .network, "fake IPv6 addresses")
        object.add("local", .list(.text(), most: 256), "names that are never faked")
        return object
    }

    static func inbound(isHTTP: Bool) -> SchemaObject {
        var user = SchemaObject(required: ["name", "passwordFile"])
        user.add("name", .text(), "who logs in")
        user.add("passwordFile", .file, "the file with the password")
        var object = SchemaObject()
        object.add("listen", .listeners, "where to listen")
        object.add("allow", .list(.network, most: 256), "who may connect")
        object.add("users", .list(Schema(user), most: 256), "who must log in")
        if isHTTP { object.add("outbound", .words(InboundOptions.Outbound.active), "where streams go") }
        return object
    }

    static var phones: SchemaObject {
        let usual = PhoneOptions()
        var object = SchemaObject()
        object.add("connectivity", .words(usual.connectivity), "who answers the checks for Internet")
        object.add("push", .flag(usual.push), "whether push services go direct")
        object.add("ntp", .flag(usual.ntp), "whether UDP 123 goes direct")
        object.add("ike", .flag(usual.ike), "whether UDP 500 and 4500 go direct")
        object.add("privateRelay", .flag(usual.privateRelay), "whether iCloud Private Relay is let through")
        object.add("doh", .words(usual.doh), "DNS over HTTPS")
        object.add("dot", .words(usual.dot), "port 853")
        object.add("lists", .file, "the directory of the host lists")
        return object
    }

    static var peer: SchemaObject {
        var object = SchemaObject(required: ["id", "address", "key"])
        object.add("id", .identifier, "its `gateway`")
        let place = Schema.text(pattern: "^(\\[[0-9A-Fa-f:.]+\\]|[0-9A-Fa-f:.]+)(:[0-9]{1,5})?$")
        object.add("address", place, "where it listens for pushes")
        object.add("key", .identifier, "the id of the key that both sign with, whose scope has peer")
        return object
    }

    static var adhoc: SchemaObject {
        let usual = AdhocOptions(from: [])
        var object = SchemaObject(required: ["from"])
        object.add("from", .list(.network, least: 1, most: 256), "the networks that such a proxy may be in")
        let ports = Schema.text(pattern: "^[0-9]{1,5}(-[0-9]{1,5})?$", default: usual.portsText)
        object.add("ports", ports, "the ports that it may have")
        object.add("lease", .duration(usual.lease), "1m to 24h, at most max: for how long a device has one")
        object.add("max", .duration(usual.longest), "1m to 7d: with all that it is extended by")
        return object
    }

    static var log: SchemaObject {
        let usual = LogOptions()
        var object = SchemaObject()
        object.add("level", .words(usual.level), "the least important events that are written")
        object.add("format", .words(usual.format), "how a line begins")
        object.add("flows", .words(usual.flows), "which flows have a line at their end")
        return object
    }

    static var limits: SchemaObject {
        let usual = Limits()
        var object = SchemaObject()
        object.add("dial", .duration(usual.dial), "100ms to 60s: one TCP connection to the upstream")
        object.add("connect", .duration(usual.connect), "1s to 120s: opening a stream in all")
        object.add(
            "attemptDelay", .duration(usual.attemptDelay), "10ms to 2s: before the next address is tried as well")
        object.add("halfOpen", .number(usual.halfOpen, 1...1_048_576), "flows being opened, in all")
        object.add("halfOpenPerDevice", .number(usual.halfOpenPerDevice, 1...65_536), "the same for one device")
        object.add("flows", .number(usual.flows, 1...1_048_576), "flows in all: the one idle for longest gives way")
        object.add("flowsPerDevice", .number(usual.flowsPerDevice, 1...1_048_576), "the same for one device")
        object.add("synAck", .list(.duration(.seconds(1)), most: 8), "the waits before a SYN-ACK is sent again")
        object.add("timeWait", .duration(usual.timeWait), "1s to 240s")
        object.add("halfClose", .duration(usual.halfClose), "1s to 24h: half-closed without a byte")
        object.add("idle", .duration(usual.idle), "60s to 30d: open without a byte")
        object.add("keepaliveClient", .duration(usual.keepaliveClient), "2h to 30d: before the device is probed")
        object.add("keepaliveUpstream", .duration(usual.keepaliveUpstream), "5s to 24h: before the upstream is probed")
        let pattern = "^auto$|" + Schema.sizePattern
        object.add("buffers", .text(pattern: pattern, default: "auto"), "1MiB to 64GiB in all")
        object.add("flowBuffer", .size(usual.flowBuffer), "64KiB to 16MiB for each direction of a flow")
        object.add("icmpErrors", .number(usual.icmpErrors, 0...10_000), "a second for each device")
        object.add("udpFlows", .number(usual.udpFlows, 1...65_536), "UDP flows of one device")
        object.add("udpFlowsInAll", .number(usual.udpFlowsInAll, 1...1_048_576), "UDP flows of all of them")
        object.add("udpIdle", .duration(usual.udpIdle), "5s to 1h without a datagram")
        object.add("dnsIdle", .duration(usual.dnsIdle), "1s to 1h: the same for flows to port 53")
        object.add("sniffBytes", .size(usual.sniffBytes), "512B to 64KiB of a client, read for a name")
        object.add("sniffTime", .duration(usual.sniffTime), "10ms to 10s: how long they are waited for")
        object.add("sniffPorts", .list(.number(nil, 1...65535), most: 16), "TCP ports where a name is looked for")
        object.add("fakePerDevice", .number(usual.fakePerDevice, 16...1_048_576), "names with a fake address")
        object.add("fragments", .size(usual.fragments), "64KiB to 64MiB of datagrams that wait for their other pieces")
        object.add("fragmentTime", .duration(usual.fragmentTime), "1s to 2m: how long")
        object.add("credentialRetry", .duration(usual.credentialRetry), "1m to 24h: rest of rejected credentials")
        return object
    }
}
