/// What a switch routes into the TUN device, and for how long.

import Addresses
import Bytes
import Testing

@testable import Names

@Suite struct LentAddressesTests {
    static let site = IPAddress(v4: 0xcb00_7109)
    static let cdn = IPAddress(v4: 0xcb00_710a)
    static let phone = FakePoolTests.phone
    static let tablet = FakePoolTests.tablet

    static func at(_ seconds: Int64) -> Instant { FakePoolTests.at(seconds) }

    static func proxied(_ names: String...) -> (String, IPAddress) -> Bool { { name, _ in names.contains(name) } }

    /// The phone knows both sites, the second one on two addresses; the tablet shares one of these.
    static var seen: SeenAnswers {
        var seen = SeenAnswers()
        seen.note(name: "x.test", addresses: [site], device: phone, ttl: .seconds(60), now: at(0))
        seen.note(name: "y.test", addresses: [cdn, site], device: phone, ttl: .seconds(30), now: at(10))
        seen.note(name: "y.test", addresses: [cdn], device: tablet, ttl: .seconds(60), now: at(10))
        return seen
    }

    @Test func addressesOfANewlyProxiedNameAreLentUntilTheirTTLEnds() {
        var lent = LentAddresses()
        let change = lent.change(Self.seen, now: Self.at(20), before: Self.proxied(), after: Self.proxied("x.test"))
        let loan = LentAddresses.Loan(device: Self.phone, address: Self.site, until: Self.at(60))
        #expect(change == LentAddresses.Change(lent: [loan], ended: []))
        #expect(lent.nextDeadline == Self.at(60))
        #expect(lent.expire(Self.at(59)).isEmpty)
        #expect(lent.expire(Self.at(60)) == [loan])
        #expect(lent.loans.isEmpty)
        #expect(lent.nextDeadline == nil)
    }

    @Test func eachAddressOfEachDeviceIsLentForTheNamesThatBecameProxied() {
        var lent = LentAddresses()
        let change = lent.change(Self.seen, now: Self.at(20), before: Self.proxied(), after: Self.proxied("y.test"))
        // The phone's x.test on the shared address lives longer; it is not what is lent.
        #expect(
            change.lent == [
                .init(device: Self.phone, address: Self.site, until: Self.at(40)),
                .init(device: Self.phone, address: Self.cdn, until: Self.at(40)),
                .init(device: Self.tablet, address: Self.cdn, until: Self.at(70)),
            ])
    }

    @Test func aNameThatWasProxiedBeforeNeedsNoLoanAndOneThatIsLentStaysLent() {
        var lent = LentAddresses()
        let nothing = lent.change(
            Self.seen, now: Self.at(20), before: Self.proxied("x.test"), after: Self.proxied("x.test"))
        #expect(nothing.isEmpty)
        let first = lent.change(Self.seen, now: Self.at(20), before: Self.proxied(), after: Self.proxied("x.test"))
        #expect(first.lent.count == 1)
        // Another switch, under which the name is proxied still.
        let second = lent.change(
            Self.seen, now: Self.at(25), before: Self.proxied("x.test"), after: Self.proxied("x.test", "y.test"))
        #expect(second.lent.map(\.address) == [Self.cdn, Self.cdn])
        #expect(second.ended.isEmpty)
        #expect(lent.loans.count == 3)
    }

    @Test func aSwitchBackEndsTheLoanAtOnce() {
        var lent = LentAddresses()
        let there = lent.change(Self.seen, now: Self.at(20), before: Self.proxied(), after: Self.proxied("x.test"))
        let back = lent.change(Self.seen, now: Self.at(21), before: Self.proxied("x.test"), after: Self.proxied())
        #expect(back.ended == there.lent)
        #expect(lent.loans.isEmpty)
    }

    @Test func eachDeviceHasRulesOfItsOwn() {
        var lent = LentAddresses()
        let change = lent.change(
            Self.seen, now: Self.at(20), before: { _, _ in false },
            after: { name, device in name == "y.test" && device == Self.tablet })
        #expect(change.lent.map(\.device) == [Self.tablet])
    }

    @Test func anAnswerThatWasUnderWayDuringTheSwitchIsFoundBySecondLook() {
        var lent = LentAddresses()
        var seen = Self.seen
        _ = lent.change(seen, now: Self.at(20), before: Self.proxied(), after: Self.proxied("z.test"))
        seen.note(name: "z.test", addresses: [Self.site], device: Self.tablet, ttl: .seconds(60), now: Self.at(20))
        let change = lent.change(seen, now: Self.at(21), before: Self.proxied(), after: Self.proxied("z.test"))
        #expect(change.lent == [.init(device: Self.tablet, address: Self.site, until: Self.at(80))])
    }
}
