/// The `page` object: what people with a phone in hand see of the gateway.

public import Addresses

/// The page's listener, for the devices of the LAN alone.
public struct PageOptions: Equatable, Sendable {
    public static let usualPort: UInt16 = 10080

    /// Where it listens; port 80 of the gateway's own addresses is redirected to it.
    public var port = usualPort
    /// The networks that may look at the board of all devices.
    public var viewers: [IPPrefix] = []

    public init() {}

    /// Every address that the listener has.
    public var listen: [SocketAddress] {
        [SocketAddress(IPAddress(v4: 0), port), SocketAddress(IPAddress(high: 0, low: 0), port)]
    }

    /// Whether somebody at this address may look at the board.
    public func shows(_ address: IPAddress) -> Bool { viewers.contains { $0.contains(address) } }
}

extension PageOptions {
    /// Reads the object; where the gateway makes the routes for devices, there is a page without it.
    static func read(_ top: Section, setup: NetworkOptions.Setup) throws(ConfigurationError) -> PageOptions? {
        guard let value = top["page"] else { return setup == .gateway ? PageOptions() : nil }
        guard value.content != .boolean(false) else { return nil }
        let section = try Section(value, path: "page", keys: ConfigurationKeys.page)
        var page = PageOptions()
        var port = Int(page.port)
        // The daemon may have no right to the ports below.
        try section.read("port", into: &port, within: 1024...65535)
        page.port = UInt16(port)
        page.viewers = try section.networks("viewers")
        guard setup == .gateway else {
            throw top.error(
                .conflict, "page", found: "a page with network.setup \"\(setup.rawValue)\"",
                expected: "setup \"gateway\"", hint: "it is for the devices on network.lan")
        }
        return page
    }

    var json: JSON {
        var members: [JSON.Member] = []
        members.add("port", Int(port), unless: Int(Self.usualPort))
        members.add("viewers", described: viewers)
        return .object(members)
    }

    var summary: String {
        let shown = viewers.isEmpty ? "" : ", the board for " + viewers.map(\.description).joined(separator: " ")
        return "port 80 of the gateway's addresses, at \(port)\(shown)"
    }
}
