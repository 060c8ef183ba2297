/// A plan as lines of words, by which whoever looks at the machine from outside learns what the daemon wants of it.
///
/// Lent addresses are left out: they come and go by themselves, and only that there are any makes a difference to the
/// rules.

import Addresses
import Bytes

extension NetworkPlan {
    /// One wish a line, a key first.
    public var lines: [String] {
        var lines = [
            "setup \(setup.word)", "tunnel \(tunnel) \(mtu)", "mark \(mark.value) \(mark.mask)",
            "down \(whenDown == .block ? "block" : "direct")", "ipv6 \(ipv6 ? "on" : "off")", "own \(own.word)",
        ]
        lines += fake.map { "fake \($0)" } + addresses.map { "address \($0)" }
        lines += lan.map { "lan \($0.interface) \($0.capture.word)" }
        lines += devices.map { "device \($0.address) \($0.capture.word)" }
        lines += captured.map { "captured \($0)" } + upstreams.map { "upstream \($0)" } + uplinks.map { "uplink \($0)" }
        if let dnsPort { lines.append("dns \(dnsPort)") }
        if let pagePort { lines.append("page \(pagePort)") }
        if refusesEncryptedDNS { lines.append("encrypted refused") }
        if !masquerades { lines.append("masquerade off") }
        if !lent.isEmpty { lines.append("lent some") }
        return lines
    }

    /// Reads the lines; nil where one of them says nothing that is known, or what every plan has is missing.
    public init?(lines: [String]) {
        self.init(setup: .none, fake: [])
        var seen: Set<String> = []
        for line in lines {
            let words = line.split(separator: " ").map(String.init)
            guard words.count >= 2, take(words[0], words.dropFirst().map { $0 }) else { return nil }
            seen.insert(words[0])
        }
        guard seen.isSuperset(of: ["setup", "tunnel", "mark"]) else { return nil }
    }

    private mutating func take(_ key: String, _ words: [String]) -> Bool {
        switch key {
        case "setup": return Self.set(&setup, Setup(word: words[0]))
        case "tunnel":
            tunnel = words[0]
            return Self.set(&mtu, words.count > 1 ? Int(words[1]) : nil)
        case "mark":
            guard words.count > 1, let value = UInt32(words[0]), let mask = UInt32(words[1]) else { return false }
            mark = Mark(value: value, mask: mask)
        case "down": whenDown = words[0] == "block" ? .block : .direct
        case "ipv6": ipv6 = words[0] == "on"
        case "own": return Self.set(&own, Capture(word: words[0]))
        case "dns": return Self.set(&dnsPort, UInt16(words[0]))
        case "page": return Self.set(&pagePort, UInt16(words[0]))
        case "encrypted": refusesEncryptedDNS = true
        case "masquerade": masquerades = words[0] != "off"
        case "lent": lent = [Lent(device: IPAddress(v4: 0), address: IPAddress(v4: 0), until: .never)]
        default: return takeOneOfSeveral(key, words)
        }
        return true
    }

    private mutating func takeOneOfSeveral(_ key: String, _ words: [String]) -> Bool {
        switch key {
        case "fake": return Self.add(IPPrefix(parsing: words[0]), to: &fake)
        case "address": return Self.add(IPAddress(parsing: words[0]), to: &addresses)
        case "captured": return Self.add(IPPrefix(parsing: words[0]), to: &captured)
        case "upstream": return Self.add(IPAddress(parsing: words[0]), to: &upstreams)
        case "uplink": return Self.add(words[0], to: &uplinks)
        case "lan":
            guard words.count > 1 else { return false }
            return Self.add(Capture(word: words[1]).map { LAN(words[0], $0) }, to: &lan)
        case "device":
            guard words.count > 1, let address = IPAddress(parsing: words[0]) else { return false }
            return Self.add(Capture(word: words[1]).map { Device(address, $0) }, to: &devices)
        default: return false
        }
    }

    private static func set<Value>(_ place: inout Value, _ value: Value?) -> Bool {
        guard let value else { return false }
        place = value
        return true
    }

    private static func add<Value>(_ value: Value?, to list: inout [Value]) -> Bool {
        guard let value else { return false }
        list.append(value)
        return true
    }
}

extension NetworkPlan.Setup {
    fileprivate var word: String {
        switch self {
        case .none: "none"
        case .gateway: "gateway"
        case .host: "host"
        }
    }

    fileprivate init?(word: String) {
        switch word {
        case "none": self = .none
        case "gateway": self = .gateway
        case "host": self = .host
        default: return nil
        }
    }
}

extension NetworkPlan.Capture {
    fileprivate var word: String {
        switch self {
        case .none: "none"
        case .names: "names"
        case .all: "all"
        }
    }

    fileprivate init?(word: String) {
        switch word {
        case "none": self = .none
        case "names": self = .names
        case "all": self = .all
        default: return nil
        }
    }
}
