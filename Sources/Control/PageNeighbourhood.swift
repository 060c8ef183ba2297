/// Who may come to the page: those who are on a LAN of ours, those who may use its HTTP proxy, and not we ourselves.

public import Addresses
internal import LinuxIO

/// Devices on other networks that the HTTP proxy is for: what their profile is they see and change on the page.
public struct PageGuests: Equatable, Sendable {
    /// Where they are.
    public var networks: [IPPrefix]
    /// The addresses that the proxy listens on; an unspecified one means all of its family.
    public var listeners: [IPAddress]

    public init(networks: [IPPrefix], listeners: [IPAddress]) {
        self.networks = networks
        self.listeners = listeners
    }

    /// Whether the proxy is at an address of this machine.
    func come(by address: IPAddress) -> Bool {
        !address.isLoopback
            && listeners.contains { $0 == address || $0.isUnspecified && $0.isIPv4 == address.isIPv4 }
    }
}

/// The LANs at one moment.
struct PageNeighbourhood: Equatable {
    /// The addresses that the page has: ours on the LANs, and those by which guests come.
    private(set) var addresses: Set<IPAddress> = []
    /// Our addresses on the LANs.
    private var ofLAN: Set<IPAddress> = []
    /// All addresses of this machine.
    private var own: Set<IPAddress> = []
    private var networks: [IPPrefix] = []
    private var guests: PageGuests?

    /// Nobody is on any LAN.
    init() {}

    /// Takes the addresses of this machine, the interfaces that devices are on, and who else is welcome.
    init(_ machine: [NetworkInterface.Address], lan: [String], guests: PageGuests? = nil) {
        self.guests = guests
        own = Set(machine.map(\.address))
        for one in machine where lan.contains(one.interface) {
            ofLAN.insert(one.address)
            guard let network = IPPrefix(one.address, length: one.prefixLength) else { continue }
            networks.append(network)
        }
        addresses = ofLAN
        if let guests { addresses.formUnion(own.filter(guests.come)) }
    }

    /// Whether somebody is on a LAN of ours and has come in by it, or is a guest and has come to the proxy's address.
    ///
    /// What comes from this machine is a proxy's doing, ours or an upstream's: whoever is behind it can't be told.
    /// The answer goes to the network that the client's address is in, so nobody elsewhere can pretend to be there.
    ///
    /// - Parameters:
    ///   - client: Who has come.
    ///   - local: Our end of the connection: the kernel redirects port 80 to the address of the interface.
    ///   - asked: The address that was meant.
    /// - Returns: Whether the page is for them.
    func welcomes(_ client: IPAddress, at local: IPAddress, asking asked: IPAddress) -> Bool {
        guard !own.contains(client) else { return false }
        if ofLAN.contains(local), networks.contains(where: { $0.contains(client) }) { return true }
        guard let guests, own.contains(asked), guests.come(by: asked) else { return false }
        return guests.networks.contains { $0.contains(client) }
    }
}
