/// Leaving tests out, with the reason.

import Testing

/// Leaves a test or suite out where something is in its way, and says what.
///
/// What a condition's comment says is settled before anybody asks for the test; finding an obstacle may take minutes,
/// so it is looked for when the test is about to run.
struct ObstacleTrait: TestTrait, SuiteTrait {
    let obstacle: @Sendable () -> String?
    let sourceLocation: SourceLocation

    let isRecursive = true

    func prepare(for test: Test) async throws {
        let obstacle = obstacle()
        let comment = obstacle.map { Comment(rawValue: $0) }
        try await ConditionTrait.enabled(if: obstacle == nil, comment, sourceLocation: sourceLocation).prepare(
            for: test)
    }
}

extension Trait where Self == ObstacleTrait {
    static func unless(
        _ obstacle: @autoclosure @escaping @Sendable () -> String?, sourceLocation: SourceLocation = #_sourceLocation
    ) -> Self {
        ObstacleTrait(obstacle: obstacle, sourceLocation: sourceLocation)
    }
}
