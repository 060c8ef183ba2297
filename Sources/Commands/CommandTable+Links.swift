/// Commands that write links and draw codes.

internal import Profiles
internal import QRCode

extension CommandTable {
    static let links: [CommandDescription] = [
        CommandDescription(
            words: ["url"], group: .switching,
            operands: [.init(name: "PROFILE", candidates: .profiles, isOptional: true)],
            options: [
                .page, .init(name: "--host", value: "HOST", summary: "instead of PROFILE: a proxy, under a signature"),
                .init(name: "--port", value: "PORT", summary: "the proxy's port"),
                .init(name: "--key", value: "ID", summary: "the key to sign with, from the configuration's `keys`"),
                .init(name: "--for", value: "TIME", summary: "good for so long (30d)"),
                .init(name: "--name", value: "TEXT", summary: "a name to show"),
                .init(
                    name: "--type", value: "TYPE", candidates: .words(["http", "socks5"]),
                    summary: "http or socks5 (http)"),
                .init(
                    name: "--domains", value: "LIST", summary: "only these, with commas between: a.example,b.example"),
                .init(name: "--once", summary: "good for a single use"),
                .init(name: "--gateway", summary: "good for this gateway alone"),
            ],
            summary: "write a config URL: to a profile, or to a proxy",
            details: """
                A link to a profile holds no secret and never ends; devices may use it when the
                profile is marked selfService. A link to a proxy is signed: whoever has it may
                use it until it ends.
                """,
            examples: [
                "starshipctl url whistle-qa --page 10.9.0.1",
                "starshipctl url --host whistle.qa.example --port 8899 --key beetle --for 2d",
            ],
            read: { arguments throws(ArgumentError) in .ask(try linkRequest(arguments), .link) }),
        CommandDescription(
            words: ["qr"], group: .switching,
            operands: [.init(name: "PROFILE|URL", candidates: .profiles, isOptional: true)],
            options: [
                .page, .init(name: "--svg", value: "FILE", candidates: .files, summary: "a drawing instead"),
                .init(name: "--png", value: "FILE", candidates: .files, summary: "an image instead"), .level,
                .init(
                    name: "--invert", summary: "for a terminal with a light background that shows no colours"),
                .init(
                    name: "--sheet", value: "FILE", candidates: .files,
                    summary: "a page to print, .svg or .html: Wi-Fi, profiles, stickers"),
                .init(name: "--ssid", value: "NAME", summary: "with --sheet: the Wi-Fi to join first"),
                .init(
                    name: "--password-file", value: "FILE", candidates: .files,
                    summary: "with --ssid: its password, in a file of mode 0600"),
            ],
            summary: "draw a config URL as a QR code, or a whole sheet of them",
            details: """
                The sheet holds, in this order: the code that joins the Wi-Fi, one for each
                profile marked selfService, and a sticker for each named device (for `scan`).
                """,
            examples: [
                "starshipctl qr whistle-qa",
                "starshipctl qr --sheet wall.html --page 10.9.0.1 --ssid Lab --password-file pw",
            ],
            read: { arguments throws(ArgumentError) in try drawing(arguments) }),
    ]

    /// What the daemon is asked for a link to a profile.
    private static func linkRequest(
        _ arguments: Arguments, profile: String
    ) throws(ArgumentError) -> APIRequest {
        let profile = try arguments.profile(profile)
        let page = try page(arguments)
        return APIRequest(
            "POST", ["links"],
            body: .members([
                "profile": .string(profile), "form": .string(page == nil ? "starship" : "page"),
                "page": page.map(JSON.string),
            ]))
    }

    private static func page(_ arguments: Arguments) throws(ArgumentError) -> String? {
        guard let page = arguments["--page"]?.lowercased() else { return nil }
        guard Link.isGateway(page) else {
            throw arguments.wrong(
                "--page", expected: "the gateway's name or address as devices reach it", hint: "such as 10.9.0.1")
        }
        return page
    }

