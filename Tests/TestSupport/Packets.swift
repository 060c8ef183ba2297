/// Packets of our own making, put into the gateway's TUN device as if the device had sent them, and what the
/// daemon writes there in answer (`Tests/Programs/packets.py` plays them).
///
/// Answers to 10.9.77.0/24 and fd00:9:77::/48 end at the gateway, so no kernel interferes.

import Foundation

/// A packet as fields; checksums and lengths are computed, rightly unless `badSum` says which is to be wrong.
public struct RawPacket: Encodable, Sendable {
    public struct TCP: Encodable, Sendable {
        public var from: Int
        public var to: Int
        public var flags: String
        public var seq: Int
        public var ack = 0
        public var window = 64240
        public var options: [[OptionPart]] = []
    }

    public struct UDP: Encodable, Sendable {
        public var from: Int
        public var to: Int
    }

    public struct Echo: Encodable, Sendable {
        public var id: Int
        public var seq: Int
    }

    /// A part of a TCP option: its name or a number.
    public enum OptionPart: Encodable, Sendable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
        case text(String)
        case number(Int)

        public init(stringLiteral value: String) { self = .text(value) }
        public init(integerLiteral value: Int) { self = .number(value) }

        public func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .text(let text): try container.encode(text)
            case .number(let number): try container.encode(number)
            }
        }
    }

    public var hex: String?
    public var source: String?
    public var destination: String?
    public var tcp: TCP?
    public var udp: UDP?
    public var echo: Echo?
    public var data: String?
    public var badSum: String?

    /// Whether the IPv4 header's checksum of `hex` is to be computed.
    public var sealed: Bool?

    public static func bytes(_ hex: String) -> RawPacket { RawPacket(hex: hex) }

    /// An IPv4 packet in hexadecimal, whatever its header's checksum says.
    public static func sealed(_ hex: String) -> RawPacket { RawPacket(hex: hex, sealed: true) }

    /// A SYN from one of the raw clients.
    public static func syn(
        from source: String = "10.9.77.2", port: Int, to destination: String = "198.51.100.10", targetPort: Int = 443,
        flags: String = "S", seq: Int = 5000, options: [[OptionPart]] = [["mss", 1460]], data: String? = nil,
        badSum: String? = nil
    ) -> RawPacket {
        let tcp = TCP(from: port, to: targetPort, flags: flags, seq: seq, options: options)
        return RawPacket(source: source, destination: destination, tcp: tcp, data: data, badSum: badSum)
    }

    public static func udp(
        from source: String = "10.9.77.2", port: Int = 50000, to destination: String, targetPort: Int, data: String
    ) -> RawPacket {
        RawPacket(source: source, destination: destination, udp: UDP(from: port, to: targetPort), data: data)
    }

    public static func ping(
        from source: String = "10.9.77.2", to destination: String, id: Int = 7, seq: Int = 1, data: String = "abcdefgh"
    ) -> RawPacket {
        RawPacket(source: source, destination: destination, echo: Echo(id: id, seq: seq), data: data)
    }
}

/// What is done with packets, one after the other.
public struct PacketStep: Encodable, Sendable {
    let `do`: String
    var packet: RawPacket?
    var `repeat`: Int?
    var varyPort: Bool?
    var sources: [String]?
    var rate: Double?
    var seconds: Double?
    var within: Double?
    var destination: String?
    var to: Int?
    var send: String?
    var window: Int?

    /// Puts a packet in, several times if wanted: from other ports (and of several clients), at some rate.
    public static func inject(
        _ packet: RawPacket, times: Int = 1, varyingPort: Bool = false, sources: [String]? = nil, rate: Double? = nil
    ) -> PacketStep {
        PacketStep(do: "inject", packet: packet, repeat: times, varyPort: varyingPort, sources: sources, rate: rate)
    }

    /// Gathers what comes for a while.
    public static func watch(_ seconds: Double) -> PacketStep { PacketStep(do: "watch", seconds: seconds) }

    /// Gathers what comes until there is a packet to that port (or any).
    public static func await(port: Int? = nil, within: Double = 2) -> PacketStep {
        PacketStep(do: "await", within: within, to: port)
    }

    /// Opens a connection with this SYN, sends a text and acknowledges all that comes.
    public static func talk(_ syn: RawPacket, send: String = "x", window: Int = 64240, seconds: Double) -> PacketStep {
        PacketStep(do: "talk", packet: syn, seconds: seconds, send: send, window: window)
    }
}

/// A packet that the daemon wrote.
public struct SeenPacket: Decodable {
    public let source: String
    public let destination: String
    public let `protocol`: Int
    public let at: Double
    public let from: Int?
    public let to: Int?
    public let seq: Int?
    public let ack: Int?
    public let flags: String?
    public let window: Int?
    public let payload: Int?
    public let mss: Int?
    public let options: String?
    public let type: Int?
    public let code: Int?
    /// An ICMP message behind its checksum, in hexadecimal.
    public let body: String?
    public let sumGood: Bool?
}

public struct Exchange: Decodable {
    /// What a client made of packets received.
    public struct Sums: Decodable {
        public let open: Bool
        public let received: Int
        /// The largest segment's payload.
        public let largest: Int
        public let flags: [String]
        public let mss: Int?
        public let options: String?
    }

    public let packets: [SeenPacket]
    public let talk: Sums?
}

extension Lab {
    /// Plays packets at the gateway's TUN device.
    public func packets(
        _ steps: [PacketStep], on device: String = "starship0", within seconds: Double = 60
    ) throws -> Exchange {
        try Exchange.of(startPackets(steps, on: device), within: seconds)
    }

    public func startPackets(_ steps: [PacketStep], on device: String = "starship0") throws -> LabProgram {
        let input = String(decoding: try JSONEncoder().encode(steps), as: UTF8.self)
        return try start(.gateway, Self.python(["packets.py", device]), input: input)
    }
}

extension Exchange {
    public static func of(_ program: LabProgram, within seconds: Double = 60) throws -> Exchange {
        let result = try program.wait(within: seconds)
        guard result.status == 0 else { throw LabError("packets.py: \(result.errors)") }
        return try JSONDecoder().decode(Exchange.self, from: Data(result.output.utf8))
    }
}
