/// The `peers` list: gateways of the same lab, which are told whatever is decided here.

public import Addresses
internal import Bytes

/// Another gateway of the lab.
public struct PeerOptions: Equatable, Sendable {
    /// Its `gateway`: pushes are signed for it.
    public var id: String
    /// Where it listens for pushes.
    public var address: SocketAddress
    /// The id of the key that both sign with.
    public var key: String

    public init(id: String, address: SocketAddress, key: String) {
        self.id = id
        self.address = address
        self.key = key
    }

    /// The most peers of a gateway.
    public static let limit = 8
}

extension PeerOptions {
    private static let expected = "a list of { id, address, key }"

    static func list(_ top: Section) throws(ConfigurationError) -> [PeerOptions] {
        var peers: [PeerOptions] = []
        for (index, value) in try top.list("peers", expected, limit: limit).enumerated() {
            let section = try Section(value, path: "peers[\(index)]", keys: ConfigurationKeys.peer)
            let peer = try PeerOptions(section)
            if let other = peers.firstIndex(where: { $0.id == peer.id }) {
                throw section.error(
                    .duplicateKey, "id", found: "\(Shown.text(peer.id)), which peers[\(other)] has",
                    expected: "each gateway once")
            }
            peers.append(peer)
        }
        return peers
    }

    private init(_ section: Section) throws(ConfigurationError) {
        let place = "the address of its push listener, such as \"192.168.50.3:\(PushOptions.port)\""
        id = try section.identifier("id")
        _ = try section.required("address", place)
        guard let found = try section.listeners("address", port: PushOptions.port), found.count == 1,
            found[0].address.isOfOneMachine
        else { throw section.error(.badValue, "address", found: "another value", expected: place) }
        address = found[0]
        key = try section.identifier("key")
    }

    var json: JSON { .members(["id": .string(id), "address": .string("\(address)"), "key": .string(key)]) }
}

extension IPAddress {
    /// Whether one can connect to it.
    fileprivate var isOfOneMachine: Bool { !isUnspecified && !isMulticast && !isLimitedBroadcast }
}

extension Configuration {
    /// Peers need a key that is theirs alone to use, a way in for their own pushes, and another id than ours.
    func checkPeers() throws(ConfigurationError) {
        guard !peers.isEmpty else { return }
        guard push != nil else {
            throw Self.conflict(
                "peers", found: "peers and no `push` listener", expected: "a listener that they can push to",
                hint: "push: { listen: \"192.168.50.2:\(PushOptions.port)\", allow: [\"192.168.50.3\"] }")
        }
        guard gateway != nil else {
            throw Self.conflict(
                "peers", found: "peers and no `gateway`", expected: "an id of this gateway that they know it by")
        }
        for (index, peer) in peers.enumerated() {
            if peer.id == gateway {
                throw Self.conflict(
                    "peers[\(index)].id", found: "\(Shown.text(peer.id)), which is this gateway's",
                    expected: "the `gateway` of another one")
            }
            guard let key = keys.first(where: { $0.id == peer.key }) else {
                let near = NearMiss.suggestion(for: peer.key, among: keys.map(\.id))
                throw Self.conflict(
                    "peers[\(index)].key", found: Shown.text(peer.key), expected: "the id of one of `keys`",
                    hint: near.map { "did you mean \"\($0)\"?" } ?? "starshipctl keygen makes one")
            }
            guard key.scope.contains(.peer), !key.isRevoked else {
                throw Self.conflict(
                    "peers[\(index)].key",
                    found: "\(Shown.text(key.id)), which " + (key.isRevoked ? "is revoked" : "is for something else"),
                    expected: "a key with scope [\"peer\"]")
            }
        }
    }
}
