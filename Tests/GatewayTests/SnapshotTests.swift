/// The snapshot that SIGUSR1 prints.

import Foundation
import Testing

@testable import Gateway

@Suite("Snapshot")
struct SnapshotTests {
    private func parse(_ text: String) throws -> [String: Any] {
        let object = try JSONSerialization.jsonObject(with: Data(text.utf8))
        return try #require(object as? [String: Any])
    }

    private func report(_ worker: Int, _ change: (inout WorkerReport, inout Counters) -> Void) -> WorkerReport {
        var counters = Counters()
        var tally = FlowTally()
        tally.ended[.init(inbound: "tun", outbound: "none", reason: "refused")] = worker + 1
        var report = WorkerReport(worker: worker, counters: counters, tally: tally)
        change(&report, &counters)
        var result = WorkerReport(worker: worker, counters: counters, tally: report.tally)
        result.flows = report.flows
        result.halfOpen = report.halfOpen
        result.chunksUsed = report.chunksUsed
        result.states = report.states
        return result
    }

    @Test func reportsOfAllWorkersAreAddedUp() throws {
        let reports = [
            report(0) { report, counters in
                report.flows = 3
                report.chunksUsed = 2
                report.states = ["open": 2, "dialling": 1]
                counters.packetsRead = 10
            },
            report(1) { report, counters in
                report.flows = 4
                report.halfOpen = 1
                report.states = ["open": 4]
                counters.packetsRead = 5
                counters.droppedChecksum = 1
            },
        ]
        let text = Snapshot.json(reports, profile: "qa", descriptors: 17, residentKiB: 9000)
        let object = try parse(text)
        #expect(!text.contains("\n"))
        #expect(object["event"] as? String == "snapshot")
        #expect(object["profile"] as? String == "qa")
        #expect(object["workers"] as? Int == 2)
        #expect(object["flows"] as? Int == 7)
        #expect(object["half_open"] as? Int == 1)
        #expect(object["descriptors"] as? Int == 17)
        #expect(object["resident_kib"] as? Int == 9000)
        // Two chunks of 16 KiB.
        #expect(object["buffer_bytes_used"] as? Int == 32768)
        #expect(object["states"] as? [String: Int] == ["open": 6, "dialling": 1])
        #expect(object["reasons"] as? [String: Int] == ["refused": 3])
        let counters = try #require(object["counters"] as? [String: Int])
        #expect(counters["packets_read"] == 15)
        #expect(counters["dropped_checksum"] == 1)
        #expect(counters.count == Counters().named.count)
    }

    @Test func nobodyToReportIsStillAnObject() throws {
        let object = try parse(Snapshot.json([], profile: "", descriptors: 0, residentKiB: 0))
        #expect(object["flows"] as? Int == 0)
    }

    @Test(
        "whatever a profile is called, the snapshot is JSON",
        arguments: ["plain", #"quo"te"#, #"back\slash"#, "line\nbreak", "\u{0}\u{1}\u{1f}", "käse 🧀", "</script>"])
    func names(_ profile: String) throws {
        let object = try parse(Snapshot.json([], profile: profile, descriptors: 0, residentKiB: 0))
        #expect(object["profile"] as? String == profile)
    }

    @Test func everyCounterHasItsOwnName() {
        let names = Counters().named.map(\.name)
        #expect(Set(names).count == names.count)
        #expect(names.count == Mirror(reflecting: Counters()).children.count, "a counter that nobody sees")
    }
}
