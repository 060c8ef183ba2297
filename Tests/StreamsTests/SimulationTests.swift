/// Thousands of seeded conversations over a link that does everything to packets.
import TestSupport
import Testing

@Suite struct SimulationTests {
    @Test func everyStreamArrivesWholeAndBothSidesEnd() {
        for seed in 1...UInt64(LongRun.rounds(300, long: 10_000)) {
            var simulation = Simulation(seed: seed)
            if let problem = simulation.run() {
                Issue.record("seed \(seed): \(problem)")
                return
            }
        }
    }
}
