/// Why a phone gets nothing: its path from the LAN to the answer, one step after the other, up to the first broken one.

import Addresses
import Bytes
import Control
import Devices
import Gateway
import LinuxIO
import Profiles

/// One step of a device's path.
private struct Step {
    var name: String
    /// Nil where nothing can be said.
    var isOK: Bool?
    var evidence: String

    var json: JSON {
        .members([
            "step": .string(name), "ok": isOK.map(JSON.boolean) ?? .null, "evidence": .string(evidence),
        ])
    }
}

/// What is looked at.
private struct Evidence {
    var device: Device
    var activity = DeviceActivity()
    var lastQuestion: Instant?
    var insists: [String] = []
    var now = Clock.now()

    func ago(_ time: Instant) -> String { "\(max(0, (now - time).milliseconds / 1000)) s ago" }
}

extension Administrator {
    mutating func why(_ text: String, _ host: String?, _ gateway: inout Gateway) throws(ControlError) -> ControlAnswer {
        hear(gateway.activities())
        let identity = try find(text)
        var evidence = Evidence(device: devices.device(identity))
        let activities = gateway.activities()
        for address in evidence.device.addresses {
            if let activity = activities[address] { evidence.activity.join(activity) }
            if let asked = gateway.lastQuestion(of: address) {
                evidence.lastQuestion = max(asked, evidence.lastQuestion ?? asked)
            }
        }
        let insists = gateway.status().insists
        evidence.insists = insists.filter { words in
            evidence.device.addresses.contains { words.hasPrefix("\($0) ") }
        }
        var steps: [Step] = []
        for step in try path(of: evidence, to: host, gateway) {
            steps.append(step)
            if step.isOK == false { break }
        }
        let broken = steps.last { $0.isOK == false }
        let verdict = broken.map { "\($0.name): \($0.evidence)" } ?? "nothing is wrong as far as can be seen from here"
        return ControlAnswer(.members(["steps": .array(steps.map(\.json)), "verdict": .string(verdict)]))
    }

    private func path(
        of evidence: Evidence, to host: String?, _ gateway: borrowing Gateway
    ) throws(ControlError) -> [Step] {
        let choice = profileRules.choice(for: evidence.device)
        var steps = [seen(evidence), asksUs(evidence), usesUs(evidence), ipv6(evidence)]
        steps.append(Step(name: "profile", isOK: choice.route != .block, evidence: words(choice)))
        if let host { steps.append(try rule(host, evidence)) }
        guard case .profile(let id) = choice.route else { return steps }
        steps.append(upstream(id, gateway))
        steps.append(lastConnect(evidence))
        steps.append(certificate(evidence))
        steps.append(bytesBack(evidence))
        return steps
    }

    private func seen(_ evidence: Evidence) -> Step {
        let device = evidence.device
        guard let seen = device.seen else {
            return Step(
                name: "seen on the LAN", isOK: false,
                evidence: "no neighbour entry for \(device.label): is it on this Wi-Fi, and its address one of ours?")
        }
        let addresses = device.addresses.map(\.description).joined(separator: ", ")
        let age = max(0, Clock.unixTime().seconds - seen)
        return Step(
            name: "seen on the LAN", isOK: true,
            evidence: "\(device.interface ?? "-"), \(addresses.isEmpty ? "no address" : addresses), \(age) s ago")
    }

    private func asksUs(_ evidence: Evidence) -> Step {
        if running.dns.mode == .off { return Step(name: "asks our DNS", isOK: nil, evidence: "dns.mode is off") }
        if let insists = evidence.insists.first {
            return Step(name: "asks our DNS", isOK: false, evidence: insists)
        }
        guard let last = evidence.lastQuestion else {
            return Step(
                name: "asks our DNS", isOK: nil, evidence: "it has not asked since the start: open any page on it")
        }
        return Step(name: "asks our DNS", isOK: true, evidence: "last question \(evidence.ago(last))")
    }

