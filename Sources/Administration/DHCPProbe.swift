/// # Is a DHCP server on this link?
///
/// Two servers on one link give devices addresses and routers by chance, so before one is set up here the link is
/// asked. A DISCOVER goes out as a new machine would send it, and whoever offers something is a server; nothing is
/// requested, so no address is taken. It is sent three times, and listened to for ten seconds: dnsmasq looks for three
/// whether somebody has the address before it offers it.

public import Addresses
import Bytes
public import LinuxIO
public import Wire

/// A server that has answered.
public struct DHCPServerFound: Hashable, Sendable, CustomStringConvertible {
    public var offer: DHCPOffer
    /// Where its packet came from: a relay, for one that is on another link.
    public var source: IPAddress

    /// `192.168.1.1 offers 192.168.1.50 with router 192.168.1.1`.
    public var description: String {
        let server = offer.server ?? source
        let via = server == source ? "" : " (by \(source))"
        let routers = offer.routers.map(\.description).joined(separator: ", ")
        return "\(server)\(via) offers \(offer.address) with "
            + (routers.isEmpty ? "no router" : "router \(routers)")
    }
}

public enum DHCPProbe {
    /// When a DISCOVER goes out, in milliseconds from the start (RFC 2131, section 4.1, waits four seconds as well).
    static let sendings: [Int64] = [0, 2000, 6000]
    /// How long answers are waited for.
    static let patience = Interval.seconds(10)
    /// After the first answer, for those of others.
    static let grace = Interval.seconds(1)

    /// Asks an interface's link, which takes up to ten seconds; returns the servers that have answered.
    public static func run(on interface: String) throws(SystemCallError) -> [DHCPServerFound] {
        let mac = try NetworkInterface.mac(of: interface)
        let socket = try LinkSocket(on: interface)
        var poller = try Poller()
        try poller.add(socket.descriptor.number, token: 0, events: .readable)
        var random = SystemRandom()
        let transaction = UInt32(truncatingIfNeeded: random.next())
        let start = Clock.now()
        var (end, left, found) = (start + patience, sendings[...], [DHCPServerFound]())
        var events = [PolledEvent.none]
        while Clock.now() < end {
            if let next = left.first, Clock.now() >= start + .milliseconds(next) {
                left.removeFirst()
                let message = DHCPMessage.discover(transaction, from: mac, seconds: UInt16(next / 1000))
                try socket.broadcast(DHCPMessage.packet(message))
            }
            let wake = left.first.map { start + .milliseconds($0) } ?? .never
            _ = poller.wait(into: &events, until: min(wake, end))
            while Clock.now() < end, let packet = socket.receive() {
                guard let server = Self.server(in: packet, to: transaction, of: mac), !found.contains(server) else {
                    continue
                }
                found.append(server)
                end = min(end, Clock.now() + grace)
            }
        }
        return found
    }

    private static func server(
        in packet: [UInt8], to transaction: UInt32, of mac: MACAddress
    ) -> DHCPServerFound? {
        let octets = packet.span
        guard let payload = DHCPMessage.payload(of: octets), let ip = try? IPPacket.parse(octets),
            let offer = try? DHCPMessage.offer(octets.extracting(payload), to: transaction, of: mac)
        else { return nil }
        return DHCPServerFound(offer: offer, source: ip.source)
    }
}
