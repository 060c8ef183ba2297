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
    var healthSentence: String {
        let id = plan.active.id
        guard let group = desk?.groups[id] else { return sentence(id) }
        guard let first = group.choice.order.first else {
            return "\(id) is red: none of its upstreams gets through: \(group.options.members.joined(separator: ", "))"
        }
        let member = group.options.members[first]
        return "\(id) goes by \(member): " + sentence(member)
    }

    private func sentence(_ profile: String) -> String {
        let report = seen(profile)
        let change = HealthChange(
            former: report.colour, colour: report.colour, cause: report.cause, note: report.note)
        return change.sentence(profile)
    }
}
