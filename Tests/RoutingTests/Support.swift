/// Short words for what every test here writes.

import Addresses
import Glibc
import Routing
import Testing

/// A rule set of plain texts; lines are counted from 1 in each list.
func ruleSet(
    domains: [String] = [], bypass: [String] = [], rules: [String] = [], sets: [String: RuleList] = [:],
    profiles: Set<String> = []
) throws(RoutingError) -> RuleSet {
    try RuleSet(
        domains: numbered(domains), bypass: numbered(bypass), rules: numbered(rules), sets: sets, profiles: profiles)
}

private func numbered(_ list: [String]) -> [SourceText] {
    list.enumerated().map { SourceText(text: $1, line: $0 + 1) }
}

/// A list as a file would have it.
func list(_ text: String, format: RuleList.Format = .auto, name: String = "set") throws(RoutingError) -> RuleList {
    try RuleList.parse(Array(text.utf8).span, name: name, file: "\(name).txt", format: format)
}

/// What is known of a flow to a name.
func to(_ name: String) throws -> RouteQuery { RouteQuery(name: try DomainName.normalise(name)) }

func address(_ text: String) throws -> IPAddress { try #require(IPAddress(parsing: text)) }

func prefix(_ text: String) throws -> IPPrefix { try #require(IPPrefix(parsing: text)) }

/// The refusal of a rule set or a list, or nil when it was accepted.
func refusal(_ make: () throws(RoutingError) -> some Any) -> RoutingError? {
    do throws(RoutingError) {
        _ = try make()
        return nil
    } catch {
        return error
    }
}

/// All octets of a file of this package.
func file(_ path: String) throws -> [UInt8] {
    let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
    let descriptor = unsafe open("/\(root)/\(path)", O_RDONLY)
    try #require(descriptor >= 0, "\(path) can be opened")
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    while true {
        let count = unsafe read(descriptor, &chunk, chunk.count)
        try #require(count >= 0)
        if count == 0 { return bytes }
        bytes += chunk[..<count]
    }
}
