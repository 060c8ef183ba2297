/// Completion in the shells themselves.

import TestSupport
import Testing

@testable import Commands

/// A `starshipctl` that knows two profiles and a device, in the way of the real one.
private let stand = """
    #!/bin/sh
    case "$*" in
        "completion --list profiles") printf 'whistle-qa\\ncharles\\n' ;;
        "completion --list devices") printf 'pixel-7\\nstb\\n' ;;
    esac
    """

/// What a shell offers for a line whose last word is being typed.
private struct Offer: CustomTestStringConvertible, Sendable {
    var line: String
    var has: [String]
    var lacks: [String] = []

    var testDescription: String { line }
}

private let offers = [
    Offer(line: "", has: ["use", "status", "capture", "help"], lacks: ["--all"]),
    Offer(line: "st", has: ["status"], lacks: ["use"]),
    Offer(line: "use ", has: ["whistle-qa", "charles"], lacks: ["pixel-7", "use"]),
    Offer(line: "use wh", has: ["whistle-qa"], lacks: ["charles"]),
    Offer(line: "use whistle-qa --", has: ["--device", "--all", "--for", "--json"], lacks: ["--move-to"]),
    Offer(line: "use whistle-qa --device ", has: ["pixel-7", "stb"], lacks: ["charles"]),
    Offer(line: "use --device pixel-7 ", has: ["whistle-qa", "charles"], lacks: ["pixel-7"]),
    Offer(line: "devices ", has: ["name", "forget", "pixel-7"], lacks: ["whistle-qa"]),
    Offer(line: "devices name ", has: ["pixel-7"], lacks: ["name"]),
    Offer(line: "profiles delete charles --move-to w", has: ["whistle-qa"]),
    Offer(line: "profiles delete --", has: ["--move-to"], lacks: ["--device"]),
    Offer(line: "capture ", has: ["start", "stop"], lacks: ["pixel-7"]),
    Offer(line: "capture start --", has: ["--filter", "--snap"]),
    Offer(line: "qr whistle-qa --level ", has: ["L", "M", "Q", "H"]),
    Offer(line: "completion ", has: ["bash", "zsh", "fish"]),
    Offer(line: "completion --", has: ["--list"], lacks: ["--json"]),
    Offer(line: "status --color ", has: ["never", "auto", "always"]),
]

struct CompletionTests {
    @Test("bash offers what fits", arguments: offers)
    fileprivate func bash(offer: Offer) throws {
        // Words as readline cuts them: the last one may be empty.
        let words =
            ["starshipctl"] + offer.line.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        let list = words.map { "'\($0)'" }.joined(separator: " ")
        let lines = try Self.run(
            "bash", Shell.bash,
            "COMP_WORDS=(\(list)); COMP_CWORD=\(words.count - 1); _starshipctl; printf '%s\\n' \"${COMPREPLY[@]}\"")
        Self.compare(lines, offer)
    }

    @Test(
        "zsh offers what fits", .enabled(if: Lab.has("zsh"), "zsh is not installed"), arguments: offers)
    fileprivate func zsh(offer: Offer) throws {
        let words =
            ["starshipctl"] + offer.line.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        let list = words.map { "'\($0)'" }.joined(separator: " ")
        // Outside the editor zsh has no completion, so what it would be told is printed.
        let lines = try Self.run(
            "zsh", Shell.zsh,
            """
            words=(\(list)); CURRENT=\(words.count)
            _starshipctl
            """,
            before: """
                compdef() { }
                compadd() { shift; print -l -- "$@" }
                _describe() { print -l -- "${(@)${(@P)2}%%:*}" }
                _files() { }
                """)
        // zsh itself chooses among what it is told.
        let last = words.last ?? ""
        Self.compare(lines.filter { $0.hasPrefix(last) }, offer)
    }

    @Test(
        "fish offers what fits", .enabled(if: Lab.has("fish"), "fish is not installed"), arguments: offers)
    fileprivate func fish(offer: Offer) throws {
        let lines = try Self.run("fish", Shell.fish, "complete -C 'starshipctl \(offer.line)'")
        Self.compare(lines.map { String($0.prefix { $0 != "\t" }) }, offer)
    }

    private static func compare(_ lines: [String], _ offer: Offer) {
        for word in offer.has { #expect(lines.contains(word), "\(word) in \(lines)") }
        for word in offer.lacks { #expect(!lines.contains(word), "\(word) in \(lines)") }
    }

    /// Runs a shell that has read the script.
    private static func run(_ shell: String, _ script: Shell, _ text: String, before: String = "") throws -> [String] {
        let scratch = try Scratch()
        try Scratch.put(Array(stand.utf8), scratch.path("starshipctl"))
        try Scratch.put(Array(script.script.utf8), scratch.path("script"))
        try Scratch.put(Array("\(before)\nsource ./script\n\(text)\n".utf8), scratch.path("main"))
        let command = "chmod +x starshipctl; PATH=$PWD:$PATH HOME=$PWD \(shell) ./main"
        let result = try TestSupport.Command.run(["sh", "-c", command], in: scratch.directory)
        #expect(result.errors == "")
        return String(decoding: result.output, as: UTF8.self).split(separator: "\n").map(String.init)
    }
}
