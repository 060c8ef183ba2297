/// Whether this network translates IPv6 to IPv4, and under which prefixes (RFC 7050).

import Addresses
import LinuxIO

extension Shared {
    /// Asks the network for them; the answer is taken when it comes, and until then the last one holds.
    func discoverTranslation() {
        guard policy.settings.ipv6, let service else { return }
        let question = NameRequest(name: NAT64Prefix.discoveryName, ticket: 0) { [weak self] resolution in
            guard case .success(let addresses) = resolution.result else { return }
            self?.learn(NAT64Prefix.learned(from: addresses))
        }
        _ = service.resolve(question)
    }
}
