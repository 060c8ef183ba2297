/// Commands that put devices on another profile, by name or by link.

internal import Profiles
internal import QRCode

extension CommandTable {
    private static func switchBody(
        _ arguments: Arguments, profile: String? = nil
    ) throws(ArgumentError) -> JSON {
        try arguments.exclude("--now", "--drain")
        let target = try arguments.target()
        try arguments.check(target)
        return .members([
            "profile": profile.map(JSON.string), "device": target.device, "all": target.all,
            "override": arguments.has("--override") ? true : nil, "for": try arguments.lease().map(JSON.string),
            "drain": try arguments.duration("--drain", from: "0s", to: "30s").map(JSON.string),
            "now": arguments.has("--now") ? true : nil,
            "confirm": try arguments.number("--confirm", within: confirmation).map(JSON.integer),
        ])
    }

    /// How long a change may wait for its confirmation, in seconds.
    static let confirmation = 1...3600

    static let switching: [CommandDescription] = [
        CommandDescription(
            words: ["use"], group: .switching, operands: [.init(name: "PROFILE", candidates: .profiles)],
            options: [.device, .all, .overrides, .duration, .now, .drain, .confirm],
            required: "(--device NAME | --all)", summary: "put a device, or all of them, on a profile",
            details: """
                New flows go the new way at once. Old ones whose way has changed are reset: idle
                ones at once, busy ones when they fall idle, within 2 s. The answer counts them.
                An assignment ends after the configuration's `lease`, or after --for.
                """,
            examples: [
                "starshipctl use whistle-qa --device pixel-7 --for 2h", "starshipctl use charles --all --confirm 60",
            ],
            read: { arguments throws(ArgumentError) in
                let profile = try arguments.profile(arguments.operands[0])
                return .ask(
                    APIRequest("POST", ["activate"], body: try switchBody(arguments, profile: profile)), .switched)
            }),
        CommandDescription(
            words: ["release"], group: .switching, options: [.device, .all, .now, .drain],
            required: "(--device NAME | --all)", summary: "end assignments: back to the default profile",
            examples: ["starshipctl release --device pixel-7"],
            read: { arguments throws(ArgumentError) in
                .ask(APIRequest("POST", ["release"], body: try switchBody(arguments)), .released)
            }),
        CommandDescription(
            words: ["apply"], group: .switching, operands: [.init(name: "URL")],
            options: [
                .device, .all, .overrides, .duration, .init(name: "--yes", summary: "don't ask, do it"),
            ],
            required: "(--device NAME | --all)", summary: "do what a config URL says",
            details: """
                Shows what would change, and asks on the terminal. URL is starship://activate?…,
                http://GATEWAY/a?…, or a plain proxy URL such as http://host:port#name; - reads
                it from standard input, which is the place for one with a password.
                """,
            examples: ["starshipctl apply 'starship://activate?v=1&profile=charles' --device pixel-7"],
            read: { arguments throws(ArgumentError) in .apply(try application(arguments)) }),
        CommandDescription(
            words: ["scan"], group: .switching, options: [.device, .all],
            summary: "apply config URLs that a hand scanner types, line by line",
            details: """
                Reads standard input until it ends; each line is applied at once, and a bad one
                is said and passed over. Without --device or --all the device is the one whose
                sticker (`qr --sheet` prints them) was scanned within the last 60 s.
                Ends with 1 if any line was refused.
                """,
            examples: ["zbarcam --raw | starshipctl scan --device pixel-7"],
            read: { arguments throws(ArgumentError) in .scan(try arguments.optionalTarget()) }),
    ]

    private static func application(_ arguments: Arguments) throws(ArgumentError) -> Application {
        var application = Application(link: nil, target: try arguments.target())
        application.duration = try arguments.lease()
        application.overrides = arguments.has("--override")
        application.isAgreed = arguments.has("--yes")
        try arguments.check(application.target)
        let text = arguments.operands[0]
        guard text != "-" else {
            guard application.isAgreed else {
                throw arguments.error("found - without --yes; expected both: standard input can't answer a question")
            }
            return application
        }
        let link = try configURL(text, arguments)
        guard !hasPassword(link) else {
            throw arguments.error(
                "found a password in the URL; expected none: everybody on this machine can read arguments",
                hint: "starshipctl apply - --yes reads the URL from standard input")
        }
        application.link = text
        return application
    }

    static func configURL(_ text: String, _ arguments: Arguments) throws(ArgumentError) -> ConfigURL {
        do throws(ConfigURLError) {
            return try ConfigURL.parse(text, from: .control)
        } catch {
            throw arguments.error("\(error)")
        }
    }

    /// Whether a text says a secret.
    static func hasPassword(_ link: ConfigURL) -> Bool {
        guard case .proxy(let url) = link, let credentials = url.upstream.credentials else { return false }
        return credentials.password != .given(Secret(""))
    }
}
