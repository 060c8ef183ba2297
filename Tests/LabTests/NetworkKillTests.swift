/// Killed at any moment: the next start works, and what is left can be cleaned up (B190).

import Foundation
import TestSupport
import Testing

extension LabTests {
    @Suite("killed at any moment", .enabled(if: RouteLab.isPossible))
    struct NetworkKillTests {
        enum Phase: CaseIterable { case start, change, end }

        /// The program, whose next moment is somewhere in one of its phases.
        private func reach(
            _ phase: Phase, _ routes: RouteLab, _ settings: Daemon.Settings, _ random: inout SeededGenerator
        ) throws -> LabProgram {
            let program = try Daemon.launch(routes.lab, settings)
            guard phase != .start else {
                usleep(UInt32.random(in: 0..<400_000, using: &random))
                return program
            }
            try program.waitFor("event=ready", within: 60)
            if phase == .change {
                try Daemon.write(routes.settings(), routes.lab)
                program.signal(.hangUp)
            } else {
                program.signal(.terminate)
            }
            usleep(UInt32.random(in: 0..<200_000, using: &random))
            return program
        }

        @Test("B190: after kill -9 in a start, a switch or a stop the next start works, and cleanup leaves nothing")
        func killedAtRandom() throws {
            let seed = UInt64.random(in: 1...UInt64(UInt32.max))
            var random = SeededGenerator(seed: seed)
            let routes = try RouteLab()
            let before = try routes.listing()
            let end = Date(timeIntervalSinceNow: 40)
            var rounds = 0
            while rounds < 20, Date() < end || rounds < 6 {
                let phase = Phase.allCases[rounds % 3]
                try reach(phase, routes, routes.settings("web.example"), &random).end(.kill)
                if rounds % 2 == 0 {
                    let cleanup = try routes.lab.run(.gateway, ["\(Lab.binaries)/starshipd", "cleanup"])
                    #expect(cleanup.status == 0, "seed \(seed), round \(rounds), \(phase): \(cleanup.errors)")
                    let after = try routes.listing()
                    let differences = after.split(separator: "\n").difference(from: before.split(separator: "\n"))
                    #expect(differences.isEmpty, "seed \(seed), round \(rounds), \(phase): \(differences)")
                }
                rounds += 1
            }
            // Over what the last of them has left.
            let daemon = try routes.start(routes.settings("web.example"))
            #expect(try routes.page("web.example") == "\(RouteLab.proxied) web.example", "seed \(seed)")
            #expect(try daemon.stop() == 0)
            let differences = try routes.listing().split(separator: "\n").difference(
                from: before.split(separator: "\n"))
            #expect(differences.isEmpty, "seed \(seed): \(differences)")
        }
    }
}