    private static func linkRequest(_ arguments: Arguments) throws(ArgumentError) -> APIRequest {
        let ofProxies = ["--port", "--key", "--for", "--name", "--type", "--domains", "--once", "--gateway"]
        if let profile = arguments.operands.first {
            if let other = (["--host"] + ofProxies).first(where: arguments.has) {
                throw arguments.error("found a profile and \(other); expected a profile alone, or --host without one")
            }
            return try linkRequest(arguments, profile: profile)
        }
        guard let host = arguments["--host"] else {
            throw arguments.error("found neither PROFILE nor --host; expected one of them")
        }
        guard let port = try arguments.number("--port", within: 1...65535), let key = arguments["--key"] else {
            throw arguments.error("found --host without --port and --key; expected all three")
        }
        let type = arguments["--type"]
        guard type == nil || type == "http" || type == "socks5" else {
            throw arguments.wrong("--type", expected: "http or socks5")
        }
        let domains = arguments["--domains"]?.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        guard domains?.contains("") != true else {
            throw arguments.wrong("--domains", expected: "entries with commas between them, none of them empty")
        }
        let page = try page(arguments)
        return APIRequest(
            "POST", ["links"],
            body: .members([
                "name": arguments["--name"].map(JSON.string), "type": type.map(JSON.string), "host": .string(host),
                "port": .integer(port), "domains": domains.map(JSON.strings),
                "key": .string(try arguments.identifier(key, "--key")),
                "for": .string(try arguments.duration("--for", from: "1m", to: "3650d") ?? "30d"),
                "gateway": arguments.has("--gateway") ? true : nil, "once": arguments.has("--once") ? true : nil,
                "form": .string(page == nil ? "starship" : "page"), "page": page.map(JSON.string),
            ]))
    }

    // MARK: Codes

    private static func drawing(_ arguments: Arguments) throws(ArgumentError) -> Command {
        var level = QRCode.ErrorCorrection.medium
        if let letter = arguments["--level"] {
            guard let found = QRCode.ErrorCorrection(letter: letter) else {
                throw arguments.wrong("--level", expected: "L, M, Q or H")
            }
            level = found
        }
        try arguments.bind(["--ssid"], to: "--sheet")
        try arguments.bind(["--password-file"], to: "--ssid")
        try arguments.exclude("--svg", "--png")
        for output in ["--svg", "--png"] { try arguments.exclude(output, "--invert") }
        if let file = arguments["--sheet"] { return .sheet(try sheet(file, level, arguments)) }
        guard let text = arguments.operands.first else {
            throw arguments.error("found neither PROFILE|URL nor --sheet; expected one of them")
        }
        var plan = QRPlan(subject: try subject(text, arguments), level: level)
        if let file = arguments["--svg"] { plan.output = .svg(file) }
        if let file = arguments["--png"] { plan.output = .png(file) }
        if arguments.has("--invert") { plan.output = .terminal(isInverted: true) }
        return .qr(plan)
    }

    private static func subject(_ text: String, _ arguments: Arguments) throws(ArgumentError) -> QRPlan.Subject {
        guard text.contains(":") else { return .profile(try linkRequest(arguments, profile: text)) }
        if arguments.has("--page") { throw arguments.error("found a URL and --page; expected a profile with --page") }
        do throws(LinkError) {
            if let sticker = try DeviceSticker.parse(text) { return .text(sticker.text) }
        } catch {
            throw arguments.error("\(error)")
        }
        let link = try configURL(text, arguments)
        guard !hasPassword(link) else {
            throw arguments.error("found a password in the URL; expected none: whoever sees the code has it")
        }
        switch link {
        case .link(let link): return .text(link.text)
        case .proxy: return .text(text)
        }
    }

    private static func sheet(
        _ file: String, _ level: QRCode.ErrorCorrection, _ arguments: Arguments
    ) throws(ArgumentError) -> SheetPlan {
        if let other = ["--svg", "--png", "--invert"].first(where: arguments.has) {
            throw arguments.error("found --sheet and \(other); expected one of them")
        }
        guard arguments.operands.isEmpty else {
            throw arguments.error("found --sheet and a profile or URL; expected --sheet alone: it has all profiles")
        }
        let format: SheetPlan.Format
        switch file.split(separator: ".").last?.lowercased() {
        case "svg": format = .svg
        case "html", "htm": format = .html
        default: throw arguments.wrong("--sheet", expected: "a file that ends in .svg or .html")
        }
        var plan = SheetPlan(file: file, format: format, level: level)
        if let page = try page(arguments) { plan.form = .page(gateway: page) }
        plan.network = arguments["--ssid"]
        plan.passwordFile = arguments["--password-file"]
        guard (plan.network?.utf8.count ?? 1) <= 32 else {
            throw arguments.error("--ssid: found a name of more than 32 octets; expected 1 to 32 (IEEE 802.11)")
        }
        return plan
    }
}
