/// How many errors a device can make the gateway send.

import Addresses
import Bytes
import TestSupport
import Testing

@testable import Flows

@Suite struct RateLimiterTests {
    static let device = IPAddress(v4: 0x0a09_0002)

    @Test("allows 50 a second to a flood of 10,000 (B127)")
    func boundsAFlood() {
        var limiter = RateLimiter(perSecond: 50, seed: (1, 2))
        var allowed = 0
        for number in 0..<10000 {
            // Over two seconds: the full bucket, and what comes meanwhile.
            let now = Instant(nanoseconds: 0) + .microseconds(Int64(number) * 200)
            if limiter.allow(Self.device, now: now) { allowed += 1 }
        }
        #expect((149...150).contains(allowed))
        let refusals = limiter.refusals
        #expect(refusals == 10000 - allowed)
    }

    @Test("a burst may be larger than what comes in a second")
    func bursts() {
        var limiter = RateLimiter(perSecond: 20, burst: 40, seed: (1, 2))
        var allowed: [Int] = []
        for second in [0, 1, 3, 60] {
            let now = Instant(nanoseconds: 0) + .seconds(Int64(second))
            allowed.append((0..<100).count { _ in limiter.allow(Self.device, now: now) })
        }
        #expect(allowed == [40, 20, 40, 40])
    }

    @Test func allowsWhatIsSlow() {
        var limiter = RateLimiter(perSecond: 50, seed: (1, 2))
        for number in 0..<1000 {
            let isAllowed = limiter.allow(Self.device, now: Instant(nanoseconds: 0) + .milliseconds(Int64(number) * 20))
            #expect(isAllowed)
        }
    }

    @Test func oneDeviceDoesNotTouchAnother() {
        var limiter = RateLimiter(perSecond: 50, seed: (1, 2))
        let now = Instant(nanoseconds: 0)
        for _ in 0..<100 { _ = limiter.allow(Self.device, now: now) }
        let isAllowed = limiter.allow(IPAddress(high: 0xfd00_0009_0000_0000, low: 2), now: now)
        #expect(isAllowed)
    }

    @Test func manyAddressesDoNotAddUpToAFlood() {
        var limiter = RateLimiter(perSecond: 50, seed: (1, 2))
        var allowed = 0
        for number in 0..<100_000 {
            let address = IPAddress(v4: UInt32(number % 20000))
            if limiter.allow(address, now: Instant(nanoseconds: 0) + .microseconds(Int64(number))) { allowed += 1 }
        }
        #expect(allowed <= 256 * 60)
    }
}
