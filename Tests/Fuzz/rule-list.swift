/// Any bytes as a list in each format, and line by line as rules and as entries of a domain list.

import Addresses
import Routing

func fuzzRuleList(_ bytes: [UInt8]) {
    for format in RuleList.Format.allCases { read(bytes, format) }
    let text = String(decoding: bytes, as: UTF8.self)
    let lines = text.split(separator: "\n").prefix(64).map(String.init)
    if let set = rules(rules: lines) { check(set, lines) }
    if let set = rules(domains: lines) { check(set, lines) }
    for line in lines {
        guard let name = try? DomainName.normalise(line) else { continue }
        precondition((try? DomainName.normalise(name)) == name, "a normal name has another form")
        precondition(name.utf8.count <= 253 && name.utf8.allSatisfy { $0 < 0x80 }, "a name that no query carries")
    }
}

/// What can be asked of every list: names of its own lines among them.
private func questions(_ lines: [String]) -> [RouteQuery] {
    var questions = [RouteQuery(address: IPAddress(v4: 0x0a00_0001), port: 443, network: .tcp)]
    for line in lines.prefix(16) {
        let name = line.split { ", \t'".contains($0) }.max { $0.utf8.count < $1.utf8.count } ?? ""
        guard let name = try? DomainName.normalise(String(name.drop { "*+.".contains($0) })) else { continue }
        questions.append(RouteQuery(name: name))
        questions.append(RouteQuery(name: "a." + name, address: IPAddress(v4: 0x0a00_0001)))
    }
    return questions
}

private func read(_ bytes: [UInt8], _ format: RuleList.Format) {
    do throws(RoutingError) {
        let list = try RuleList.parse(bytes.span, name: "x", format: format)
        precondition(format == .auto || list.format == format, "a list of another format")
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
        for query in questions(lines) {
            let origin = list.match(query)
            precondition(list.contains(query) == (origin != nil), "two answers to one question")
            precondition(origin.map { !$0.text.isEmpty && $0.line != nil } ?? true, "an entry that nobody can find")
        }
    } catch {
        refused(error)
    }
}

private func rules(domains: [String] = [], rules: [String] = []) -> RuleSet? {
    do throws(RoutingError) {
        return try RuleSet(domains: sources(domains), bypass: [], rules: sources(rules), profiles: ["p"])
    } catch {
        refused(error)
        return nil
    }
}

private func sources(_ lines: [String]) -> [SourceText] {
    lines.enumerated().map { SourceText(text: $1, line: $0 + 1) }
}

/// The ways to ask agree with one another.
private func check(_ set: RuleSet, _ lines: [String]) {
    _ = set.capture
    for query in questions(lines) {
        let decision = set.decide(query)
        precondition(set.verdict(query) == decision.verdict, "two verdicts for one question")
        precondition(decision.origin.map { !$0.description.isEmpty } ?? true, "a decision without words")
        guard let name = query.name, case .settled(let settled) = set.verdict(forName: name) else { continue }
        precondition(settled.verdict == set.verdict(RouteQuery(name: name)), "a name is settled otherwise")
    }
}

/// A refusal is one short line.
private func refused(_ error: RoutingError) {
    let text = error.description
    precondition(!error.found.isEmpty && !error.expected.isEmpty, "a refusal without words")
    precondition(text.utf8.count < 2000 && !text.utf8.contains(0x0a), "a refusal that is no line")
}
