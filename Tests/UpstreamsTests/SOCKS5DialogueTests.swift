/// The conversation with a SOCKS5 proxy, without sockets (RFC 1928, RFC 1929).

import TestSupport
import Testing
import Upstreams
import Wire

@Suite struct SOCKS5DialogueTests {
    /// Plays the proxy's messages and returns the last step and all that was sent.
    private func play(
        _ replies: [String], target: Target = Target("a.test:443"), login: SOCKS5Login? = nil
    ) -> (step: SOCKS5Dialogue.Step, sent: [UInt8]) {
        var dialogue = SOCKS5Dialogue(to: target, login: login)
        var sent: [UInt8] = []
        dialogue.writeGreeting(into: &sent)
        var step = SOCKS5Dialogue.Step.needsMore
        for reply in replies { step = dialogue.receive(hex(reply).span, output: &sent) }
        return (step, sent)
    }

    private static let login = SOCKS5Login(user: Array("qa".utf8), password: Array("pw".utf8))

    @Test func opensWithoutLogin() {
        let result = play(["0500", "05000001000000000000" + "5353"])
        #expect(result.step == .open(leftover: 10..<12))
        #expect(result.sent == hex("050100" + "0501000306612e7465737401bb"))
    }

    @Test("reads any pieces")
    func pieces() {
        let result = play(["05", "00", "05", "0000", "0420010db8", "0000000000000000", "00000001", "01bb7878"])
        #expect(result.step == .open(leftover: 2..<4))
    }

    @Test func logsIn() {
        let result = play(["0502", "0100", "05000001000000000000"], login: Self.login)
        #expect(result.step == .open(leftover: 10..<10))
        #expect(result.sent == hex("05020002" + "01027161027077" + "0501000306612e7465737401bb"))
    }

    @Test func asksForAddresses() {
        let v6 = play(["0500"], target: Target("[2001:db8::1]:443"))
        #expect(v6.sent == hex("050100" + "0501000420010db800000000000000000000000101bb"))
    }

    @Test func failures() {
        #expect(play(["0502", "0101"], login: Self.login).step == .loginRejected)
        #expect(play(["05ff"]).step == .noMethod)
        #expect(play(["0502"]).step == .noMethod)
        #expect(play(["0500", "05050001000000000000"]).step == .refused(code: 5))
        #expect(play(["4854"]).step == .failed(.badVersion(0x48)))
        #expect(play(["0500", "0500000900"]).step == .failed(.unknownAddressType(9)))
    }
}
