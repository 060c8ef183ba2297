/// The book-keeping of both directions of a flow.

import Bytes
import Relay
import Testing

@Suite("Relay")
struct RelayTests {
    static let start = Instant(nanoseconds: 1_000_000_000)
    /// The usual ones: half-close 60 s, idle 24 h.
    static let limits = RelayLimits(halfClose: .seconds(60), idle: .hours(24))

    @Test func aNewRelayIsOpenBothWays() {
        let relay = Relay(at: Self.start)
        #expect(relay.up.phase == .open)
        #expect(relay.down.phase == .open)
        #expect(relay.endedFirst == nil)
        #expect(!relay.isFinished)
    }

    @Test func bytesAreCountedByDirection() {
        var relay = Relay(at: Self.start)
        relay.moved(10, from: .client, at: Self.start + .seconds(1))
        relay.moved(300, from: .upstream, at: Self.start + .seconds(2))
        relay.moved(5, from: .client, at: Self.start + .seconds(3))
        #expect(relay.up.bytes == 15)
        #expect(relay.down.bytes == 300)
        #expect(relay.up.lastMoved == Self.start + .seconds(3))
        #expect(relay.down.lastMoved == Self.start + .seconds(2))
    }

    @Test("an end is passed on once, after the bytes before it", arguments: [Side.client, .upstream])
    func end(of side: Side) {
        var relay = Relay(at: Self.start)
        let early = relay.drained(side, halfClose: .pass)
        #expect(!early, "nothing has ended yet")
        relay.sourceEnded(side, at: Self.start)
        #expect(Self.lane(relay, side).phase == .draining)
        let first = relay.drained(side, halfClose: .pass)
        let second = relay.drained(side, halfClose: .pass)
        #expect(first)
        #expect(!second, "the sink was told already")
        #expect(Self.lane(relay, side).phase == .over)
        #expect(Self.lane(relay, Self.other(side)).phase == .open, "the other direction goes on")
        #expect(!relay.isFinished)
    }

    @Test("the first to end is remembered", arguments: [Side.client, .upstream])
    func first(_ side: Side) {
        var relay = Relay(at: Self.start)
        relay.sourceEnded(side, at: Self.start)
        relay.sourceEnded(Self.other(side), at: Self.start + .seconds(1))
        #expect(relay.endedFirst == side)
        _ = relay.drained(.client, halfClose: .pass)
        #expect(!relay.isFinished)
        _ = relay.drained(.upstream, halfClose: .pass)
        #expect(relay.isFinished)
    }

    @Test func anEndThatIsToldTwiceDoesNotReopenALane() {
        var relay = Relay(at: Self.start)
        relay.sourceEnded(.client, at: Self.start)
        _ = relay.drained(.client, halfClose: .pass)
        relay.sourceEnded(.client, at: Self.start)
        #expect(relay.up.phase == .over)
    }

    // MARK: halfClose: hold

    @Test func aHeldEndIsPassedOnWhenTheUpstreamHasEnded() {
        var relay = Relay(at: Self.start)
        relay.sourceEnded(.client, at: Self.start)
        let whileOpen = relay.drained(.client, halfClose: .hold)
        #expect(!whileOpen)
        #expect(relay.up.phase == .held)
        relay.sourceEnded(.upstream, at: Self.start)
        let afterEnd = relay.drained(.client, halfClose: .hold)
        #expect(afterEnd)
        #expect(relay.up.phase == .over)
    }

    @Test func nothingIsHeldOnceTheUpstreamHasEnded() {
        var relay = Relay(at: Self.start)
        relay.sourceEnded(.upstream, at: Self.start)
        relay.sourceEnded(.client, at: Self.start)
        let isPassed = relay.drained(.client, halfClose: .hold)
        #expect(isPassed)
    }

    @Test func theUpstreamsEndIsNeverHeld() {
        var relay = Relay(at: Self.start)
        relay.sourceEnded(.upstream, at: Self.start)
        let isPassed = relay.drained(.upstream, halfClose: .hold)
        #expect(isPassed)
    }

