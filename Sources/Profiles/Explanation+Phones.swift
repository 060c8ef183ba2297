/// What `starshipd explain` says of connectivity checks.

internal import Routing

extension ResolvedConfiguration {
    /// What becomes of a flow to a host of checks that the gateway answers itself; nil for any other flow.
    ///
    /// `rest` is what becomes of those that ask the host for something else.
    func checkOutbound(
        _ question: Question, _ profile: Profile, _ surroundings: Surroundings, rest: String
    ) -> (reason: String, outbound: String)? {
        guard let name = question.name, let answers = surroundings.answers, let host = answers.hosts[name],
            !host.pages.isEmpty, settled(question) == nil, isByDefault(question, profile),
            surroundings.lists?.decide(query(question)) == nil
        else { return nil }
        let isPlain = question.network == .tcp && (question.port ?? 80) == 80
        guard isPlain || !host.isShared else { return nil }
        let refused = question.network == .tcp ? "refused: RST" : "refused: port unreachable"
        guard isPlain else { return (answers.origin(of: host), "\(refused), as only http is answered") }
        var outbound = "the gateway's own answer: " + Self.words(host)
        if host.isShared {
            outbound += "; the rest: \(rest)"
        } else if question.port == nil {
            outbound += "; but for port 80 refused: RST"
        }
        return (answers.origin(of: host), outbound)
    }

    /// When a flow that would be proxied goes direct all the same; nil: never.
    func exception(_ question: Question, _ profile: Profile, _ verdict: Verdict, _ surroundings: Surroundings)
        -> String?
    {
        guard let name = question.name, let shared = surroundings.shared, shared.contains(RouteQuery(name: name)),
            question.network == .tcp, verdict == .proxy
        else { return nil }
        let decision = surroundings.lists?.decide(query(question)) ?? rules(of: profile.id).decide(query(question))
        guard decision.isByDefault || decision.origin?.list == "domains" else { return nil }
        return "the upstream is lost, or decrypts port 443: then it is direct (phones: \(shared.name))"
    }

    private func isByDefault(_ question: Question, _ profile: Profile) -> Bool {
        rules(of: profile.id).decide(query(question)).isByDefault
    }

    func query(_ question: Question) -> RouteQuery {
        RouteQuery(
            name: question.name, address: question.address, port: question.port, source: question.source,
            network: question.network)
    }

    private static func words(_ host: CheckAnswers.Host) -> String {
        host.pages.sorted { $0.key < $1.key }.map { path, page in
            "\(page.status) for \(path == "*" ? "every path" : path)"
        }.joined(separator: ", ")
    }
}
