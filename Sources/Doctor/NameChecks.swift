/// Whether names are answered: by the gateway for devices, and by the resolvers for the gateway.

enum NameChecks {
    static func findings(_ sight: Sight) -> [Finding] {
        guard sight.setup.hasNames else { return [] }
        return own(sight) + resolvers(sight.names.resolvers)
    }

    private static func own(_ sight: Sight) -> [Finding] {
        let names = sight.names.own
        let dead = names.filter { !$0.answers }.map(\.address)
        guard !names.isEmpty, sight.isRunning else { return [] }
        guard dead.isEmpty else {
            return [
                Finding(
                    .names, .wrong, "no answer to a name at \(dead.joined(separator: ", "))",
                    meaning: "Devices can't look up any name there.",
                    mending: ["systemctl restart starshipd"],
                    advice: "Look whether a firewall drops what comes to that port.")
            ]
        }
        return [Finding(.names, .ok, "the gateway answers names at \(names.map(\.address).joined(separator: ", "))")]
    }

    private static func resolvers(_ resolvers: [(address: String, answers: Bool)]) -> [Finding] {
        let dead = resolvers.filter { !$0.answers }.map(\.address)
        guard !resolvers.isEmpty else {
            return [
                Finding(
                    .names, .wrong, "there is no resolver to ask",
                    meaning: "Names that aren't proxied get no answer; devices think that they are offline.",
                    advice: "Name one: `dns: { resolvers: [\"192.0.2.53\"] }`, then starshipctl reload.")
            ]
        }
        guard !dead.isEmpty else {
            let all = resolvers.map(\.address).joined(separator: ", ")
            return [Finding(.names, .ok, "the resolvers answer: \(all)")]
        }
        let isAll = dead.count == resolvers.count
        return [
            Finding(
                .names, isAll ? .wrong : .notice,
                "\(dead.count == 1 ? "the resolver" : "the resolvers") \(dead.joined(separator: ", ")) "
                    + "\(dead.count == 1 ? "does" : "do") not answer",
                meaning: isAll
                    ? "Names that aren't proxied get no answer; devices think that they are offline."
                    : "Each name waits for it before the next one is asked.",
                advice: "Start it again there, or name another one in `dns.resolvers` and say: starshipctl reload.")
        ]
    }
}