    @Test func whatIsHeldCanBeGivenUpOnce() {
        var relay = Relay(at: Self.start)
        let early = relay.releaseHeld()
        #expect(!early)
        relay.sourceEnded(.client, at: Self.start)
        let draining = relay.releaseHeld()
        #expect(!draining, "what is not drained is not held")
        _ = relay.drained(.client, halfClose: .hold)
        let held = relay.releaseHeld()
        let again = relay.releaseHeld()
        #expect(held)
        #expect(!again)
        #expect(relay.up.phase == .over)
    }

    @Test func aResetEndsBothDirectionsAtOnce() {
        var relay = Relay(at: Self.start)
        relay.ended()
        #expect(relay.isFinished)
        // What is left is a sink that may never say that it has heard of it.
        #expect(relay.deadline(Self.limits) == Self.start + .seconds(60))
    }

    // MARK: Deadlines

    @Test func anOpenRelayIsIdleADayAfterItsLastByte() {
        var relay = Relay(at: Self.start)
        #expect(relay.deadline(Self.limits) == Self.start + .hours(24))
        relay.moved(1, from: .upstream, at: Self.start + .seconds(100))
        relay.moved(1, from: .client, at: Self.start + .seconds(50))
        #expect(relay.deadline(Self.limits) == Self.start + .seconds(100) + .hours(24))
    }

    @Test("a half-closed relay waits 60 s for the open direction", arguments: [Side.client, .upstream])
    func halfClosed(_ side: Side) {
        var relay = Relay(at: Self.start)
        relay.moved(1, from: Self.other(side), at: Self.start + .seconds(1))
        relay.sourceEnded(side, at: Self.start + .seconds(1000))
        #expect(relay.deadline(Self.limits) == Self.start + .seconds(1060), "the full time, from the end on")
        _ = relay.drained(side, halfClose: .pass)
        #expect(relay.deadline(Self.limits) == Self.start + .seconds(1060))
        relay.moved(1, from: Self.other(side), at: Self.start + .seconds(1030))
        #expect(relay.deadline(Self.limits) == Self.start + .seconds(1090), "each byte gives it anew")
    }

    @Test func aHeldEndHasTheSameLimit() {
        var relay = Relay(at: Self.start)
        relay.sourceEnded(.client, at: Self.start)
        _ = relay.drained(.client, halfClose: .hold)
        #expect(relay.deadline(Self.limits) == Self.start + .seconds(60))
    }

    @Test func aShortIdleLimitCountsForHalfClosedRelaysToo() {
        var relay = Relay(at: Self.start)
        relay.sourceEnded(.client, at: Self.start)
        #expect(relay.deadline(RelayLimits(halfClose: .seconds(60), idle: .seconds(5))) == Self.start + .seconds(5))
    }

    @Test func whenBothSourcesHaveEndedASinkHas60Seconds() {
        var relay = Relay(at: Self.start)
        relay.sourceEnded(.client, at: Self.start)
        relay.sourceEnded(.upstream, at: Self.start + .seconds(10))
        #expect(relay.deadline(Self.limits) == Self.start + .seconds(70))
    }

    @Test func whatDrainsIsNeverOverdue() {
        var relay = Relay(at: Self.start)
        relay.progressed(at: Self.start + .seconds(5))
        #expect(relay.deadline(Self.limits) == Self.start + .hours(24), "while both are open bytes alone count")
        relay.sourceEnded(.upstream, at: Self.start + .seconds(10))
        _ = relay.drained(.upstream, halfClose: .pass)
        relay.progressed(at: Self.start + .seconds(65))
        #expect(relay.deadline(Self.limits) == Self.start + .seconds(125))
    }

    @Test func aRestartGivesBothDirectionsTheirFullTime() {
        var relay = Relay(at: Self.start)
        relay.restart(at: Self.start + .seconds(20))
        #expect(relay.deadline(Self.limits) == Self.start + .seconds(20) + .hours(24))
    }

    private static func lane(_ relay: Relay, _ side: Side) -> Lane { side == .client ? relay.up : relay.down }

    private static func other(_ side: Side) -> Side { side == .client ? .upstream : .client }
}
