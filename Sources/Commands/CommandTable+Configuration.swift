/// Commands about what the gateway is told: documents, revisions, keys, captures.

internal import Bytes
internal import Profiles

extension CommandTable {
    static let configuration: [CommandDescription] = [
        CommandDescription(
            words: ["push"], group: .configuration, operands: [.init(name: "FILE|URL|-", candidates: .files)],
            options: [.confirm], summary: "give the gateway a profile, or all of the lab's profiles",
            details: """
                A document with one profile adds or replaces that one; one with `profiles: […]`
                replaces all that were pushed. It is validated whole and applied at once, or
                nothing changes. A URL is fetched by plain http, past the tunnel, within 5 s.
                """,
            examples: [
                "starshipctl push whistle-qa.json5 --confirm 60",
                "curl -fsS https://configs.example/lab.json5 | starshipctl push -",
            ],
            read: { arguments throws(ArgumentError) in
                let confirm = try arguments.number("--confirm", within: confirmation)
                let text = arguments.operands[0]
                if text == "-" { return .push(.standardInput, confirm: confirm) }
                guard let address = try arguments.address(text, "URL") else {
                    return .push(.file(text), confirm: confirm)
                }
                return .push(.web(address), confirm: confirm)
            }),
        CommandDescription(
            words: ["confirm"], group: .configuration, operands: [.init(name: "REVISION", isOptional: true)],
            summary: "keep the change that waits for it",
            read: { arguments throws(ArgumentError) in
                guard !arguments.operands.isEmpty else { return .confirm }
                return .ask(.confirm(try revision(arguments)), .confirmed)
            }),
        CommandDescription(
            words: ["reload"], group: .configuration, summary: "read the configuration file again",
            read: { _ in .ask(APIRequest("POST", ["reload"]), .reloaded) }),
        CommandDescription(
            words: ["diff"], group: .configuration, summary: "where the file and what is running differ",
            details: "Ends with 1 when they differ.",
            read: { _ in .ask(APIRequest("GET", ["diff"]), .differences) }),
        CommandDescription(
            words: ["export"], group: .configuration, summary: "one configuration file that starts the present state",
            examples: ["starshipctl export >lab.json5"],
            read: { _ in .ask(APIRequest("GET", ["export"]), .document) }),
        CommandDescription(
            words: ["schema"], group: .configuration, summary: "the JSON Schema of the configuration",
            details: "For editors that check a file while it is written.",
            examples: ["starshipctl schema >starship.schema.json"], read: { _ in .schema }),
    ]

    static let revisions: [CommandDescription] = [
        CommandDescription(
            words: ["history"], group: .configuration, summary: "the last 20 revisions: who, when, how",
            read: { _ in .ask(APIRequest("GET", ["history"]), .history) }),
        CommandDescription(
            words: ["rollback"], group: .configuration, operands: [.init(name: "REVISION")],
            summary: "go back to a revision; 0 is that of a new lab",
            examples: ["starshipctl rollback 17"],
            read: { arguments throws(ArgumentError) in
                let number = try revision(arguments)
                return .ask(
                    APIRequest("POST", ["rollback"], body: .members(["revision": .integer(number)])), .rolledBack)
            }),
    ]

    private static func revision(_ arguments: Arguments) throws(ArgumentError) -> Int {
        let text = arguments.operands[0]
        guard let number = Arguments.number(text) else {
            throw arguments.error(
                "REVISION: found \(Shown.text(text)); expected a number", hint: "`starshipctl history` lists them")
        }
        return number
    }

