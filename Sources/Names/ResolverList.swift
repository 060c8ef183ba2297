/// Which resolvers the machine itself uses: resolv.conf(5).

public import Addresses
import Bytes

/// What a resolver file says, as far as it is of use here.
public struct ResolverList: Equatable, Sendable {
    /// In their order; one with a zone (`fe80::1%eth0`) is left out.
    public var servers: [IPAddress] = []
    /// The domains that names without a dot are looked up in (`search`, `domain`): what DHCP said this network is.
    public var domains: [String] = []

    public init() {}

    /// Reads a file; lines that mean nothing here are passed over, as every resolver does.
    public static func parse(_ text: String) -> ResolverList {
        var list = ResolverList()
        for line in text.split(whereSeparator: \.isNewline) {
            let words = line.split(whereSeparator: { $0 == " " || $0 == "\t" })
            guard let keyword = words.first else { continue }
            switch keyword {
            case "nameserver":
                guard words.count > 1, let address = IPAddress(parsing: words[1]) else { continue }
                if !address.isUnspecified, !list.servers.contains(address) { list.servers.append(address) }
            // The last of these lines counts.
            case "search", "domain": list.domains = words.dropFirst().compactMap(domain)
            default: continue
            }
        }
        return list
    }

    private static func domain(_ word: Substring) -> String? {
        let name = word.hasSuffix(".") ? word.dropLast() : word
        return name.isEmpty ? nil : name.lowercased()
    }

    /// Without the stubs on this machine, which ask somebody else, perhaps us.
    public var withoutStubs: [IPAddress] { servers.filter { !$0.isLoopback } }
}
