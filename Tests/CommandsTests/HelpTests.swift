/// Help: it is there for each command, says every option, and fits a terminal.

import Testing

@testable import Commands

struct HelpTests {
    private func help(_ words: [String]) throws -> String {
        guard case .help(let text) = try CommandTable.parse(words + ["--help"]).command else { return "" }
        return text
    }

    @Test("each command has help with each of its options", arguments: CommandTable.commands.map(\.name))
    func commands(name: String) throws {
        let command = try #require(CommandTable.commands.first { $0.name == name })
        let text = try help(command.words)
        #expect(text.contains("usage: starshipctl \(name)"))
        for option in Shell.options(of: command) { #expect(text.contains("  \(option.name)"), "\(option.name)") }
        for operand in command.operands { #expect(text.contains(operand.name)) }
        for line in text.split(separator: "\n") { #expect(String(line).columns <= 80, "\(line)") }
    }

    @Test("options that must be there exist", arguments: CommandTable.commands.map(\.name))
    func required(name: String) throws {
        let command = try #require(CommandTable.commands.first { $0.name == name })
        let named = command.required.split(separator: " ").map { $0.trimming("(") }.filter { $0.hasPrefix("--") }
        for option in named { #expect(command.options.contains { $0.name == option }, "\(option)") }
    }

    @Test("examples are commands that can be read", arguments: CommandTable.commands.map(\.name))
    func examples(name: String) throws {
        let command = try #require(CommandTable.commands.first { $0.name == name })
        for example in command.examples {
            // From the program's name to whatever a shell takes for itself.
            let parts = example.split(separator: " ").map { $0.trimming("'") }
            let start = try #require(parts.firstIndex(of: "starshipctl"))
            let end = parts[start...].firstIndex { $0.hasPrefix(">") || $0 == "|" } ?? parts.endIndex
            var arguments = Array(parts[(start + 1)..<end])
            if let quoted = arguments.firstIndex(of: "--filter") { arguments.removeSubrange((quoted + 2)...) }
            #expect(throws: Never.self, "\(example)") { try CommandTable.parse(arguments) }
        }
    }

    @Test("the first screen leads from nothing to a switched device")
    func overview() throws {
        let lines = HelpText.overview.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let screen = lines.prefix(24).joined(separator: "\n")
        for step in [
            "starshipd --config", "starshipctl status", "starshipctl devices", "starshipctl use", "starshipctl why",
        ] {
            #expect(screen.contains(step))
        }
        for command in CommandTable.commands { #expect(HelpText.overview.contains("\n  \(command.name) ")) }
        for line in lines { #expect(line.columns <= 80, "\(line)") }
    }
}

extension Substring {
    fileprivate func trimming(_ character: Character) -> String { String(filter { $0 != character && $0 != ")" }) }
}
