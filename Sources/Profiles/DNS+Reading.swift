/// The `dns` object: resolvers in the forms that people write, pools that can be pools.

internal import Addresses
internal import Bytes
internal import Routing

extension DNSOptions {
    mutating func read(_ value: JSON5Value) throws(ConfigurationError) {
        let section = try Section(value, path: "dns", keys: ConfigurationKeys.dns)
        try section.read("mode", into: &mode)
        if let found = try section.listeners(port: Self.port) { listen = found }
        try readResolvers(section)
        try section.read("order", into: &order)
        try section.read("timeout", into: &timeout, within: .milliseconds(100) ... .seconds(30))
        try section.read("cache", into: &cache, within: 0...1_000_000)
        try section.read("maxTTL", into: &maximumTTL, within: .seconds(1) ... .hours(1))
        try section.read("families", into: &families)
        if let found = try Self.pool(section, "pool", isIPv4: true) { pool = found }
        if let found = try Self.pool(section, "pool6", isIPv4: false) { pool6 = found }
        try readLocal(section)
    }

    private mutating func readResolvers(_ section: Section) throws(ConfigurationError) {
        guard section["resolvers"] != nil else { return }
        let expected =
            "a list of \"system\" and addresses, such as \"8.8.8.8\", \"8.8.8.8:5353\" or \"[2001:db8::53]:53\""
        var found: [Resolver] = []
        for value in try section.list("resolvers", expected, limit: 8) {
            guard case .string(let text) = value.content else {
                throw section.error(
                    .wrongType, "resolvers", found: "\(value.kind) in the list", expected: expected, at: value)
            }
            do throws(HostMistake) {
                let resolver = text == "system" ? Resolver.system : .server(try HostText.resolver(text))
                guard !found.contains(resolver) else { throw HostMistake(found: "\(resolver) twice") }
                found.append(resolver)
            } catch {
                throw section.error(
                    .badValue, "resolvers", found: error.found, expected: expected, hint: error.hint, at: value)
            }
        }
        guard !found.isEmpty else {
            throw section.error(
                .badValue, "resolvers", found: "an empty list", expected: expected,
                hint: "dns: false turns the name service off")
        }
        resolvers = found
    }

    /// Reads a pool: as many addresses as are worth it, of a sort that a device takes for somebody's.
    private static func pool(
        _ section: Section, _ key: String, isIPv4: Bool
    ) throws(ConfigurationError) -> IPPrefix? {
        let example = isIPv4 ? "\"198.18.0.0/15\"" : "\"2001:2::/48\""
        let lengths = isIPv4 ? 8...27 : 16...123
        let expected =
            "an \(isIPv4 ? "IPv4" : "IPv6") network of /\(lengths.lowerBound) to /\(lengths.upperBound), such as \(example)"
        guard let text = try section.text(key, expected) else { return nil }
        guard let pool = IPPrefix(parsing: text) else {
            throw section.error(
                .badValue, key, found: Shown.text(text), expected: expected, hint: Shown.network(around: text))
        }
        guard pool.base.isIPv4 == isIPv4 else {
            throw section.error(
                .badValue, key, found: "\"\(pool)\"", expected: expected,
                hint: isIPv4 ? "IPv6 addresses come from `pool6`" : "IPv4 addresses come from `pool`")
        }
        guard lengths.contains(pool.length) else {
            let isSmall = pool.length > lengths.upperBound
            throw section.error(
                .badValue, key, found: "\"\(pool)\"", expected: expected,
                hint: isSmall ? "it has less than 32 addresses, of which 16 are the gateway's own" : nil)
        }
        for (special, name) in Self.special where special.overlaps(pool) {
            throw section.error(.badValue, key, found: "\"\(pool)\", with \(name) addresses in it", expected: expected)
        }
        return pool
    }

    /// Networks whose addresses mean something to every device.
    private static let special: [(IPPrefix, String)] = [
        ("0.0.0.0/8", "unspecified"), ("127.0.0.0/8", "loopback"), ("169.254.0.0/16", "link-local"),
        ("224.0.0.0/4", "multicast"), ("240.0.0.0/4", "reserved"), ("::/16", "special"), ("64:ff9b::/32", "NAT64"),
        ("fe80::/10", "link-local"), ("ff00::/8", "multicast"),
    ].compactMap { text, name in IPPrefix(parsing: text).map { ($0, name) } }

    private mutating func readLocal(_ section: Section) throws(ConfigurationError) {
        let expected = "a list of names, such as [\"corp.example\"]"
        for (index, entry) in try section.texts("local", expected, limit: 256).enumerated() {
            do throws(DomainNameError) {
                let name = try DomainName.normalise(entry.text)
                if !local.contains(name) { local.append(name) }
            } catch {
                throw ConfigurationError(
                    .badValue, at: entry.position, path: "dns.local[\(index)]",
                    found: Shown.text(entry.text), expected: "a name, with all below it", hint: "\(error)")
            }
        }
    }
}

extension IPPrefix {
    /// Whether any address is in both.
    func overlaps(_ other: IPPrefix) -> Bool { contains(other.base) || other.contains(base) }

    /// Whether the address is one of the first 16, which are the gateway's own in a pool.
    func reserves(_ address: IPAddress) -> Bool {
        contains(address) && address.high == base.high && address.low - base.low < UInt64(DNSOptions.reservedAddresses)
    }
}
