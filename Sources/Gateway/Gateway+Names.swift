/// What the DNS service is given of the gateway.

public import Addresses
import Bytes
import LinuxIO
import Names
import Wire

/// Fake addresses and the DNS service.
public struct NameSettings: Sendable {
    /// Where fake addresses come from.
    public var pool: IPPrefix
    public var pool6: IPPrefix
    /// Names that one device may hold.
    public var namesPerDevice = 8192
    /// Where the fake map outlives a restart; nil: it does not.
    public var directory: String?
    public var server = NameServerSettings()

    public init(pool: IPPrefix, pool6: IPPrefix) {
        self.pool = pool
        self.pool6 = pool6
    }
}

extension Gateway {
    /// The fake map, as an earlier run has left it.
    static func nameTable(_ settings: NameSettings, isJournal: Bool) -> NameTable {
        var limits = FakePool.Limits()
        limits.namesPerDevice = settings.namesPerDevice
        let pool = FakePool(v4: settings.pool, v6: settings.pool6, limits: limits)
        guard let directory = settings.directory else { return NameTable(pool: pool) }
        return NameTable.start(pool: pool, directory: directory) { say($0, directory, isJournal: isJournal) }
    }

    private static func say(_ news: NameKeeping, _ directory: String, isJournal: Bool) {
        switch news {
        case .restored(let summary, let dropped):
            say(.notice, "fake-map", isJournal: isJournal) { line in
                line.add("names", summary.names)
                if dropped > 0 { line.add("cut-off-bytes", dropped) }
            }
        case .setAside(let file, let error):
            say(.warning, "fake-map", isJournal: isJournal) { line in
                line.add("renamed-to", file)
                line.add("cause", "\(error)")
            }
        case .failed(let error):
            say(.warning, "fake-map", isJournal: isJournal) { line in
                line.add("cause", "\(error)")
                line.add("meaning", "fake addresses may change with a restart")
            }
        case .resumed:
            say(.notice, "fake-map", isJournal: isJournal) { $0.add("kept-in", directory) }
        }
    }

    /// What the DNS service asks of the others.
    static func directory(_ board: PolicyBoard, _ names: NameTable?, _ clients: DNSClients) -> NameDirectory {
        NameDirectory(
            verdict: { board.current.nameVerdict($0, for: $1) },
            fakeAddress: { name, type, device, now in
                names?.address(for: name, type == .address6 ? .ipv6 : .ipv4, device: device, now: now)
            },
            fakeName: { names?.name(of: $0) },
            isFake: { names?.isFake($0) ?? false },
            note: { names?.note(name: $0, addresses: $1, device: $2, ttl: $3, now: $4) },
            mayAsk: { address in board.current.settings.lanNetworks.contains { $0.contains(address) } },
            device: { client, transport in
                client.address.isLoopback ? clients.device(behind: client.port, over: transport) : nil
            })
    }
}
