/// Any bytes as what the daemon asks its companion, which is root, and as what comes back: a verb is written as it is
/// read, and one that is sound does nothing to what isn't ours.

import LinuxIO

@testable import Network

func fuzzSystemVerb(_ bytes: [UInt8]) {
    if let verb = SystemVerb(reading: bytes) {
        guard let again = SystemVerb(reading: verb.message) else { preconditionFailure("a verb that cannot be read") }
        precondition(again == verb, "written and read as another verb")
        precondition(SystemVerb(reading: verb.message + [0]) == nil, "something behind a verb")
        check(verb)
    }
    if let outcome = try? SystemAnswer.read(bytes) {
        let written = SystemAnswer.message(outcome)
        guard let again = try? SystemAnswer.read(written) else { preconditionFailure("an answer that cannot be read") }
        precondition(again.status == outcome.status && again.output == outcome.output, "another answer")
    }
    // The texts of each verb, without what is around them.
    let text = String(decoding: bytes, as: UTF8.self)
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    check(.batch(lines, isIPv4: true, isForced: false))
    check(.load(text))
    let words = text.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    if words.count == 2 { check(.setting(words[0], value: words[1])) }
}

/// What a shell in ip(8), nft(8) or a path could make of a sound verb's texts.
private func check(_ verb: SystemVerb) {
    guard verb.isSound else { return }
    switch verb {
    case .batch(let lines, _, _):
        for line in lines {
            precondition(!line.utf8.contains { $0 < 0x20 || $0 >= 0x7f }, "a line that is several")
            let words = line.split(separator: " ")
            precondition(["link", "address", "route", "rule"].contains(words[0]), "another object of ip(8)")
            if words[0] == "route" {
                let table = words.firstIndex(of: "table").flatMap { UInt32(words[$0 + 1]) }
                precondition(table.map(NetworkNames.tables.contains) == true, "a route of others")
            }
            if words[0] == "rule" {
                let priority = words.firstIndex(of: "priority").flatMap { UInt32(words[$0 + 1]) }
                precondition(priority.map(NetworkNames.priorities.contains) == true, "a rule of others")
            }
        }
    case .load(let text):
        // Whatever stands in quotes is a name.
        let plain = text.split(separator: "\"", omittingEmptySubsequences: false).enumerated()
            .filter { $0.offset % 2 == 0 }.map(\.element).joined(separator: "x")
        let words = plain.split { " \t\n{};,".contains($0) }
        precondition(!words.contains("include"), "a file is read")
        precondition(!words.contains("ruleset"), "everybody's rules are touched")
    case .setting(let name, let value):
        let parts = name.split(separator: "/", omittingEmptySubsequences: false)
        precondition(parts.first == "net" && parts.count <= 5, "no setting of the network")
        precondition(!parts.contains("..") && !parts.contains(".") && !parts.contains(""), "a way out of /proc/sys")
        precondition(value.utf8.allSatisfy { 0x30...0x39 ~= $0 || $0 == 0x2d }, "a value that is no number")
    case .list, .legacy, .connections: break
    }
}
