/// Looking: open flows, what would become of one, and the description of all this.

import Addresses
import Bytes
import Control
import Devices
import Gateway
import LinuxIO
import Network
import Profiles
import Routing

extension Administrator {
    func flows(_ question: ControlCall.FlowQuestion, _ gateway: inout Gateway) throws(ControlError) -> ControlAnswer {
        var filter = FlowFilter(profile: question.profile, limit: question.limit)
        if let profile = question.profile { try checkProfile(profile) }
        if let text = question.device { filter.devices = Set(devices.device(try find(text)).addresses) }
        let list = gateway.flows(matching: filter)
        return ControlAnswer(
            .members(["flows": .array(list.flows.map(json)), "total": .integer(list.total)]))
    }

    private func json(_ flow: FlowSummary) -> JSON {
        .members([
            "device": .string(label(of: flow.client.address)), "client": .string(flow.client.description),
            "target": .string(flow.target), "name": flow.name.map(JSON.string), "profile": .string(flow.profile),
            "upstream": .string(flow.upstream), "rule": flow.rule.map(JSON.string), "state": .string(flow.state),
            "up": .integer(Int(clamping: flow.up)), "down": .integer(Int(clamping: flow.down)),
            "ms": .integer(Int(flow.age.milliseconds)),
        ])
    }

    func label(of address: IPAddress) -> String {
        devices.identity(at: address).map { devices.device($0).label } ?? address.description
    }

    func explain(_ question: ControlCall.Explained) throws(ControlError) -> ControlAnswer {
        var source: String?
        if let text = question.device {
            let identity = try find(text)
            source = devices.device(identity).addresses.first?.description
        }
        let host = question.host.contains(":") && question.port != nil ? "[\(question.host)]" : question.host
        let asked = question.port.map { "\(host):\($0)" } ?? question.host
        let explanation = try explain(asked, from: source, isUDP: question.isUDP)
        return ControlAnswer(
            .members([
                "text": .string(explanation.description),
                "rows": .array(explanation.rows.map { .members(["key": .string($0.key), "text": .string($0.text)]) }),
            ]))
    }

    func explain(_ text: String, from source: String?, isUDP: Bool) throws(ControlError) -> Explanation {
        let question: Question
        do throws(UsageError) {
            question = try Question(text, from: source, isUDP: isUDP)
        } catch {
            throw ControlError(.badRequest, "host: \(error)", path: "host")
        }
        do throws(StartupError) {
            return try Explain.answer(
                question, plan.resolved, besides: options.configuration, profile: profile(of: source),
                lists: lists(of: source))
        } catch {
            throw ControlError(.unavailable, "\(error)")
        }
    }

    private func profile(of source: String?) -> String? {
        guard let source, let address = IPAddress(parsing: source), let identity = devices.identity(at: address) else {
            return nil
        }
        let choice = profileRules.choice(for: devices.device(identity))
        guard choice.isOwn, case .profile(let id) = choice.route else { return nil }
        return id
    }

    private func lists(of source: String?) -> DeviceRules? {
        guard let source, let address = IPAddress(parsing: source), let identity = devices.identity(at: address) else {
            return nil
        }
        return lists(of: devices.device(identity))
    }

    /// What is wanted of the machine's network, for whoever compares it with what there is.
    func network(_ gateway: borrowing Gateway) -> ControlAnswer {
        let intent = gateway.networkIntent
        return ControlAnswer(
            .members([
                "plan": intent.plan.map { .strings($0.lines) } ?? .null,
                "firewall": intent.firewall.map(JSON.string) ?? .null,
            ]))
    }

    /// The OpenAPI description, from beside the configuration or where the package puts it.
    func describe() throws(ControlError) -> ControlAnswer {
        let places = [
            ConfigurationFile.path(of: "openapi.json", besides: options.configuration),
            "/usr/share/starship/openapi.json",
        ]
        for place in places {
            guard let bytes = try? SmallFile.read(place, limit: 1 << 20) else { continue }
            return ControlAnswer(document: String(decoding: bytes, as: UTF8.self), type: "application/json")
        }
        throw ControlError(.notFound, "the description is not installed: neither \(places.joined(separator: " nor "))")
    }
}
