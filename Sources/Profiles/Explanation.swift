/// # Why a flow goes where it goes
///
/// `starshipd explain` asks the same rules that the gateway asks, in the same order, and says at each step what
/// was found: what a device is answered when it asks for the name, who knows the name when the flow arrives, which
/// rule decides, and what is done then. Nothing is resolved and nothing is sent.

internal import Addresses
internal import Routing

/// What becomes of a flow, in lines for people.
public struct Explanation: Equatable, Sendable, CustomStringConvertible {
    /// A word for the step, and what was found.
    public struct Row: Equatable, Sendable {
        public var key: String
        public var text: String
    }

    public private(set) var rows: [Row] = []

    /// The text behind a word.
    public subscript(_ key: String) -> String? { rows.first { $0.key == key }?.text }

    mutating func add(_ key: String, _ text: String) { rows.append(Row(key: key, text: text)) }

    public var description: String {
        rows.map { $0.key + String(repeating: " ", count: max(1, 10 - $0.key.utf8.count)) + $0.text + "\n" }.joined()
    }
}

extension ResolvedConfiguration {
    /// Explains a flow; `interface` is the one that the device is on, where that is known.
    public func explain(_ question: Question, on interface: String? = nil) -> Explanation {
        let lan = configuration.network.lan.first { $0.interface == interface }
        let profile = lan?.profile.flatMap(configuration.profile) ?? configuration.activeProfile
        var explanation = Explanation()
        explanation.add("flow", question.words)
        explanation.add(
            "profile", "\(profile.id), " + (lan?.profile == nil ? "active" : "of the devices on \(interface ?? "")"))
        explanation.add("mode", modeWords(of: profile))
        explanation.add("capture", Self.words(capture(of: profile.id), with: profile.routes.capture))
        let dns = question.name.map { nameAnswer($0, for: question.source, profile: profile) }
        if let dns { explanation.add("dns", Self.words(dns.answer, dns: configuration.dns) + ": " + dns.because) }
        explanation.add("name", nameSource(question, profile, dns?.answer))
        let course = course(of: question, profile)
        explanation.add("rule", course.reason)
        if let doubt = doubt(about: question, profile) { explanation.add("but", doubt) }
        explanation.add("outbound", words(for: course.verdict, question, profile, dns?.answer))
        return explanation
    }

    private func modeWords(of profile: Profile) -> String {
        let count = profile.routes.domains.count
        switch rules(of: profile.id).mode {
        case .domain: return "domain: \(count) \(count == 1 ? "entry" : "entries") in domains"
        case .global: return "global: domains is empty"
        }
    }

    // MARK: Who knows the name

    private func nameSource(_ question: Question, _ profile: Profile, _ answer: NameAnswer?) -> String {
        let sniffed = sniffWords(question, profile)
        guard question.name != nil else {
            return sniffed.map { "none, the address is all that is known; \($0)" }
                ?? "none: the address is all that is known"
        }
        switch answer {
        case .fake: return "the fake address, which stands for it"
        case .real where !isCaptured(profile): return "nobody needs it: the flow is not in the TUN device"
        case .real: return "the answer that the device was given"
        case .gateway: return "the gateway itself"
        case .nonexistent, .empty: return "nobody: the device gets no address"
        case .unserved, nil:
            return sniffed ?? "a SOCKS5 or HTTP client alone; in the TUN device nobody"
        }
    }

    /// What sniffing would add; nil: nothing.
    private func sniffWords(_ question: Question, _ profile: Profile) -> String? {
        let ports = configuration.limits.sniffPorts
        guard profile.routes.sniff != .off, question.network == .tcp, configuration.tunnel != nil else { return nil }
        if let port = question.port, !ports.contains(port) { return nil }
        let query = RouteQuery(
            address: question.address, port: question.port, source: question.source, network: question.network)
        guard profile.routes.sniff == .always || rules(of: profile.id).nameMatters(query) else { return nil }
        let place = question.port == nil ? ", on ports " + ports.map(String.init).joined(separator: " ") : ""
        return "SNI or Host is read for it" + place
    }

