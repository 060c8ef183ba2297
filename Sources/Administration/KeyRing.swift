/// The keys that sign links and pushes, with their secrets, and what this gateway knows when it checks a signature.

import Bytes
import LinuxIO
import Profiles
import Routing

struct KeyRing {
    /// The day before which no clock can be right: this version was not there.
    static let built: Int64 = 1_796_083_200

    let keys: [LinkKey]
    /// The id of this gateway.
    let gateway: String
    var pushes: PushVerifier

    /// Reads the files of all keys; `former` has the nonces that were seen.
    init(
        _ configuration: Configuration, besides path: String, startedAt: Int64, former: KeyRing? = nil
    ) throws(StartupError) {
        var keys: [LinkKey] = []
        for options in configuration.keys {
            keys.append(try Self.key(options, ConfigurationFile.path(of: options.file, besides: path)))
        }
        self.keys = keys
        gateway = configuration.gateway ?? HostName.current
        if var pushes = former?.pushes, former?.gateway == gateway {
            pushes.keys = keys
            self.pushes = pushes
        } else {
            pushes = PushVerifier(keys: keys, gateway: gateway, built: Self.built, started: startedAt)
        }
    }

    private static func key(_ options: KeyOptions, _ path: String) throws(StartupError) -> LinkKey {
        let bytes = try Translation.readSecret(path)
        let secret: [UInt8]
        do throws(LinkKeyFileError) {
            secret = try LinkKey.secret(file: bytes.span)
        } catch {
            throw .key(path, error)
        }
        do throws(RoutingError) {
            var key = try LinkKey(
                id: options.id, secret: secret, hosts: options.hosts?.map(\.text), scope: options.scope,
                until: options.until)
            key.isRevoked = options.isRevoked
            return key
        } catch {
            throw .list(error)
        }
    }

    /// What checks links, as of now.
    func verifier(profiles: [Profile], spent: [LabState.SpentNonce]) -> LinkVerifier {
        var verifier = LinkVerifier(
            keys: keys, gateway: gateway, built: Self.built,
            profiles: Dictionary(profiles.map { ($0.id, $0.isSelfService) }) { first, _ in first })
        verifier.spent = Set(spent.map { LinkVerifier.Nonce(key: $0.key, once: $0.once) })
        return verifier
    }
}
