/// How fast a download is over a bad link, against what Linux reaches over the same one.
import Bytes
import Streams
import TestSupport
import Testing

@Suite struct GoodputTests {
    @Test(
        "recovers as well as Linux does",
        arguments: [
            (loss: 0.01, roundTrip: 20, least: 7.2e6),
            (loss: 0.03, roundTrip: 20, least: 3.2e6),
        ])
    func recovers(loss: Double, roundTrip: Int64, least: Double) {
        var faults = LinkFaults()
        faults.loss = loss
        faults.delay = .milliseconds(roundTrip) / 2
        faults.rate = 125_000_000
        var total = 0.0
        var timeouts = 0
        for seed in 1...8 as ClosedRange<UInt64> {
            var download = Download(faults, seed: seed)
            let result = download.run(for: .seconds(20))
            total += result.bitsPerSecond / 8
            timeouts += Int(result.accounts.timeouts)
            print(loss, roundTrip, seed, result.bitsPerSecond / 1e6, result.accounts)
        }
        print("mean", loss, total / 1e6, timeouts)
        #expect(total > least, "\(total / 1e6) Mbit/s, \(timeouts) timeouts")
    }
}
