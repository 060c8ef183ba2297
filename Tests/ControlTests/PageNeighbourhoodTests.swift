/// Who may come to the page.

import Addresses
import LinuxIO
import Testing

@testable import Control

private func address(_ text: String) throws -> IPAddress { try #require(IPAddress(parsing: text)) }

struct PageNeighbourhoodTests {
    /// A gateway with a LAN, and the office's network on its other side.
    private static func machine() throws -> [NetworkInterface.Address] {
        [
            .init(interface: "lo", address: try address("127.0.0.1"), prefixLength: 8),
            .init(interface: "wlan0", address: try address("10.9.0.1"), prefixLength: 24),
            .init(interface: "wlan0", address: try address("fd00:9::1"), prefixLength: 64),
            .init(interface: "eth0", address: try address("10.20.0.5"), prefixLength: 16),
        ]
    }

    private static func neighbourhood(_ listeners: [String], _ networks: [String]) throws -> PageNeighbourhood {
        let guests = PageGuests(
            networks: try networks.map { try #require(IPPrefix(parsing: $0)) }, listeners: try listeners.map(address))
        return PageNeighbourhood(try machine(), lan: ["wlan0"], guests: listeners.isEmpty ? nil : guests)
    }

    @Test(
        "a guest of the proxy comes to where the proxy is, a device of the LAN to the LAN's address",
        arguments: [
            // Who, our end, the address that was asked, where the proxy listens.
            ("10.20.3.7", "10.20.0.5", "10.20.0.5", "10.20.0.5", true),
            // Port 80 is redirected to the interface's own address.
            ("10.20.3.7", "10.20.0.5", "10.9.0.1", "10.9.0.1", true),
            ("10.20.3.7", "10.9.0.1", "10.9.0.1", "0.0.0.0", true),
            ("10.20.3.7", "10.20.0.5", "10.20.0.5", "0.0.0.0", true),
            // The proxy is not there.
            ("10.20.3.7", "10.20.0.5", "10.20.0.5", "10.9.0.1", false),
            ("10.20.3.7", "10.20.0.5", "10.20.0.5", "::", false),
            ("10.20.3.7", "10.9.0.1", "10.9.0.1", "10.20.0.5", false),
            // Outside of what the proxy allows.
            ("10.20.4.7", "10.20.0.5", "10.20.0.5", "10.20.0.5", false),
            ("172.16.0.1", "10.9.0.1", "10.9.0.1", "10.9.0.1", false),
            // This machine itself, by whatever address.
            ("10.20.0.5", "10.20.0.5", "10.20.0.5", "0.0.0.0", false),
            ("127.0.0.1", "127.0.0.1", "127.0.0.1", "0.0.0.0", false),
            // An address that is none of this machine's.
            ("10.20.3.7", "10.20.0.5", "10.20.0.6", "0.0.0.0", false),
            // Devices of the LAN need no proxy.
            ("10.9.0.2", "10.9.0.1", "10.9.0.1", "10.20.0.5", true),
            ("10.9.0.2", "10.9.0.1", "198.18.0.1", "10.20.0.5", true),
            ("fd00:9::2", "fd00:9::1", "fd00:9::1", "10.20.0.5", true),
        ])
    func welcomes(client: String, local: String, asked: String, listener: String, isWelcome: Bool) throws {
        let place = try Self.neighbourhood([listener], ["10.20.3.0/24", "127.0.0.0/8"])
        #expect(
            try place.welcomes(address(client), at: address(local), asking: address(asked)) == isWelcome)
    }

    @Test("the page is asked for under the LAN's addresses, and under those by which guests come")
    func addresses() throws {
        let ofLAN = try Set(["10.9.0.1", "fd00:9::1"].map(address))
        #expect(try Self.neighbourhood([], []).addresses == ofLAN)
        let both = try ofLAN.union([address("10.20.0.5")])
        for (listener, expected) in [("10.20.0.5", both), ("0.0.0.0", both), ("::", ofLAN)] {
            #expect(try Self.neighbourhood([listener], ["10.20.3.0/24"]).addresses == expected, "\(listener)")
        }
    }

    @Test("without a proxy for others nobody but the LAN is welcome")
    func nobody() throws {
        let place = try Self.neighbourhood([], [])
        #expect(
            try !place.welcomes(address("10.20.3.7"), at: address("10.20.0.5"), asking: address("10.20.0.5")))
    }
}
