/// Thousands of seeded conversations over a link that does everything to packets.
import TestSupport
import Testing

@Suite struct SimulationTests {
    @Test func everyStreamArrivesWholeAndBothSidesEnd() {
        var problems = 0
        for seed in LongRun.seeds(300, long: 10_000) {
            var simulation = Simulation(seed: seed)
            if let problem = simulation.run() {
                Issue.record("seed \(seed): \(problem)")
                problems += 1
                if problems == 5 { return }
            }
        }
    }
}
