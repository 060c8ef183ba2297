/// Names for devices that have none: what they call themselves, or whom they look like.

internal import Addresses

/// Names that people could give.
public enum DeviceName {
    /// The longest identifier, less the room for `-2` and the like.
    private static let longest = 60

    /// Makes a name of a host name: its first label in small letters, with a hyphen for each other character.
    public static func suggested(by hostName: String) -> String? {
        var name = ""
        for scalar in hostName.unicodeScalars.prefix(while: { $0 != "." }) {
            switch scalar {
            case "a"..."z", "0"..."9", "_": name.unicodeScalars.append(scalar)
            case "A"..."Z": name.unicodeScalars.append(Unicode.Scalar(UInt8(scalar.value) | 0x20))
            default: if !name.isEmpty, !name.hasSuffix("-") { name += "-" }
            }
        }
        name = String(name.drop { $0 == "_" || $0 == "-" }.prefix(longest))
        while name.hasSuffix("-") { name.removeLast() }
        // dnsmasq writes `*` for no name, and many systems call themselves localhost before they are set up.
        guard !name.isEmpty, name != "localhost", DeviceIdentity(parsing: name) == nil else { return nil }
        return name
    }
}

/// The devices that have names, by what they could be called.
struct Looks {
    private(set) var known: [String: [(name: String, identity: DeviceIdentity)]] = [:]

    init(_ table: DeviceTable) {
        for (identity, name) in table.names.sorted(by: { $0.value < $1.value }) {
            guard case .mac(let mac, _) = identity else { continue }
            let own = DeviceName.suggested(by: name)
            let host = table.leases.hostName(of: mac).flatMap(DeviceName.suggested)
            for look in Set([own, host].compactMap { $0 }) { known[look, default: []].append((name, identity)) }
        }
    }
}

extension DeviceTable {
    /// What to call a device that has no name.
    ///
    /// A phone that has drawn a new MAC calls itself as before, and its old MAC is not seen any more once the new one
    /// has been. Two phones of one kind are told apart by that.
    func proposal(for device: Device, _ looks: Looks?) -> NameProposal? {
        guard let host = device.hostName, let name = DeviceName.suggested(by: host) else { return nil }
        if let mac = device.mac, mac.isLocal, let firstSeen = device.firstSeen {
            let alike = (looks ?? Looks(self)).known[name] ?? []
            let gone = alike.first { known in
                guard case .mac(let other, _) = known.identity, other != mac else { return false }
                return (stations[other] ?? []).allSatisfy { $0.seen < firstSeen }
            }
            if let gone { return .looksLike(gone.name) }
        }
        if identities[name] == nil { return .name(name) }
        // One of these is free, because there are more of them than names.
        return (2...(identities.count + 2)).lazy.map { "\(name)-\($0)" }.first { identities[$0] == nil }
            .map(NameProposal.name)
    }
}
