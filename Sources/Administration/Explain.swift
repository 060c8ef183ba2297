/// What `starshipd explain` knows besides the configuration: lists for phones, special names, the device's interface.

import Addresses
import Gateway
import LinuxIO
import Names
public import Profiles
import Routing

public enum Explain {
    /// Reads what the options name, and explains.
    public static func answer(_ options: CommandLineOptions) throws(StartupError) -> Explanation {
        guard let question = options.question else { preconditionFailure("explain without a question") }
        return try answer(question, ConfigurationFile.read(options), besides: options.configuration, profile: nil)
    }

    /// Explains a flow of a device, which has a profile of its own where one is named, and lists where some are given.
    static func answer(
        _ question: Question, _ resolved: ResolvedConfiguration, besides path: String, profile: String?,
        lists own: DeviceRules? = nil
    ) throws(StartupError) -> Explanation {
        let lists = try PhoneLists(resolved.configuration.phones, besides: path).settings
        var surroundings = Surroundings()
        surroundings.direct = lists.direct
        surroundings.denied = lists.denied
        surroundings.answers = lists.answers
        surroundings.shared = lists.shared
        surroundings.profile = profile
        surroundings.lists = own
        surroundings.interface = question.source.flatMap(interface(of:))
        surroundings.special = question.name.flatMap { special($0, resolved.configuration) }
        surroundings.mayExistElsewhere = question.name.map(DNSSpecialNames.mayExistElsewhere) ?? true
        return resolved.explain(question, in: surroundings)
    }

    /// What the name service answers by itself, before it asks any rule.
    private static func special(_ name: String, _ configuration: Configuration) -> NameAnswer? {
        guard let names = Translation.names(configuration, isJournal: false, level: .error) else { return nil }
        switch DNSSpecialNames(names.server.answers).meaning(of: name) {
        case .local: return .real(maximumTTL: nil)
        case .nonexistent: return .nonexistent
        case .empty: return .empty
        case .addresses(let addresses): return .addresses(addresses)
        // RFC 7050, section 2.2.
        case .ipv4only: return .addresses([IPAddress(v4: 0xc000_00aa), IPAddress(v4: 0xc000_00ab)])
        case nil: return nil
        }
    }

    /// The interface whose network a device is in.
    private static func interface(of device: IPAddress) -> String? {
        let addresses = (try? NetworkInterface.addresses()) ?? []
        return addresses.first { own in
            IPPrefix(own.address, length: own.prefixLength).map { $0.length > 0 && $0.contains(device) } ?? false
        }?.interface
    }
}
