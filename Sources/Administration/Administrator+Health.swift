/// What follows from upstreams' health: what is told, and what is changed.

import Addresses
import Bytes
import Control
import Devices
import Gateway
import Health
import LinuxIO
import Profiles
import Upstreams

extension Administrator {
    /// What decides now: the plan, who has which profile, and which members of groups are asked.
    func routing() -> RoutingSettings {
        var routing = plan.routing(deviceSettings())
        guard let desk else { return routing }
        for (id, group) in desk.groups {
            guard let position = plan.position(of: id), let members = routing.profiles[position].group?.members,
                members.count == group.options.members.count
            else { continue }
            routing.profiles[position].group?.order = group.choice.order.map { members[$0] }
        }
        return routing
    }

    /// Has the desk know who is in use now.
    mutating func followHealth(_ gateway: inout Gateway) {
        desk?.follow(plan, gateway, at: Clock.now())
    }

    /// Does what is due about health.
    mutating func tendHealth(_ gateway: inout Gateway) {
        let now = Clock.now()
        guard let seen = desk?.follow(waysAround: gateway.waysAround, active: plan.active.id, at: now),
            let news = desk?.tend(at: now)
        else { return }
        tell(seen + news, &gateway)
    }

    /// Takes what probes have found, and answers those who wait for it.
    mutating func collectProbes(_ gateway: inout Gateway) {
        let trials = page.trials
        guard let (news, asked) = desk?.collect(at: Clock.now(), { trials[$0] != nil }) else { return }
        tell(news, &gateway)
        for result in asked { answerQuestions(result, &gateway) }
    }

    /// Takes what users' streams have shown.
    mutating func heedTraffic(_ gateway: inout Gateway) {
        let now = Clock.now()
        if let news = desk?.heed(at: now) { tell(news, &gateway) }
        for refusal in gateway.takeRefusals() { note(refusal, now, &gateway) }
    }

    /// After a change of the network: nothing that was known of the way out has to be true any more.
    mutating func follow(_ monitor: borrowing NetworkMonitor?, _ gateway: inout Gateway) {
        guard monitor != nil, !monitor.value.changes().isDisjoint(with: [.links, .addresses, .routes]),
            let news = desk?.lookAtUplink(at: Clock.now())
        else { return }
        tell(news, &gateway)
    }

    // MARK: Telling

    /// Tells everybody, and does what follows.
    mutating func tell(_ news: [HealthNews], _ gateway: inout Gateway) {
        var choosesAnew = false
        for one in news {
            switch one {
            case .health(let profile, let change):
                if let seen = change.seen(beside: desk?.wayAround) { tell(seen, of: profile, &gateway) }
                judge(change, of: profile, &gateway)
            case .seen(let profile, let change): tell(change, of: profile, &gateway)
            case .group(let profile, let change, let members): tell(change, of: profile, members, &gateway)
            case .reordered: choosesAnew = true
            case .gaveUp(let profile): giveUp(profile, &gateway)
            }
        }
        if choosesAnew { chooseAnew(&gateway) }
    }

    private mutating func tell(_ change: HealthChange, of profile: String, _ gateway: inout Gateway) {
        let sentence = change.sentence(profile)
        gateway.say(change.colour == .red ? .warning : .notice, "health") { line in
            line.add("profile", profile)
            line.add("colour", change.colour.rawValue)
            line.add("was", change.former.rawValue)
            if let cause = change.cause { line.add("cause", cause.word) }
            line.add("what", sentence)
        }
        publish(
            .health,
            [
                "profile": .string(profile), "colour": .string(change.colour.rawValue),
                "was": .string(change.former.rawValue), "cause": Self.json(change.cause, profile),
                "note": change.note.map(JSON.string) ?? .null, "text": .string(sentence),
            ])
    }

    private mutating func tell(
        _ change: GroupChange, of profile: String, _ members: [String], _ gateway: inout Gateway
    ) {
        let sentence = change.sentence(profile, members: members)
        let chosen = change.now.map { members[$0] }
        gateway.say(change.now.isEmpty ? .warning : .notice, "group") { line in
            line.add("profile", profile)
            line.add("chosen", chosen.joined(separator: ","))
            line.add("what", sentence)
        }
        publish(
            .group,
            [
                "profile": .string(profile), "chosen": .strings(chosen),
                "was": .strings(change.former.map { members[$0] }), "cause": Self.json(change.cause, profile),
                "text": .string(sentence),
            ])
    }

    /// Has new streams go to other members of groups; those of members that are gone are reset.
    private mutating func chooseAnew(_ gateway: inout Gateway) {
        do throws(GatewayError) {
            _ = try gateway.switchTo(routing(), drain: .seconds(2))
        } catch {
            gateway.say(.error, "group") { $0.add("refused", "\(error)") }
        }
    }

    /// Ends the assignments to an upstream that has been red for too long.
    private mutating func giveUp(_ profile: String, _ gateway: inout Gateway) {
        guard profile != plan.active.id else { return }
        var state = plan.lab
        // What somebody has given for good stays, unless the profile itself came with a link or a push.
        let isLeaving = { (one: Assignment) in one.profile == profile && (one.until != nil || plan.isStored(profile)) }
        let leaving = state.assignments.filter(isLeaving)
        guard !leaving.isEmpty else { return }
        state.assignments.removeAll(where: isLeaving)
        let labels = leaving.map { devices.device($0.device).label }
        let summary = "\(labels.joined(separator: ", ")) left \(profile), which has been red for too long"
        do throws(ControlError) {
            let note = LabStore.Note(by: "starshipd", how: "give up", summary: summary)
            _ = try change(to: state, note, drain: .zero, &gateway)
            publish(.device, ["devices": .strings(labels), "left": .string(profile), "text": .string(summary)])
        } catch {
            gateway.say(.error, "give-up") { $0.add("cause", "\(error)") }
        }
    }

    private mutating func note(_ refusal: CertificateRefusal, _ now: Instant, _ gateway: inout Gateway) {
        let device = (try? devices.find("\(refusal.device)"))?.label ?? "\(refusal.device)"
        guard refusals.note(device: device, host: refusal.host, at: now) else { return }
        let sentence = CertificateRefusals.sentence(device: device, host: refusal.host)
        gateway.say(.warning, "certificate") { line in
            line.add("device", device)
            line.add("host", refusal.host)
            line.add("profile", refusal.profile)
            line.add("what", sentence)
        }
        publish(
            .certificate,
            [
                "device": .string(device), "host": .string(refusal.host), "profile": .string(refusal.profile),
                "text": .string(sentence),
            ])
    }

    /// Keeps an event for everybody who listens; it leaves with the next turn of the loop.
    mutating func publish(_ kind: ControlEvent.Kind, _ members: KeyValuePairs<String, JSON>) {
        var data: [JSON.Member] = [JSON.Member("at", .integer(Int(Clock.unixTime().seconds)))]
        for (name, value) in members { data.append(JSON.Member(name, value)) }
        outbox.append(ControlEvent(kind, .object(data)))
    }
}
