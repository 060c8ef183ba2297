/// Commands that look after upstreams: trying them, and watching them.

internal import Profiles

extension CommandTable {
    static let health: [CommandDescription] = [
        CommandDescription(
            words: ["probe"], group: .looking,
            operands: [.init(name: "PROFILE", candidates: .profiles, isOptional: true)],
            options: [
                .init(name: "--choose", summary: "find a page that answers through this proxy, and print it"),
                .init(
                    name: "--pages", value: "FILE", candidates: .files,
                    summary: "with --choose: pages to try, one a line: URL, statuses, text in it"),
            ],
            summary: "try the way through a proxy now, step by step",
            details: """
                Without PROFILE it is the default's proxy. Exit codes are those of `status`;
                with --choose 1 says that no page answered. The page is for the profile's
                `health: { url }`: without one green can't be reached.
                """,
            examples: ["starshipctl probe whistle-qa", "starshipctl probe whistle-qa --choose"],
            read: { arguments throws(ArgumentError) in
                let profile = try arguments.operands.first.map(arguments.profile)
                try arguments.bind(["--pages"], to: "--choose")
                guard arguments.has("--choose") else { return .ask(.probe(profile), .probed) }
                return .choosePage(profile: profile, file: arguments["--pages"] ?? PageList.place)
            }),
        CommandDescription(
            words: ["ca"], group: .looking, operands: [.init(name: "PROFILE", candidates: .profiles)],
            options: [
                .init(name: "--out", value: "FILE", candidates: .files, summary: "write it there too, in PEM")
            ],
            summary: "the certificate with which a profile's proxy decrypts, and how phones get it",
            details: """
                It is fetched through the proxy, from the page that the profile's `kind` stands
                for. Ends with 1 when it is no authority's, or not valid now.
                """,
            examples: ["starshipctl ca mitmproxy", "starshipctl ca charles-mia --out charles.pem"],
            read: { arguments throws(ArgumentError) in
                .authority(profile: try arguments.profile(arguments.operands[0]), file: arguments["--out"])
            }),
        CommandDescription(
            words: ["watch"], group: .looking, summary: "follow health, flows and events, and switch by a key",
            details: """
                On a terminal a screen: 1 to 9 or ↑ ↓ Enter switch the profile, s sorts,
                / filters, p probes, ? helps, q quits. Otherwise a line for each change. It
                goes on when the daemon is started anew. With --json a line for each event.
                """,
            examples: ["starshipctl watch", "starshipctl watch --json | jq .data"],
            read: { _ in .watch }),
    ]
}
