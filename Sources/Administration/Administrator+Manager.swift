/// What the service manager shows of the service: one sentence about the active profile's upstream.

import Bytes
import Health
import LinuxIO
import Profiles

extension Administrator {
    /// Tells the manager, if it is something else than before.
    mutating func tellManager(_ manager: ServiceManager?) {
        guard let manager else { return }
        let sentence = healthSentence
        guard sentence != toldManager else { return }
        toldManager = sentence
        manager.say(.status(sentence))
    }

    /// How the active profile's upstream is, and why: `whistle-qa is red: nobody listens at the port of whistle-qa: …`.
    private var healthSentence: String {
        let id = plan.active.id
        guard let group = desk?.groups[id] else { return Self.sentence(id, desk?.watched[id]) }
        guard let first = group.choice.order.first else {
            return "\(id) is red: none of its upstreams gets through: \(group.options.members.joined(separator: ", "))"
        }
        let member = group.options.members[first]
        return "\(id) goes by \(member): " + Self.sentence(member, desk?.watched[member])
    }

    private static func sentence(_ profile: String, _ one: Watched?) -> String {
        guard let report = one?.health.report else {
            return HealthChange(former: .grey, colour: .grey, cause: .neverTried, note: nil).sentence(profile)
        }
        let change = HealthChange(
            former: report.colour, colour: report.colour, cause: report.cause, note: report.note)
        return change.sentence(profile)
    }
}
