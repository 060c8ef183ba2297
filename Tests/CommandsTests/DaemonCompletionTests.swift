/// Completion of starshipd's arguments: files beside the configurations, which must not fall behind the program.

import Foundation
import Profiles
import TestSupport
import Testing

struct DaemonCompletionTests {
    private static func text(_ shell: String) throws -> String {
        let file = Lab.sources.appending(path: "Configs/completions/starshipd.\(shell)")
        return try String(contentsOf: file, encoding: .utf8)
    }

    @Test("each shell's file has every command and every option of the help", arguments: ["bash", "zsh", "fish"])
    func complete(shell: String) throws {
        // fish has options without their dashes.
        let text = try Self.text(shell).split { " \n\"'():;=".contains($0) }
        let words = Set(text.map { $0.hasPrefix("--") ? String($0.dropFirst(2)) : String($0) })
        let commands = CommandLineOptions.Command.allCases.filter { $0 != .version && $0 != .help }
        let options = CommandLineOptions.help.matches(of: /--([a-z][a-z-]+)/).map { String($0.1) }
        #expect(options.count > 12)
        #expect((commands.map(\.rawValue) + options).filter { !words.contains($0) } == [])
    }

    @Test(
        "bash offers what fits",
        arguments: [
            ("dh", ["dhcp-probe"], ["check"]), ("dhcp-probe ", ["lo"], ["--config"]), ("", ["run", "plan"], ["lo"]),
            ("check --", ["--state"], ["--from"]), ("explain x --", ["--udp", "--from"], ["--state"]),
            ("--", ["--version", "--config"], ["--udp"]), ("plan sta", ["starshipd.bash"], []),
        ])
    func bash(line: String, has: [String], lacks: [String]) throws {
        let words = ["starshipd"] + line.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        let list = words.map { "'\($0)'" }.joined(separator: " ")
        let text = """
            . ./starshipd.bash; COMP_WORDS=(\(list)); COMP_CWORD=\(words.count - 1)
            _starshipd; printf '%s\\n' "${COMPREPLY[@]}"
            """
        let place = Lab.sources.appending(path: "Configs/completions").path
        let result = try TestSupport.Command.run(["bash", "-c", text], in: place)
        #expect(result.errors == "")
        let offered = String(decoding: result.output, as: UTF8.self).split(separator: "\n").map(String.init)
        for word in has { #expect(offered.contains(word), "\(word) in \(offered)") }
        for word in lacks { #expect(!offered.contains(word), "\(word) in \(offered)") }
    }
}
