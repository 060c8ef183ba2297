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
    /// Explains a flow.
    public func explain(_ question: Question, in surroundings: Surroundings = Surroundings()) -> Explanation {
        let lan = configuration.network.lan.first { $0.interface == surroundings.interface }
        let own = surroundings.profile.flatMap(configuration.profile)
        let profile = own ?? lan?.profile.flatMap(configuration.profile) ?? configuration.activeProfile
        var explanation = Explanation()
        explanation.add("flow", question.words)
        let place =
            own.map { _ in "the device's own" }
            ?? lan.flatMap { $0.profile == nil ? nil : "of the devices on \($0.interface)" }
        explanation.add("profile", "\(profile.id), \(place ?? "active")")
        explanation.add("mode", modeWords(of: profile))
        explanation.add("capture", Self.words(capture(of: profile.id), with: profile.routes.capture))
        let dns = question.name.map { nameAnswer($0, for: question.source, profile, surroundings) }
        if let dns { explanation.add("dns", words(dns.answer) + ": " + dns.because) }
        explanation.add("name", nameSource(question, profile, dns?.answer, surroundings))
        let course = course(of: question, profile, surroundings)
        let usual = outbound(course.verdict, question, profile, dns?.answer)
        let check = checkOutbound(question, profile, surroundings, rest: usual)
        explanation.add("rule", check?.reason ?? course.reason)
        if let doubt = doubt(about: question, profile, surroundings) { explanation.add("but", doubt) }
        explanation.add("outbound", check?.outbound ?? usual)
        if takesAbsoluteForm(question, profile) {
            explanation.add("form", "absolute: the proxy answers this name itself")
        }
        if let exception = exception(question, profile, course.verdict, surroundings) {
            explanation.add("unless", exception)
        }
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

    private func nameSource(
        _ question: Question, _ profile: Profile, _ answer: NameAnswer?, _ surroundings: Surroundings
    ) -> String {
        let sniffed = sniffWords(question, profile)
        guard question.name != nil else {
            // A network that the device alone has proxied is routed into the TUN device too.
            let isOwn = surroundings.lists?.decide(query(question))?.verdict == .proxy
            guard isOwn || isInTunnel(question, profile, answer) || profile.routes.capture == .addresses else {
                return "nobody needs one: the flow is not in the TUN device"
            }
            return sniffed.map { "none, the address is all that is known; \($0)" }
                ?? "none: the address is all that is known"
        }
        switch answer {
        case .fake: return "the fake address, which stands for it"
        case .real where !isInTunnel(question, profile, answer):
            return "nobody needs it: the flow is not in the TUN device"
        case .real: return "the answer that the device was given"
        case .addresses: return "nobody needs it: these addresses mean no other name"
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
        let isWanted = profile.routes.sniff == .always || profile.routes.connectName == .sni
        guard isWanted || rules(of: profile.id).nameMatters(query) else { return nil }
        let place = question.port == nil ? ", on ports " + ports.map(String.init).joined(separator: " ") : ""
        return "SNI or Host is read for it" + place
    }

    // MARK: What decides

    /// The rule's answer, or that of what stands before the rules and of what stands in where no rule matches.
    private func course(
        of question: Question, _ profile: Profile, _ surroundings: Surroundings
    ) -> (verdict: Verdict, reason: String) {
        if let settled = settled(question) { return settled }
        if let own = surroundings.lists?.decide(query(question)), let origin = own.origin {
            return (own.verdict, DeviceRules.words(origin))
        }
        let decision = rules(of: profile.id).decide(query(question))
        if decision.isByDefault, let name = question.name {
            if let list = Surroundings.list(of: name, in: surroundings.direct) { return (.direct, list) }
            if let list = Surroundings.list(of: name, in: surroundings.denied) { return (.reject, list) }
        }
        if let origin = decision.origin { return (decision.verdict, "\(origin)") }
        let isGlobal = rules(of: profile.id).mode == .global
        let rest = isGlobal ? "global mode proxies the rest" : "domain mode leaves the rest alone"
        return (decision.verdict, "none matches: \(rest)")
    }

    /// What no rule is asked about.
    func settled(_ question: Question) -> (Verdict, String)? {
        for address in [question.address, question.source] {
            guard let address, let owner = upstreamOwner(of: address) else { continue }
            return (.direct, "none: the machine of \(owner)'s upstream is always direct")
        }
        if let address = question.address, isFake(address) {
            return (.reject, "none: a fake address; only a running gateway knows which name it stands for, if any")
        }
        if let address = question.address, !address.isIPv4, !configuration.ipv6 {
            return (.reject, "none: ipv6 is false")
        }
        if question.port == 853, configuration.phones.dot == .refuse { return (.reject, "none: phones.dot \"refuse\"") }
        guard question.network == .udp, question.port == 53 else { return nil }
        return configuration.dns.mode == .off
            ? (.reject, "none: there is no name service") : (.direct, "none: this is for the name service")
    }

    /// What the question leaves open that rules look at.
    private func doubt(about question: Question, _ profile: Profile, _ surroundings: Surroundings) -> String? {
        guard let name = question.name, question.port == nil || question.source == nil,
            surroundings.lists?.decide(name: name) == nil,
            case .open = rules(of: profile.id).verdict(forName: name, device: question.source)
        else { return nil }
        var missing: [String] = []
        if question.port == nil { missing.append("the port") }
        if question.source == nil { missing.append("the device (--from)") }
        return "an earlier rule looks at " + missing.joined(separator: " or ")
    }

    /// Whether a request is of those that go to the proxy as a whole URL, whatever `http80` says.
    private func takesAbsoluteForm(_ question: Question, _ profile: Profile) -> Bool {
        guard question.network == .tcp, question.port ?? 80 == 80, settled(question) == nil else { return false }
        return rules(of: profile.id).decide(query(question)).origin?.isImplied ?? false
    }

    // MARK: What is done

    /// Whether the flow is routed into the TUN device.
    private func isInTunnel(_ question: Question, _ profile: Profile, _ answer: NameAnswer?) -> Bool {
        guard case .names(let prefixes) = capture(of: profile.id) else { return true }
        guard let address = question.address else { return answer == .fake }
        return isFake(address) || prefixes.contains { $0.contains(address) }
    }

    private func isFake(_ address: IPAddress) -> Bool {
        configuration.dns.pool.contains(address) || configuration.dns.pool6.contains(address)
    }

    private func outbound(
        _ verdict: Verdict, _ question: Question, _ profile: Profile, _ answer: NameAnswer?
    ) -> String {
        if question.network == .udp { return datagramOutbound(verdict, question, profile, answer) }
        switch verdict {
        case .reject: return "refused: RST"
        case .proxy: return "the upstream of " + upstreamWords(profile.id)
        case .profile(let id): return "the upstream of " + upstreamWords(id)
        case .direct:
            if case .profile(let id) = configuration.egress { return "egress, the upstream of " + upstreamWords(id) }
            return directWords(question, profile, answer)
        }
    }

    /// No upstream carries datagrams: what would be proxied is refused, but for a few ports, or goes direct.
    private func datagramOutbound(
        _ verdict: Verdict, _ question: Question, _ profile: Profile, _ answer: NameAnswer?
    ) -> String {
        let refused = "refused: port unreachable"
        if verdict == .reject { return refused }
        if question.port == 53 { return "the gateway's name service" }
        if verdict == .direct, configuration.egress == .direct { return directWords(question, profile, answer) }
        let phones = configuration.phones
        switch question.port {
        case 123 where phones.ntp: return "direct, dialled by the gateway: phones.ntp"
        case 500 where phones.ike, 4500 where phones.ike: return "direct, dialled by the gateway: phones.ike"
        default: break
        }
        return profile.routes.udp == .direct
            ? "direct, dialled by the gateway: udp \"direct\"" : refused + ", as upstreams take no datagrams"
    }

    private func directWords(_ question: Question, _ profile: Profile, _ answer: NameAnswer?) -> String {
        isInTunnel(question, profile, answer) ? "direct, dialled by the gateway" : "direct, forwarded by the kernel"
    }

    private func upstreamWords(_ id: String) -> String {
        "\(id): \(configuration.profile(id)?.upstream.summary ?? "gone")"
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
