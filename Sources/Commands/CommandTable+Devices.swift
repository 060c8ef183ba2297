/// Commands about what one device wants: its last names, names that it sends elsewhere, and what can be learned about
/// it.

internal import Profiles

extension CommandTable {
    static let lists: [CommandDescription] = [
        CommandDescription(
            words: ["lists"], group: .switching, operands: [.init(name: "DEVICE", candidates: .devices)],
            options: [
                .init(name: "--direct", value: "NAMES", summary: "what it sends direct; none empties the list"),
                .init(name: "--proxied", value: "NAMES", summary: "what it has proxied; none empties the list"),
                .now, .drain,
            ],
            summary: "send some names of one device direct, or have them proxied",
            details: """
                NAMES are entries as in `bypass` and `domains`, with commas between them. They
                are asked before the profile's rules, direct before proxied, and replace the
                list that is there; what one list gets leaves the other. They end with the
                assignment; a device without one gets one to the profile that it has.
                Without options: what is.
                """,
            examples: [
                "starshipctl lists pixel-7 --direct cdn.example,full:a.example",
                "starshipctl lists pixel-7 --proxied shop.example --direct none",
            ],
            read: { arguments throws(ArgumentError) in try deviceLists(arguments) })
    ]

    static let wishes: [CommandDescription] = [
        CommandDescription(
            words: ["requests"], group: .looking, operands: [.init(name: "DEVICE", candidates: .devices)],
            summary: "the last 30 names that a device wanted, and what became of each",
            details: """
                proxied and direct went that way; refused did not go; asked: DNS gave the real
                address, and the kernel forwards what follows; answered: by the gateway itself.
                """,
            examples: ["starshipctl requests pixel-7"],
            read: { arguments throws(ArgumentError) in
                let device = try arguments.device(arguments.operands[0])
                return .ask(APIRequest("GET", ["devices", device, "requests"]), .requests)
            }),
        CommandDescription(
            words: ["learn"], group: .looking, operands: [.init(name: "DEVICE", candidates: .devices)],
            options: [.init(name: "--show", summary: "what was learned, and the `domains` to paste")],
            summary: "collect all names that a device wants in the next two minutes",
            details: """
                Names are grouped under their last two labels, or three where the last one has
                two letters and the one before it at most three, as in bbc.co.uk.
                """,
            examples: ["starshipctl learn pixel-7", "starshipctl learn pixel-7 --show"],
            read: { arguments throws(ArgumentError) in
                let device = try arguments.device(arguments.operands[0])
                let method = arguments.has("--show") ? "GET" : "POST"
                return .ask(APIRequest(method, ["devices", device, "learn"]), .lesson)
            }),
    ]

    private static func deviceLists(_ arguments: Arguments) throws(ArgumentError) -> Command {
        let device = try arguments.device(arguments.operands[0])
        try arguments.exclude("--now", "--drain")
        guard arguments.has("--direct") || arguments.has("--proxied") else {
            guard !arguments.has("--now"), !arguments.has("--drain") else {
                throw arguments.error("found neither --direct nor --proxied; expected one of them")
            }
            return .ask(.device(device), .device)
        }
        let body = JSON.members([
            "direct": try entries(arguments, "--direct"), "proxied": try entries(arguments, "--proxied"),
            "drain": try arguments.duration("--drain", from: "0s", to: "30s").map(JSON.string),
            "now": arguments.has("--now") ? true : nil,
        ])
        return .ask(APIRequest("PUT", ["devices", device, "lists"], body: body), .lists)
    }

    /// Texts between commas; the daemon judges each.
    private static func entries(_ arguments: Arguments, _ option: String) throws(ArgumentError) -> JSON? {
        guard let text = arguments[option] else { return nil }
        if text == "none" { return .array([]) }
        let entries = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        guard !entries.contains(""), entries.count <= 64 else {
            throw arguments.wrong(option, expected: "1 to 64 names with commas between them, or none")
        }
        return .strings(entries)
    }
}
