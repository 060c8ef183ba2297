/// Why a flow ended, in words.

import Relay
import Testing

@Suite("Close reasons")
struct CloseReasonTests {
    static let all: [CloseReason] = [
        .closed(first: .client), .closed(first: .upstream), .clientReset, .upstreamReset("Connection reset by peer"),
        .clientRefusedCertificate, .clientGaveUp, .refused("the proxy did not answer in time"),
        .handshakeNotCompleted, .clientUnreachable, .halfCloseTimeout, .idleTimeout, .halfOpenLimit, .flowLimit,
        .deviceFlowLimit, .shed, .noDescriptors, .noMemory, .badRequest("not SOCKS5"), .routeLoop, .ownListener,
        .rejected(rule: "rules, line 3"), .unknownFakeAddress, .familyOff, .switched, .shutdown,
    ]

    @Test func eachKindHasItsOwnNameAndWords() {
        #expect(Set(Self.all.map(\.kind)).count == Self.all.count)
        #expect(Set(Self.all.map(\.words)).count == Self.all.count)
    }

    @Test("a kind is one lower-case word of a counter", arguments: all)
    func kind(_ reason: CloseReason) {
        #expect(reason.kind.wholeMatch(of: /[a-z][a-z0-9]*(-[a-z]+)*/) != nil)
        #expect(!reason.words.isEmpty)
    }

    @Test func theKindDoesNotDependOnTheCause() {
        #expect(CloseReason.refused("one").kind == CloseReason.refused("two").kind)
        #expect(CloseReason.upstreamReset("a").kind == CloseReason.upstreamReset("b").kind)
        #expect(CloseReason.badRequest("a").kind == CloseReason.badRequest("b").kind)
    }

    @Test func causesStandInTheWords() {
        #expect(CloseReason.refused("no").words == "no")
        #expect(CloseReason.badRequest("not SOCKS5").words == "not SOCKS5")
        #expect(CloseReason.upstreamReset("why").words.hasSuffix(": why"))
        // What a tester looks for, word for word.
        #expect(CloseReason.clientRefusedCertificate.words == "client refused the certificate")
    }

    @Test func onlyAnOrderlyEndIsNoFailure() {
        #expect(Self.all.filter { !$0.isFailure } == [.closed(first: .client), .closed(first: .upstream)])
    }
}
