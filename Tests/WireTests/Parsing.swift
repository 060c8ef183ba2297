/// Parsers over arrays: a span cannot stand inside an expectation.

import Addresses
import Bytes

@testable import Wire

func parseIP(_ packet: [UInt8]) throws -> IPPacket { try IPPacket.parse(packet.span) }

func parseVirtio(_ bytes: [UInt8]) throws -> VirtioHeader { try VirtioHeader.parse(bytes.span) }

/// The segment that fills `bytes`.
func parseSegment(_ bytes: [UInt8]) throws -> TCPHeader { try TCPHeader.parse(bytes.span) }

/// The segment of a whole packet, and so for the others.
func parseTCP(_ packet: [UInt8]) throws -> TCPHeader { try TCPHeader.parse(packet.span, of: parseIP(packet)) }

func parseUDP(_ packet: [UInt8]) throws -> UDPHeader { try UDPHeader.parse(packet.span, of: parseIP(packet)) }

func parseICMP(_ packet: [UInt8]) throws -> ICMPMessage { try ICMPMessage.parse(packet.span, of: parseIP(packet)) }

func checksumIsValid(_ packet: [UInt8]) throws -> Bool {
    try parseIP(packet).transportChecksumIsValid(in: packet.span)
}

func checksumIsValid(_ packet: [UInt8], _ ip: IPPacket) -> Bool { ip.transportChecksumIsValid(in: packet.span) }

func isErrorAllowed(about packet: [UInt8], broadcast: IPAddress? = nil) throws -> Bool {
    ICMPError.isAllowed(about: packet.span, try parseIP(packet), broadcast: broadcast)
}

func parseICMP(_ packet: [UInt8], _ ip: IPPacket) throws -> ICMPMessage {
    try ICMPMessage.parse(packet.span, of: ip)
}