    static let besides: [CommandDescription] = [
        CommandDescription(
            words: ["keygen"], group: .rest, operands: [.init(name: "FILE", candidates: .files, isOptional: true)],
            summary: "make a key that signs links, in a new file",
            details: """
                32 random octets as hexadecimal digits, in a new file of mode 0600; what is
                there is never overwritten. Prints the key's id and the line for the
                configuration, and never the key. The id is the file's name without its ending.
                """,
            examples: ["sudo starshipctl keygen /etc/starship/keys/beetle"],
            read: { arguments throws(ArgumentError) in
                guard let file = arguments.operands.first else { return .keygen(file: nil) }
                guard KeyFile.id(of: file) != nil else {
                    throw arguments.error(
                        "FILE: found a name that gives no id; expected letters, digits, hyphens and underscores",
                        hint: "such as keys/beetle")
                }
                return .keygen(file: file)
            }),
        CommandDescription(
            words: ["capture", "start"], group: .rest,
            operands: [.init(name: "FILE", isOptional: true)],
            options: [
                .init(name: "--filter", value: "EXPR", summary: "only these packets, as pcap-filter(7) writes it"),
                .init(name: "--snap", value: "N", summary: "the first N octets of each (262144)"),
                .init(name: "--size", value: "SIZE", summary: "a new file after so much (64MiB)"),
                .init(name: "--files", value: "N", summary: "keep so many files (4)"),
            ],
            summary: "write the packets of the TUN device into a file",
            details: "FILE is a name in `captures` of the daemon's state; without one it picks one.",
            examples: ["starshipctl capture start --filter 'tcp port 443'"],
            read: { arguments throws(ArgumentError) in .ask(try capture(arguments), .capturing) }),
        CommandDescription(
            words: ["capture", "stop"], group: .rest, summary: "end it",
            read: { _ in .ask(APIRequest("DELETE", ["capture"]), .captured) }),
        CommandDescription(
            words: ["completion"], group: .rest,
            operands: [.init(name: "SHELL", candidates: .words(Shell.allCases.map(\.rawValue)), isOptional: true)],
            options: [
                .init(
                    name: "--list", value: "WHAT", candidates: .words(["profiles", "devices"]),
                    summary: "for the scripts: the ids of profiles, or the names of devices")
            ],
            summary: "completion for bash, zsh or fish",
            details: """
                bash:  starshipctl completion bash >/etc/bash_completion.d/starshipctl
                zsh:   starshipctl completion zsh >/usr/share/zsh/site-functions/_starshipctl
                fish:  starshipctl completion fish >~/.config/fish/completions/starshipctl.fish
                """,
            hasJSON: false, read: { arguments throws(ArgumentError) in try completion(arguments) }),
        CommandDescription(
            words: ["version"], group: .rest, summary: "the versions of this program and of the daemon",
            read: { _ in .version }),
    ]

    private static func capture(_ arguments: Arguments) throws(ArgumentError) -> APIRequest {
        if let file = arguments.operands.first {
            guard Link.isIdentifier(file) else {
                throw arguments.error(
                    "FILE: found \(Shown.text(file)); expected a name alone, of letters, digits, hyphens and dots",
                    hint: "it stands in the directory of the daemon's state")
            }
        }
        var size: Int?
        if let text = arguments["--size"] {
            guard let octets = Quantity.size(text), (64 << 10...64 << 30).contains(octets) else {
                throw arguments.wrong("--size", expected: "a size from 64KiB to 64GiB", hint: "such as 64MiB")
            }
            size = octets
        }
        return APIRequest(
            "POST", ["capture"],
            body: .members([
                "file": arguments.operands.first.map(JSON.string), "filter": arguments["--filter"].map(JSON.string),
                "snap": try arguments.number("--snap", within: 40...262_144).map(JSON.integer),
                "size": size.map(JSON.integer),
                "files": try arguments.number("--files", within: 1...1000).map(JSON.integer),
            ]))
    }

    private static func completion(_ arguments: Arguments) throws(ArgumentError) -> Command {
        let shell = arguments.operands.first
        switch (shell, arguments["--list"]) {
        case (nil, "profiles"?): return .candidates(.profiles)
        case (nil, "devices"?): return .candidates(.devices)
        case (nil, _?): throw arguments.wrong("--list", expected: "profiles or devices")
        case (let word?, nil):
            guard let shell = Shell(rawValue: word) else {
                let near = NearMiss.suggestion(for: word, among: Shell.allCases.map(\.rawValue))
                throw arguments.error(
                    "SHELL: found \(Shown.text(word)); expected bash, zsh or fish",
                    hint: near.map { "did you mean \($0)?" })
            }
            return .completion(shell.script)
        case (nil, nil): throw arguments.error("found no SHELL; expected bash, zsh or fish")
        case (_?, _?): throw arguments.error("found SHELL and --list; expected one of them")
        }
    }
}
