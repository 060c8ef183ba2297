/// The arithmetic of the RFCs, number by number.
import Bytes
import Testing
import Wire

@testable import Streams

@Suite struct NumbersTests {
    @Test func theTimeoutFollowsRFC6298() {
        var time = RoundTripTime()
        #expect(time.timeout == .seconds(1))
        time.sample(.milliseconds(400), at: Instant(nanoseconds: 0))
        // SRTT = R, RTTVAR = R/2, RTO = SRTT + 4 RTTVAR.
        #expect(time.timeout == .milliseconds(1200))
        time.sample(.milliseconds(480), at: Instant(nanoseconds: 0))
        // RTTVAR = 3/4 · 200 + 1/4 · 80 = 170, SRTT = 7/8 · 400 + 1/8 · 480 = 410.
        #expect(time.timeout == .milliseconds(1090))
        #expect(time.least == .milliseconds(400))
    }

    @Test(arguments: [0.001, 1, 8, 27, 1000, 123_456.789])
    func cubeRootsAreExact(value: Double) {
        let root = CUBIC.cubeRoot(value)
        #expect(abs(root * root * root - value) < value * 1e-9)
    }

    @Test func aLossTakesThreeTenthsOfTheWindow() {
        var cubic = CUBIC(window: 100_000)
        cubic.reduce(segmentSize: 1000)
        #expect(cubic.threshold == 70_000)
        cubic.window = cubic.threshold
        // RFC 9438, section 4.2: K = cbrt((100 − 70) / 0.4) = 4.217 s until the window is 100 segments again.
        var now = Instant(nanoseconds: 0)
        var reached: Double?
        while reached == nil, now < Instant(nanoseconds: 20_000_000_000) {
            cubic.acknowledged(cubic.window, segmentSize: 1000, roundTrip: .milliseconds(100), now: now)
            now = now + .milliseconds(100)
            if cubic.window >= 99_500 { reached = Double(now.nanoseconds) / 1e9 }
        }
        // Around K the curve is flat, so the last half segment is reached within a second of it.
        #expect(abs((reached ?? 0) - 4.2) < 1.1)
    }

    @Test func aSmallWindowGrowsLikeReno() {
        var cubic = CUBIC(window: 10_000)
        cubic.reduce(segmentSize: 1000)
        cubic.window = cubic.threshold
        var now = Instant(nanoseconds: 0)
        // Section 4.3: α = 3 (1 − 0.7) / (1 + 0.7) = 0.529 segments a round trip below the former window.
        for _ in 0..<4 {
            cubic.acknowledged(cubic.window, segmentSize: 1000, roundTrip: .milliseconds(10), now: now)
            now = now + .milliseconds(10)
        }
        #expect(abs(Double(cubic.window) - (7000 + 4 * 529.4)) < 60)
    }

    @Test func fastConvergenceLowersThePlateau() {
        var cubic = CUBIC(window: 100_000)
        cubic.reduce(segmentSize: 1000)
        cubic.window = 80_000
        cubic.reduce(segmentSize: 1000)
        #expect(cubic.threshold == 56_000)
        cubic.window = 56_000
        // Section 4.7: W_max = 80 · 1.7 / 2 = 68, so K = cbrt(12 / 0.4) = 3.107 s.
        cubic.acknowledged(0, segmentSize: 1000, roundTrip: .zero, now: Instant(nanoseconds: 0))
        cubic.acknowledged(
            56_000, segmentSize: 1000, roundTrip: .zero, now: Instant(nanoseconds: 3_107_000_000))
        #expect(abs(cubic.window - 68_000) < 1500)
    }

    @Test func proportionalReductionEndsAtTheThreshold() {
        // RFC 9937: 100 segments in flight, the threshold at 70; for each that arrives 0.7 go out.
        var rate = ProportionalRate()
        rate.begin(window: 100_000)
        var inFlight = 99_000
        var out = 0
        for _ in 0..<90 {
            inFlight -= 1000
            let window = rate.window(
                delivered: 1000, inFlight: inFlight, threshold: 70_000, segmentSize: 1000, safe: false)
            while window - inFlight >= 1000 {
                rate.sent(1000)
                inFlight += 1000
                out += 1
            }
        }
        #expect(abs(out - 63) <= 2)
        #expect(abs(inFlight - 70_000) <= 3000)
    }

    @Test func slowStartEndsWhenTheRoundTripGrows() {
        var exit = SlowStartExit()
        var next = SequenceNumber(0)
        var rounds = 0
        for time in [20, 20, 20, 40, 40, 40, 40, 40, 40] as [Int64] {
            next += 1000
            var isOver = false
            for _ in 0..<10 where !isOver {
                isOver = exit.measured(.milliseconds(time), acknowledged: next - 1000, next: next)
            }
            rounds += 1
            if isOver { break }
        }
        // RFC 9406: the rise is seen in the fourth round, five conservative ones follow.
        #expect(rounds == 9)
    }

    @Test func theIdleEndpointIsSmall() {
        #expect(MemoryLayout<TCPEndpoint>.size <= 680)
    }
}
