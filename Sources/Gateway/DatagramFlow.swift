/// One exchange of datagrams that is carried: a device's port and a target, and the socket that stands for them
/// outside.

import Addresses
import Bytes
import Flows
import LinuxIO
import Wire

struct DatagramFlow: ~Copyable {
    enum Kind: Equatable, Sendable {
        /// To the target, or where its name leads.
        case direct
        /// To the DNS service; over when its questions are answered.
        case service
    }

    /// The most datagrams, and octets of them, that wait for a name's address.
    private static let heldLimit = (datagrams: 4, octets: 8 << 10)

    let key: FlowKey
    let kind: Kind
    let opened: Instant
    /// Where it goes, as it was decided.
    let target: Target
    /// Connected to the target; nil while its name is asked for.
    var socket: DatagramSocket?
    /// Whether the socket is one of IPv4.
    var isOutsideIPv4 = true
    /// Whether the socket cuts what is larger than its path.
    var mayFragment = true
    /// Whether the fake address that the device has asked is held for it.
    var holdsFakeAddress = false
    /// The port of this machine under which `DNSClients` knows the device.
    var servicePort: UInt16?

    /// The largest packet that the way to the device takes.
    var mtu: Int
    /// The headers of the device's last datagram: what an error about it quotes.
    private(set) var head: [UInt8] = []
    /// Where its UDP header stands in them.
    private(set) var headerStart = 0
    /// What waits for an address.
    private(set) var held: [[UInt8]] = []

    /// Datagrams from the device, and to it.
    var asked = 0
    var answered = 0
    /// Octets of data.
    var up = 0
    var down = 0

    init(key: FlowKey, kind: Kind, target: Target, mtu: Int, at now: Instant) {
        self.key = key
        self.kind = kind
        self.target = target
        self.mtu = mtu
        opened = now
    }

    /// Notes a datagram of the device, so that an error can quote it.
    mutating func note(_ packet: Span<UInt8>, _ ip: IPPacket) {
        head.removeAll(keepingCapacity: true)
        headerStart = ip.payload.lowerBound
        head.append(copying: packet.extracting(0..<headerStart + UDPHeader.length))
    }

    /// Keeps a datagram until the target's address is known; false when there is no room.
    mutating func hold(_ data: Span<UInt8>) -> Bool {
        let octets = held.reduce(0) { $0 + $1.count }
        guard held.count < Self.heldLimit.datagrams, octets + data.count <= Self.heldLimit.octets else { return false }
        held.append([UInt8](copying: data))
        return true
    }

    mutating func takeHeld() -> [[UInt8]] {
        defer { held = [] }
        return held
    }
}
