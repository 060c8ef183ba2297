/// The small counters beside the colours: latencies, refused certificates, and when to give up.

import Bytes
import Testing

@testable import Health

@Suite struct LatencyTests {
    @Test("buckets include their bounds, and each has what is below it (Prometheus, \"Histograms\")")
    func buckets() {
        var histogram = LatencyHistogram()
        let latencies: [Interval] = [
            .zero, .milliseconds(5), .nanoseconds(5_000_001), .milliseconds(100), .seconds(10),
            .nanoseconds(10_000_000_001),
            .hours(1), .seconds(-5),
        ]
        for latency in latencies { histogram.add(latency) }
        let expected: [UInt64] = [3, 4, 4, 4, 5, 5, 5, 5, 5, 5, 6, 8]
        #expect(histogram.cumulative == expected && histogram.count == 8)
        #expect(histogram.sum == .nanoseconds(3_620_110_000_002))
        #expect(LatencyHistogram.labels.count == LatencyHistogram.bounds.count + 1)
        let labels: [String] = LatencyHistogram.bounds.map { bound in
            let text = "\(Double(bound.nanoseconds) / 1e9)"
            return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
        }
        #expect(labels + ["+Inf"] == LatencyHistogram.labels)
        histogram.add(Interval(nanoseconds: .max))
        histogram.add(Interval(nanoseconds: .max))
        #expect(histogram.sum == Interval(nanoseconds: .max) && histogram.count == 10)
    }

    @Test("the last sixty are kept, the oldest first, with their misses")
    func recent() {
        var recent = RecentLatencies()
        #expect(recent.values == [] && recent.typical == nil)
        for number in 0..<150 { recent.add(number % 10 == 0 ? nil : .milliseconds(Int64(number))) }
        let expected: [Interval?] = (90..<150).map { $0 % 10 == 0 ? nil : .milliseconds(Int64($0)) }
        #expect(recent.values == expected)
        #expect(recent.typical == .milliseconds(147))
    }

    @Test("one odd answer does not move what is typical, a change shows after three")
    func typical() {
        var recent = RecentLatencies()
        var typical: [Int64] = []
        for latency: Int64 in [50, 51, 52, 50, 51, 4000, 50, 51, 900, 910, 905] {
            recent.add(.milliseconds(latency))
            typical.append(recent.typical?.milliseconds ?? -1)
        }
        #expect(typical == [50, 51, 51, 51, 51, 51, 51, 51, 51, 900, 900])
    }
}

@Suite struct GiveUpTests {
    @Test("after ten minutes of red it is time once, and again only after another colour")
    func once() {
        var giveUp = GiveUp(after: .seconds(600))
        let start = Instant(nanoseconds: 1_000_000_000_000)
        func update(_ colour: Colour, _ second: Int64) -> Bool { giveUp.update(colour, at: start + .seconds(second)) }
        #expect(giveUp.deadline == .never)
        let first: [Bool] = [
            update(.red, 0), update(.red, 599), update(.yellow, 599), update(.red, 600), update(.red, 1199),
        ]
        #expect(first == [false, false, false, false, false])
        #expect(giveUp.deadline == start + .seconds(1200))
        let second: [Bool] = [update(.red, 1200), update(.red, 1201), update(.red, 9000)]
        #expect(second == [true, false, false] && giveUp.deadline == .never)
        let third: [Bool] = [update(.green, 9001), update(.red, 9002), update(.red, 9602)]
        #expect(third == [false, false, true])
    }

    @Test("without a limit nobody gives up")
    func never() {
        var giveUp = GiveUp(after: nil)
        let told: [Bool] = (0..<1000).map { giveUp.update(.red, at: Instant(nanoseconds: 0) + .hours($0)) }
        #expect(!told.contains(true) && giveUp.deadline == .never)
    }
}

@Suite struct CertificateRefusalTests {
    private static func at(_ second: Double) -> Instant {
        Instant(nanoseconds: 1_000_000_000_000) + .milliseconds(Int64(second * 1000))
    }

    @Test("three refusals of a host within a minute are told once, then there is quiet for ten minutes")
    func three() {
        var refusals = CertificateRefusals()
        let seconds: [Double] = [0, 30, 60, 61, 62, 63, 659.9, 660, 661]
        let told: [Bool] = seconds.map { refusals.note(device: "phone", host: "api.example", at: Self.at($0)) }
        // After the quiet it takes three within a minute again.
        #expect(told == [false, false, true, false, false, false, false, false, true])
    }

    @Test("slow ones, other hosts and other devices do not add up")
    func apart() {
        var refusals = CertificateRefusals()
        var told = 0
        for number in 0..<100
        where refusals.note(device: "phone", host: "slow.example", at: Self.at(Double(number) * 31)) {
            told += 1
        }
        for number in 0..<20 {
            for name in ["a", "b"] where refusals.note(device: name, host: "\(number)", at: Self.at(9000)) { told += 1 }
        }
        #expect(told == 0)
    }

    @Test("a device that asks for many hosts displaces only its own, and many devices are bounded")
    func bounded() {
        var refusals = CertificateRefusals()
        var told: [Bool] = []
        for round in 0..<3 {
            told.append(refusals.note(device: "tablet", host: "api.example", at: Self.at(Double(round))))
            for number in 0..<5000 {
                _ = refusals.note(device: "phone", host: "\(round).\(number).example", at: Self.at(Double(round)))
            }
        }
        #expect(told == [false, false, true])
        #expect(refusals.count == CertificateRefusals.mostHosts + 1)
        for number in 0..<2000 { _ = refusals.note(device: "\(number)", host: "x", at: Self.at(10 + Double(number))) }
        #expect(refusals.count == CertificateRefusals.mostDevices)
    }

    @Test("the sentence names both ways out of it")
    func sentence() {
        let sentence = CertificateRefusals.sentence(device: "pixel-7", host: "api.example")
        #expect(
            sentence
                == "pixel-7 has refused the certificate for api.example 3 times within a minute: install and trust the"
                + " proxy's root certificate on it, or send the host direct (rule DOMAIN,api.example,DIRECT)")
    }
}
