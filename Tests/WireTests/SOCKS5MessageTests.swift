/// The messages of RFC 1928 and RFC 1929.

import Addresses
import TestSupport
import Testing
import Wire

@Suite struct SOCKS5MessageTests {
    @Test(
        "writes what it reads",
        arguments: [
            "05010001c633640a01bb", "0501000420010db800000000000000000000000101bb", "05010003086578612e7465737401bb",
            "05000001000000000000",
        ])
    func writesWhatItReads(text: String) throws {
        let bytes = hex(text)
        let (message, length) = try #require(try SOCKS5Message.parse(bytes.span))
        #expect(length == bytes.count)
        var output: [UInt8] = []
        message.write(into: &output)
        #expect(output == bytes)
    }

    @Test(
        "needs every octet and leaves what follows",
        arguments: [
            "05010001c633640a01bb", "0501000420010db800000000000000000000000101bb", "05010003086578612e7465737401bb",
        ])
    func prefixes(text: String) throws {
        let bytes = hex(text)
        for count in 0..<bytes.count { #expect(try SOCKS5Message.parse(bytes.span.extracting(0..<count)) == nil) }
        let followed = bytes + [0x16, 0x03]
        #expect(try SOCKS5Message.parse(followed.span)?.length == bytes.count)
    }

    @Test func refusesOtherProtocols() {
        #expect(throws: SOCKS5Error.badVersion(4)) { try SOCKS5Greeting.parse(hex("0401").span) }
        #expect(throws: SOCKS5Error.badVersion(0x43)) { try SOCKS5Message.parse(hex("434f4e").span) }
        #expect(throws: SOCKS5Error.unknownAddressType(2)) { try SOCKS5Message.parse(hex("05010002").span) }
        #expect(throws: SOCKS5Error.badVersion(5)) { try SOCKS5Login.parse(hex("05").span) }
    }

    @Test("compares logins by all their octets")
    func logins() {
        let login = SOCKS5Login(user: Array("qa".utf8), password: Array("pw".utf8))
        #expect(login.matches(SOCKS5Login(user: Array("qa".utf8), password: Array("pw".utf8))))
        for (user, password) in [("qa", "px"), ("qb", "pw"), ("q", "pw"), ("qa", "pw2"), ("qap", "w"), ("", "")] {
            #expect(!login.matches(SOCKS5Login(user: Array(user.utf8), password: Array(password.utf8))))
        }
    }
}
