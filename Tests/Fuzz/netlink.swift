/// Any bytes as what the kernel tells over netlink: messages of links, addresses, routes, rules, neighbours and flows,
/// with names that whoever made an interface has chosen.

import Addresses
import Bytes

@testable import LinuxIO

func fuzzNetlink(_ bytes: [UInt8]) {
    let messages = NetlinkMessage.split(bytes)
    let octets = messages.reduce(0) { $0 + NetlinkMessage.headerLength + $1.payload.count }
    precondition(octets <= bytes.count, "more than has come")
    read(messages)
    // So that most inputs are messages, the bytes are also taken for the payload of one of each type.
    guard let kind = bytes.first else { return }
    let types: [UInt16] = [16, 20, 24, 28, 29, 32, 256]
    read([NetlinkMessage(type: types[Int(kind) % types.count], payload: Array(bytes.dropFirst()))])
}

private func read(_ messages: [NetlinkMessage]) {
    var names = LinkNames(messages.compactMap(KernelLink.init))
    for index in 0..<4 as Range<UInt32> where names[index] == nil { names[index] = "eth\(index)" }
    for message in messages {
        for body in [0, 4, 8, 12, 16] where body <= message.payload.count {
            for (_, range) in message.attributes(after: body) {
                precondition(range.lowerBound >= body + 4 && range.upperBound <= message.payload.count, "outside")
                _ = (message.address(range), message.number(range), message.text(range))
            }
        }
        if let address = KernelAddress(message, names) {
            precondition(address.prefix.length <= (address.address.isIPv4 ? 32 : 128), "a prefix that is too long")
        }
        for family in [2, 10] as [UInt8] {
            for route in KernelRoute.read(message, family: family, names) {
                precondition(route.destination.length <= 128, "a prefix that is too long")
            }
            _ = KernelRule(message, family: family)
        }
        if let neighbour = KernelNeighbour(message, names) {
            precondition(!neighbour.address.isMulticast && neighbour.hardware.bits >> 48 == 0, "no neighbour's")
            precondition(neighbour.sinceConfirmed >= .zero, "a neighbour of the future")
        }
        _ = NeighbourPlace(message, names)
        _ = TrackedFlow(message)
    }
}
