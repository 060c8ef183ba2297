/// Who may come to the page: those who are on a LAN of ours, and not we ourselves.

internal import Addresses
internal import LinuxIO

/// The LANs at one moment.
struct PageNeighbourhood: Equatable {
    /// The addresses that we have on the LANs.
    private(set) var addresses: Set<IPAddress> = []
    /// All addresses of this machine.
    private var own: Set<IPAddress> = []
    private var networks: [IPPrefix] = []

    /// Nobody is on any LAN.
    init() {}

    /// Takes the addresses of this machine, and the interfaces that devices are on.
    init(_ machine: [NetworkInterface.Address], lan: [String]) {
        own = Set(machine.map(\.address))
        for one in machine where lan.contains(one.interface) {
            addresses.insert(one.address)
            guard let network = IPPrefix(one.address, length: one.prefixLength) else { continue }
            networks.append(network)
        }
    }

    /// Whether somebody is on a LAN of ours and has come in by it.
    ///
    /// What comes from this machine is a proxy's doing, ours or an upstream's: whoever is behind it can't be told.
    /// The answer goes to the network that the client's address is in, so nobody elsewhere can pretend to be there.
    func welcomes(_ client: IPAddress, at local: IPAddress) -> Bool {
        addresses.contains(local) && !own.contains(client) && networks.contains { $0.contains(client) }
    }
}
