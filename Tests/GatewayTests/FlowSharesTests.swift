/// Which flow gives way, and how often all of them are looked at for that.

import Addresses
import Bytes
import Testing

@testable import Gateway

@Suite("Shares of flows")
struct FlowSharesTests {
    static let phone = Bench.address("10.9.0.2", 0).address
    static let box = Bench.address("fd00:9::3", 0).address
    static let start = Instant(nanoseconds: 1_000_000_000_000)

    private func idle(_ index: UInt32) -> IdleFlow {
        IdleFlow(flow: Handle(index: index, generation: 1), since: Self.start)
    }

    @Test func aDeviceHasAShareAndTheMachineItselfHasNone() {
        var shares = FlowShares(limit: 2)
        let loopback = Bench.address("127.0.0.1", 0).address
        for device in [Self.phone, Self.phone, loopback, loopback, loopback] { shares.add(device) }
        #expect(shares.isFull(for: Self.phone))
        #expect(!shares.isFull(for: Self.box))
        #expect(!shares.isFull(for: loopback))
        shares.remove(Self.phone)
        #expect(!shares.isFull(for: Self.phone))
        shares.remove(Self.phone)
        #expect(shares.deviceCount == 1)
    }

    @Test func whatOneLookHasFoundIsHandedOutBeforeTheNext() {
        var shares = FlowShares(limit: 1)
        var looks = 0
        func next(_ device: IPAddress?, _ now: Instant, finds: [IdleFlow]) -> IdleFlow? {
            shares.next(of: device, now: now) {
                looks += 1
                return finds
            }
        }
        #expect(next(nil, Self.start, finds: [idle(3), idle(2), idle(1)]) == idle(1))
        #expect(next(nil, Self.start, finds: []) == idle(2))
        #expect(next(nil, Self.start, finds: []) == idle(3))
        #expect(looks == 1)
        // Now there is none, and nobody looks again within a second, however many newcomers there are.
        for _ in 0..<100 { #expect(next(nil, Self.start + .milliseconds(999), finds: [idle(4)]) == nil) }
        #expect(looks == 1)
        #expect(next(nil, Self.start + .seconds(1), finds: [idle(4)]) == idle(4))
        #expect(looks == 2)
        // Each device is looked at for itself.
        #expect(next(Self.phone, Self.start, finds: []) == nil)
        #expect(next(Self.box, Self.start, finds: [idle(5)]) == idle(5))
        #expect(looks == 4)
    }
}