    // MARK: What decides

    /// The rule's answer, or that of what stands before the rules.
    private func course(of question: Question, _ profile: Profile) -> (verdict: Verdict, reason: String) {
        if let address = question.address, let owner = upstreamOwner(of: address) {
            return (.direct, "none: the machine of \(owner)'s upstream is always direct")
        }
        if question.port == 853, configuration.phones.dot == .refuse {
            return (.reject, "none: phones.dot \"refuse\"")
        }
        if question.network == .udp, let exception = datagramException(question.port) { return exception }
        let query = RouteQuery(
            name: question.name, address: question.address, port: question.port, source: question.source,
            network: question.network)
        let decision = rules(of: profile.id).decide(query)
        if let origin = decision.origin { return (decision.verdict, "\(origin)") }
        let mode = rules(of: profile.id).mode
        let list = mode == .global ? "global mode proxies the rest" : "domain mode leaves the rest alone"
        return (decision.verdict, "none matches: \(list)")
    }

    private func datagramException(_ port: UInt16?) -> (Verdict, String)? {
        let phones = configuration.phones
        switch port {
        case 53 where configuration.dns.mode != .off: return (.direct, "none: port 53 is the gateway's name service")
        case 123 where phones.ntp: return (.direct, "none: phones.ntp")
        case 500 where phones.ike, 4500 where phones.ike: return (.direct, "none: phones.ike")
        default: return nil
        }
    }

    /// The profile whose upstream stands at this address.
    private func upstreamOwner(of address: IPAddress) -> String? {
        configuration.profiles.first { $0.upstream.server?.host == .address(address) }?.id
    }

    /// What the question leaves open that rules look at.
    private func doubt(about question: Question, _ profile: Profile) -> String? {
        guard let name = question.name, question.port == nil || question.source == nil,
            case .open = rules(of: profile.id).verdict(forName: name, device: question.source)
        else { return nil }
        var missing: [String] = []
        if question.port == nil { missing.append("the port") }
        if question.source == nil { missing.append("the device (--from)") }
        return "an earlier rule looks at " + missing.joined(separator: " or ")
    }

    // MARK: What is done

    private func isCaptured(_ profile: Profile) -> Bool {
        if case .all = capture(of: profile.id) { true } else { false }
    }

    private func words(
        for verdict: Verdict, _ question: Question, _ profile: Profile, _ answer: NameAnswer?
    ) -> String {
        switch verdict {
        case .reject: return "refused: " + (question.network == .tcp ? "RST" : "port unreachable")
        case .proxy, .profile:
            let id = if case .profile(let other) = verdict { other } else { profile.id }
            guard question.network == .tcp else {
                return profile.routes.udp == .reject
                    ? "refused: port unreachable, as upstreams take no datagrams"
                    : "direct: the gateway sends the datagram itself (udp \"direct\")"
            }
            return "the upstream of \(id): \(configuration.profile(id)?.upstream.summary ?? "gone")"
        case .direct:
            if case .profile(let id) = configuration.egress, question.network == .tcp {
                return "egress, the upstream of \(id): \(configuration.profile(id)?.upstream.summary ?? "gone")"
            }
            let isInTunnel = isCaptured(profile) || answer == .fake
            return isInTunnel ? "direct, dialled by the gateway" : "direct, forwarded by the kernel"
        }
    }
}

extension Question {
    /// The flow in one line.
    fileprivate var words: String {
        var text = name ?? address.map(\.description) ?? ""
        if let port, let address { text = SocketAddress(address, port).description }
        if let port, address == nil { text += ":\(port)" }
        text += ", " + (network == .tcp ? "TCP" : "UDP")
        if let source { text += ", from \(source)" }
        return text
    }
}
