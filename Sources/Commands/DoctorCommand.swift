/// `doctor` and `report`: what is wrong, and what to send to whoever helps.

/// Where to look, and where a report goes.
public struct DoctorOrder: Equatable, Sendable {
    /// The configuration, where no daemon says which.
    public var configuration: String
    /// The file of a report; nil: standard output.
    public var output: String?
    public var isAnonymous = false

    public static let usualConfiguration = "/etc/starship/starship.json5"

    public init(configuration: String = usualConfiguration) { self.configuration = configuration }
}

extension CommandTable {
    private static let configurationFile = CommandDescription.Option(
        name: "--config", value: "FILE", candidates: .files,
        summary: "the configuration, where no daemon says which (\(DoctorOrder.usualConfiguration))")

    static let diagnosis: [CommandDescription] = [
        CommandDescription(
            words: ["doctor"], group: .looking, options: [configurationFile],
            summary: "what is wrong with machine or configuration, and what mends it",
            details: """
                Works with and without a running daemon, and changes nothing. What breaks most
                comes first; lines with $ are commands for a root shell. As root it sees more,
                and it says what it could not look at.
                Ends with 1 when something is wrong, else with 0; notices are no failure.
                """,
            examples: ["sudo starshipctl doctor", "starshipctl doctor --config lab.json5 --json"],
            read: { arguments in .doctor(order(arguments)) }),
        CommandDescription(
            words: ["report"], group: .looking,
            options: [
                .init(
                    name: "--output", value: "FILE", candidates: .files,
                    summary: "a new file, for its owner alone; without it, standard output"),
                .init(
                    name: "--anonymous",
                    summary: "stand-ins for names and MACs of devices and for public addresses, the same each time"),
                configurationFile,
            ],
            summary: "one text for a bug report, without passwords, keys and tokens",
            details: """
                Versions, configuration, status, devices, routes, rules, firewall, what doctor
                found, the last events and the journal, as far as they can be read. It is text:
                read it before you send it.
                """,
            examples: ["sudo starshipctl report --output report.txt --anonymous"], hasJSON: false,
            read: { arguments in
                var order = order(arguments)
                order.output = arguments["--output"]
                order.isAnonymous = arguments.has("--anonymous")
                return .report(order)
            }),
    ]

    private static func order(_ arguments: Arguments) -> DoctorOrder {
        DoctorOrder(configuration: arguments["--config"] ?? DoctorOrder.usualConfiguration)
    }
}
