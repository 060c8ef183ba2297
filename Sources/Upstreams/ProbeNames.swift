/// Names that probes wait for.
///
/// The system's resolver blocks, for half a minute when its servers are gone. So each name is asked by a thread of its
/// own: one that does not resolve delays no other. Probes that want the same name wait together.

import Addresses
import Bytes
import LinuxIO

struct ProbeNames {
    /// An answer, and who has waited for it.
    struct Answer {
        var askers: [Handle]
        var result: Result<[IPAddress], ResolutionError>
    }

    private struct Key: Hashable {
        var name: String
        var isTarget: Bool
    }

    private struct Question {
        var askers: [Handle]
        var since: Instant
        /// Nil where somebody else was asked.
        var resolver: NameResolver?
    }

    /// Names that are asked for at a time.
    private static let limit = 64
    /// A question that is as old is asked again: its answer may never come.
    private static let patience = Interval.seconds(60)

    private let desk: ProbeDesk
    private let targetResolver: TargetResolver?
    private var questions: [Key: Question] = [:]

    init(_ desk: ProbeDesk, _ targetResolver: TargetResolver?) {
        self.desk = desk
        self.targetResolver = targetResolver
    }

    /// Asks for a name's addresses; false when that can't be done.
    mutating func ask(_ name: String, isTarget: Bool, for asker: Handle, at now: Instant) -> Bool {
        let key = Key(name: name, isTarget: isTarget && targetResolver != nil)
        if questions[key].map({ now - $0.since < Self.patience }) ?? false {
            questions[key]?.askers.append(asker)
            return true
        }
        if questions.count >= Self.limit { questions = questions.filter { now - $0.value.since < Self.patience } }
        guard questions.count < Self.limit else { return false }
        var question = Question(askers: [asker], since: now)
        if key.isTarget, let targetResolver {
            guard targetResolver(name, 0, { [desk] in desk.answer($0) }) else { return false }
        } else {
            guard let resolver = try? NameResolver(wakeUp: desk.requestBell, threads: 1, capacity: 1),
                resolver.resolve(name, ticket: 0)
            else { return false }
            question.resolver = resolver
        }
        questions[key] = question
        return true
    }

    /// The answers that have come, those of the targets' resolver among them.
    mutating func answers(and resolutions: [Resolution]) -> [Answer] {
        var answers: [Answer] = []
        for (key, question) in questions {
            guard let resolution = question.resolver?.nextResult() else { continue }
            questions[key] = nil
            answers.append(Answer(askers: question.askers, result: resolution.result))
        }
        for resolution in resolutions {
            let key = Key(name: resolution.name, isTarget: true)
            guard let question = questions.removeValue(forKey: key) else { continue }
            answers.append(Answer(askers: question.askers, result: resolution.result))
        }
        return answers
    }
}