    private func usesUs(_ evidence: Evidence) -> Step {
        guard let last = evidence.activity.lastOpened else {
            return Step(
                name: "uses our route", isOK: nil,
                evidence: "no connection of its has come into the tunnel since the start")
        }
        return Step(
            name: "uses our route", isOK: true, evidence: "last connection into the tunnel \(evidence.ago(last))")
    }

    private func ipv6(_ evidence: Evidence) -> Step {
        let own = evidence.device.addresses.filter { !$0.isIPv4 && !$0.isLinkLocal }
        if own.isEmpty { return Step(name: "IPv6", isOK: true, evidence: "it has no address that leads around us") }
        let isCarried = plan.effective.configuration.ipv6
        return Step(
            name: "IPv6", isOK: isCarried ? true : nil,
            evidence: "it has \(own[0])"
                + (isCarried ? ", which is carried" : ", and ipv6 is false: it is refused at once"))
    }

    private func words(_ choice: ProfileChoice) -> String {
        let route =
            switch choice.route {
            case .profile(let id): id
            case .direct: "none, goes direct"
            case .block: "none, blocked"
            }
        let reason =
            switch choice.reason {
            case .assignment: "assigned to it"
            case .file: "given to it by the file"
            case .interface: "its interface's"
            case .default: "the gateway's default"
            case .new: "newDevices: nobody has named it"
            case .unheard: PeerDesk.waitWords
            }
        return "\(route) (\(reason))"
    }

    private func rule(_ host: String, _ evidence: Evidence) throws(ControlError) -> Step {
        let source = evidence.device.addresses.first?.description
        let explanation = try explain(host, from: source, isUDP: false)
        let outbound = explanation["outbound"] ?? "-"
        return Step(
            name: "rule", isOK: outbound.hasPrefix("refused") ? false : true,
            evidence: "\(host): \(explanation["rule"] ?? "-"), \(outbound)")
    }

    private func upstream(_ id: String, _ gateway: borrowing Gateway) -> Step {
        guard let profile = plan.effective.configuration.profile(id), let position = plan.position(of: id) else {
            return Step(name: "upstream", isOK: nil, evidence: "\(id) is not there")
        }
        switch gateway.condition(ofProfile: position) {
        case .ok: return Step(name: "upstream", isOK: true, evidence: "\(profile.upstream.words) answers")
        case .unknown:
            return Step(name: "upstream", isOK: nil, evidence: "\(profile.upstream.words), which nobody has used yet")
        case .lost:
            return Step(name: "upstream", isOK: false, evidence: "\(profile.upstream.words) has failed twice in a row")
        case .credentialsRejected:
            return Step(
                name: "upstream", isOK: false, evidence: "\(profile.upstream.words) has rejected the credentials")
        }
    }

    private func lastConnect(_ evidence: Evidence) -> Step {
        let activity = evidence.activity
        if let failure = activity.lastFailure, failure.at > activity.lastAccepted ?? Instant(nanoseconds: 0) {
            return Step(
                name: "last connection", isOK: false,
                evidence: "\(failure.target), \(evidence.ago(failure.at)): \(failure.words)")
        }
        guard let accepted = activity.lastAccepted else {
            return Step(name: "last connection", isOK: nil, evidence: "none yet")
        }
        return Step(name: "last connection", isOK: true, evidence: "accepted \(evidence.ago(accepted))")
    }

    private func certificate(_ evidence: Evidence) -> Step {
        guard let refused = evidence.activity.lastCertificateRefused else {
            return Step(name: "certificate", isOK: true, evidence: "none was refused")
        }
        return Step(
            name: "certificate", isOK: false,
            evidence: "it refused the one for \(refused.target) \(evidence.ago(refused.at)): is the proxy's root"
                + " certificate installed and trusted on it?")
    }

    private func bytesBack(_ evidence: Evidence) -> Step {
        let bytes = evidence.activity.bytesDown
        if bytes > 0 { return Step(name: "bytes back", isOK: true, evidence: "\(bytes) in flows that have ended") }
        return Step(name: "bytes back", isOK: nil, evidence: "none yet, in flows that have ended")
    }
}
