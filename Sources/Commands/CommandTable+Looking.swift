/// Commands that show what is.

internal import Addresses
internal import Profiles

extension CommandTable {
    static let looking: [CommandDescription] = [
        CommandDescription(
            words: ["status"], group: .looking, summary: "which profile, which upstream, and whether it works",
            details: """
                Exit codes: 0 green, 1 yellow or grey, 2 red, 3 no daemon.
                """,
            read: { _ in .ask(.status, .status) }),
        CommandDescription(
            words: ["devices"], group: .looking,
            operands: [.init(name: "DEVICE", candidates: .devices, isOptional: true)],
            options: [.init(name: "--leaving", summary: "those of the last 7 days, and what each must undo")],
            summary: "who is there, on which profile, until when", details: deviceNote,
            examples: ["starshipctl devices", "starshipctl devices pixel-7"],
            read: { arguments throws(ArgumentError) in
                guard !arguments.has("--leaving") || arguments.operands.isEmpty else {
                    throw arguments.error("found --leaving and a device; expected one of them")
                }
                if arguments.has("--leaving") { return .leaving }
                guard let device = arguments.operands.first else { return .ask(.devices, .devices) }
                return .ask(.device(try arguments.device(device)), .device)
            }),
        CommandDescription(
            words: ["devices", "name"], group: .looking,
            operands: [.init(name: "DEVICE", candidates: .devices), .init(name: "NAME")],
            summary: "give a device a name",
            examples: ["starshipctl devices name 10.9.0.23 pixel-7"],
            read: { arguments throws(ArgumentError) in
                let device = try arguments.device(arguments.operands[0])
                let name = try arguments.identifier(arguments.operands[1], "NAME")
                guard IPAddress(parsing: name) == nil, MACAddress(parsing: name) == nil else {
                    throw arguments.error("NAME: found an address; expected a name", hint: "such as pixel-7")
                }
                return .ask(APIRequest("PUT", ["devices", device], body: .members(["name": .string(name)])), .named)
            }),
        CommandDescription(
            words: ["devices", "forget"], group: .looking, operands: [.init(name: "NAME", candidates: .devices)],
            summary: "take a device's name away",
            read: { arguments throws(ArgumentError) in
                let device = try arguments.device(arguments.operands[0])
                return .ask(APIRequest("PUT", ["devices", device], body: .members(["name": .null])), .forgotten)
            }),
        CommandDescription(
            words: ["profiles"], group: .looking,
            operands: [.init(name: "ID", candidates: .profiles, isOptional: true)],
            summary: "the environments that there are, or one of them as it is written",
            details: "SELF: marked selfService, so whoever scans its code on the wall may use it.",
            examples: ["starshipctl profiles", "starshipctl profiles whistle-qa"],
            read: { arguments throws(ArgumentError) in
                guard let id = arguments.operands.first else { return .ask(.profiles, .profiles) }
                return .ask(APIRequest("GET", ["profiles", try arguments.profile(id)]), .document)
            }),
        CommandDescription(
            words: ["profiles", "delete"], group: .looking, operands: [.init(name: "ID", candidates: .profiles)],
            options: [
                .init(
                    name: "--move-to", value: "ID", candidates: .profiles,
                    summary: "where its devices go: another profile, or default")
            ],
            summary: "delete a profile that was pushed",
            examples: ["starshipctl profiles delete old-qa --move-to default"],
            read: { arguments throws(ArgumentError) in
                let id = try arguments.profile(arguments.operands[0])
                let other = try arguments["--move-to"].map { text throws(ArgumentError) in
                    try arguments.identifier(text, "--move-to")
                }
                guard other != id else {
                    throw arguments.wrong("--move-to", expected: "another profile than the one that goes")
                }
                return .ask(APIRequest("DELETE", ["profiles", id], query: [("moveTo", other)]), .pushed)
            }),
        CommandDescription(
            words: ["why"], group: .looking,
            operands: [.init(name: "DEVICE", candidates: .devices), .init(name: "HOST", isOptional: true)],
            summary: "walk a device's path, and stop at the first step that is broken",
            details: deviceNote + "\nEnds with 1 when a step is broken.",
            examples: ["starshipctl why pixel-7", "starshipctl why pixel-7 shop.example"],
            read: { arguments throws(ArgumentError) in
                let device = try arguments.device(arguments.operands[0])
                let host = arguments.operands.count > 1 ? arguments.operands[1] : nil
                return .ask(APIRequest("GET", ["why"], query: [("device", device), ("host", host)]), .why)
            }),
        CommandDescription(
            words: ["explain"], group: .looking, operands: [.init(name: "HOST[:PORT]")],
            options: [
                .init(name: "--device", value: "NAME", candidates: .devices, summary: "as this device would have it"),
                .init(name: "--udp", summary: "a datagram instead of a connection"),
            ],
            summary: "what becomes of a flow to a host, and which rule says so",
            examples: ["starshipctl explain shop.example:443 --device pixel-7"],
            read: { arguments throws(ArgumentError) in try explanation(arguments) }),
        CommandDescription(
            words: ["flows"], group: .looking,
            options: [
                .init(name: "--device", value: "NAME", candidates: .devices, summary: "this device's alone"),
                .init(name: "--profile", value: "ID", candidates: .profiles, summary: "this profile's alone"),
                .init(name: "--limit", value: "N", summary: "at most so many (50; at most 1000)"),
            ],
            summary: "what is open now",
            read: { arguments throws(ArgumentError) in
                let device = try arguments["--device"].map(arguments.device)
                let profile = try arguments["--profile"].map(arguments.profile)
                let limit = try arguments.number("--limit", within: 1...1000) ?? 50
                return .ask(
                    APIRequest(
                        "GET", ["flows"],
                        query: [("device", device), ("profile", profile), ("limit", String(limit))]),
                    .flows)
            }),
    ]

    private static let deviceNote = "DEVICE is a device's name, its MAC, MAC@INTERFACE or its address."

    private static func explanation(_ arguments: Arguments) throws(ArgumentError) -> Command {
        let text = arguments.operands[0]
        var (host, port): (String, String?) = (text, nil)
        if let endpoint = SocketAddress(parsing: text) {
            (host, port) = (endpoint.address.description, String(endpoint.port))
        } else if IPAddress(parsing: text) == nil, let colon = text.lastIndex(of: ":") {
            (host, port) = (String(text[..<colon]), String(text[text.index(after: colon)...]))
        }
        if text.contains("://") {
            throw arguments.error("HOST[:PORT]: found a URL; expected a name or an address, with or without a port")
        }
        if let port, Arguments.number(port).map((1...65535).contains) != true {
            throw arguments.error("HOST[:PORT]: found no port from 1 to 65535 behind the colon; expected one")
        }
        if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        let device = try arguments["--device"].map(arguments.device)
        return .ask(
            APIRequest(
                "GET", ["explain"],
                query: [
                    ("host", host), ("port", port), ("device", device), ("udp", arguments.has("--udp") ? "true" : nil),
                ]),
            .explanation)
    }
}
