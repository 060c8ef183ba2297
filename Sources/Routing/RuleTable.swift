/// What stands behind each rule's number: its verdict, and where it is written.

/// All rules, packed: a million of them must not cost a million strings.
struct RuleTable: Sendable {
    /// The different verdicts; the first three are always there.
    private(set) var verdicts: [Verdict] = [.proxy, .direct, .reject]
    private var verdictOf: [UInt16] = []
    private var text: [UInt8] = []
    private var ends: [UInt32] = []
    /// 0 where the line isn't known.
    private var lines: [UInt32] = []
    private var files: [String?] = []
    private var fileOf: [UInt16] = []
    /// The lists before `rules` that nobody has written, and where each ends.
    private var implied: [(list: String, end: UInt32)] = []
    /// Where `bypass` and `domains` begin.
    var bypassStart: UInt32 = 0
    var domainsStart: UInt32 = 0

    var count: UInt32 { UInt32(verdictOf.count) }

    mutating func reserve(_ count: Int) {
        verdictOf.reserveCapacity(count)
        ends.reserveCapacity(count)
        lines.reserveCapacity(count)
        fileOf.reserveCapacity(count)
    }

    /// The number of a verdict, a new one if nobody used it yet.
    mutating func number(of verdict: Verdict) -> Int {
        if let known = verdicts.firstIndex(of: verdict) { return known }
        verdicts.append(verdict)
        return verdicts.count - 1
    }

    mutating func append(_ source: SourceText, verdict: Int) {
        verdictOf.append(UInt16(verdict))
        text += source.text.utf8
        ends.append(UInt32(text.count))
        lines.append(UInt32(clamping: source.line ?? 0))
        if files.last != source.file || files.isEmpty { files.append(source.file) }
        fileOf.append(UInt16(files.count - 1))
    }

    func verdictNumber(of rule: UInt32) -> Int { Int(verdictOf[Int(rule)]) }

    func verdict(of rule: UInt32) -> Verdict { verdicts[verdictNumber(of: rule)] }

    func source(of rule: UInt32) -> SourceText {
        let index = Int(rule)
        let start = index == 0 ? 0 : Int(ends[index - 1])
        return SourceText(
            text: String(decoding: text[start..<Int(ends[index])], as: UTF8.self),
            line: lines[index] == 0 ? nil : Int(lines[index]), file: files[Int(fileOf[index])])
    }

    /// Notes that the rules since the last such list are those of one that nobody has written.
    mutating func endImplied(_ list: String) { implied.append((list, count)) }

    /// Whether a rule stands in a list that nobody has written.
    func isImplied(_ rule: UInt32) -> Bool { rule < implied.last?.end ?? 0 }

    /// The list that a rule stands in.
    func list(of rule: UInt32) -> String {
        if let own = implied.first(where: { rule < $0.end }) { return own.list }
        return rule < bypassStart ? "rules" : rule < domainsStart ? "bypass" : "domains"
    }

    func origin(of rule: UInt32) -> RuleOrigin {
        let source = source(of: rule)
        return RuleOrigin(list: list(of: rule), file: source.file, line: source.line, text: source.text)
    }
}

/// For each verdict the first of some rules that has it: enough to say whether one before a place decides otherwise.
struct Earliest: Sendable {
    private var rules: [UInt32] = []

    mutating func note(_ rule: UInt32, verdict: Int) {
        while rules.count <= verdict { rules.append(noRule) }
        rules[verdict] = min(rules[verdict], rule)
    }

    /// The first rule with another verdict than this one, or `noRule`.
    func first(but verdict: Int) -> UInt32 {
        var best = noRule
        for (index, rule) in rules.enumerated() where index != verdict { best = min(best, rule) }
        return best
    }
}
