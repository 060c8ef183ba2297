/// Rules as the kernel tells them, attribute by attribute (linux/fib_rules.h).

import Glibc
import Testing

@testable import LinuxIO

struct KernelRuleTests {
    /// A rule of IPv4 that looks into table 254, with further attributes.
    private static func message(_ attributes: [(type: UInt16, value: [UInt8])]) -> NetlinkMessage {
        // struct fib_rule_hdr: the action stands in its eighth octet.
        var payload: [UInt8] = [UInt8(AF_INET), 0, 0, 0, 254, 0, 0, 1, 0, 0, 0, 0]
        for attribute in attributes {
            payload.appendNative(UInt16(4 + attribute.value.count))
            payload.appendNative(attribute.type)
            payload += attribute.value + [UInt8](repeating: 0, count: -attribute.value.count & 3)
        }
        return NetlinkMessage(type: 32, payload: payload)
    }

    @Test("a rule for answers from one port of TCP is known whole")
    func port() throws {
        // FRA_IP_PROTO is 22, FRA_SPORT_RANGE 23.
        let rule = try #require(
            KernelRule(Self.message([(22, [6]), (23, [0x38, 0x04, 0x38, 0x04])]), family: UInt8(AF_INET)))
        #expect(rule.sourcePort == 1080 && !rule.hasMore)
        #expect(rule.action == .lookup(254))
    }

    @Test(
        "an attribute of another length is something more, wherever its message ends",
        arguments: [
            [(22, [])], [(23, [])], [(23, [0x38, 0x04])], [(22, [6]), (23, [0x38])],
            [(22, [6, 0]), (23, [0, 1, 0, 1])],
        ] as [[(UInt16, [UInt8])]])
    func otherLengths(attributes: [(UInt16, [UInt8])]) throws {
        let rule = try #require(KernelRule(Self.message(attributes), family: UInt8(AF_INET)))
        #expect(rule.sourcePort == nil && rule.hasMore)
    }
}
