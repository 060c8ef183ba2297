/// A plan as lines of a key and values: `lan lan all`, `fake 198.18.0.0/15`.

import Addresses
import Bytes
import LinuxIO
import Network

struct PlanFileError: Error, CustomStringConvertible {
    let description: String
}

enum PlanFile {
    static func read(_ path: String) throws -> NetworkPlan {
        let text = String(decoding: try SmallFile.read(path, limit: 1 << 20), as: UTF8.self)
        var plan = NetworkPlan(
            setup: .gateway, fake: ["198.18.0.0/15", "2001:2::/48"].compactMap { IPPrefix(parsing: $0) })
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ").map(String.init)
            guard let key = words.first else { continue }
            guard read(key, Array(words.dropFirst()), &plan) else { throw PlanFileError(description: "plan: \(line)") }
        }
        return plan
    }

    private static func capture(_ word: String) -> NetworkPlan.Capture? {
        ["none": .none, "names": .names, "all": .all][word]
    }

    private static func read(_ key: String, _ words: [String], _ plan: inout NetworkPlan) -> Bool {
        switch (key, words.count) {
        case ("setup", 1): plan.setup = words[0] == "host" ? .host : words[0] == "none" ? .none : .gateway
        case ("tunnel", 1): plan.tunnel = words[0]
        case ("lan", 2):
            guard let capture = capture(words[1]) else { return false }
            plan.lan.append(NetworkPlan.LAN(words[0], capture))
        case ("own", 1): plan.own = capture(words[0]) ?? .names
        case ("device", 2):
            guard let address = IPAddress(parsing: words[0]), let capture = capture(words[1]) else { return false }
            plan.devices.append(NetworkPlan.Device(address, capture))
        case ("captured", 1):
            guard let prefix = IPPrefix(parsing: words[0]) else { return false }
            plan.captured.append(prefix)
        case ("fake", _):
            plan = NetworkPlan(setup: plan.setup, fake: words.compactMap { IPPrefix(parsing: $0) }, lan: plan.lan)
        case ("lent", 3):
            guard let device = IPAddress(parsing: words[0]), let address = IPAddress(parsing: words[1]),
                let seconds = Int64(words[2])
            else { return false }
            plan.lent.append(
                NetworkPlan.Lent(device: device, address: address, until: Clock.now() + .seconds(seconds)))
        case ("upstream", 1):
            guard let address = IPAddress(parsing: words[0]) else { return false }
            plan.upstreams.append(address)
        case ("uplink", 1): plan.uplinks.append(words[0])
        case ("dns", 1): plan.dnsPort = UInt16(words[0])
        case ("masquerade", 1): plan.masquerades = words[0] == "true"
        case ("whenDown", 1): plan.whenDown = words[0] == "direct" ? .direct : .block
        case ("ipv6", 1): plan.ipv6 = words[0] == "true"
        case ("mtu", 1): plan.mtu = Int(words[0]) ?? 1500
        default: return false
        }
        return true
    }
}
