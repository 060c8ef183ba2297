/// Which entry decided, for whoever asks why.

/// The place of an entry and its text, found out when they are asked for: a flow that opens keeps what is needed for
/// that, and few of them are ever looked at.
public struct RuleOrigin: Sendable {
    private enum Source {
        case known(list: String, file: String?, line: Int?, text: String)
        case rule(UInt32, Shared<RuleBook>)
        /// An entry of a list, what it matched, and the rule that names the list, if one does.
        case entry(UInt32, RuleList, RouteQuery, through: UInt32, Shared<RuleBook>?)
    }

    private let source: Source

    public init(list: String, file: String? = nil, line: Int? = nil, text: String) {
        source = .known(list: list, file: file, line: line, text: text)
    }

    init(_ match: RuleBook.Match, of book: Shared<RuleBook>, matching query: RouteQuery) {
        if let (reference, position) = match.list {
            let list = book.value.references[reference].lists[position]
            source = .entry(match.entry, list, query, through: match.rule, book)
        } else {
            source = .rule(match.rule, book)
        }
    }

    init(entry: UInt32, of list: RuleList, matching query: RouteQuery) {
        source = .entry(entry, list, query, through: noRule, nil)
    }

    /// `rules`, `bypass`, `domains`, or the name of a set.
    public var list: String {
        switch source {
        case .known(let list, _, _, _): list
        case .rule(let rule, let book): book.value.table.list(of: rule)
        case .entry(_, let list, _, _, _): list.name
        }
    }

    public var file: String? {
        switch source {
        case .known(_, let file, _, _): file
        case .rule(let rule, let book): book.value.table.source(of: rule).file
        case .entry(_, let list, _, _, _): list.file
        }
    }

    public var line: Int? {
        switch source {
        case .known(_, _, let line, _): line
        case .rule(let rule, let book): book.value.table.source(of: rule).line
        case .entry(let entry, let list, _, _, _): Int(list.entries.lines[Int(entry)])
        }
    }

    /// The entry; one of a set is spelled as the domain list would spell it.
    public var text: String {
        switch source {
        case .known(_, _, _, let text): text
        case .rule(let rule, let book): book.value.table.source(of: rule).text
        case .entry(let entry, let list, let query, _, _):
            list.entries.index.spelling(of: entry, matching: query) ?? ""
        }
    }

    /// Whether it is a MATCH, which looks at nothing.
    public var isCatchAll: Bool {
        guard case .rule(let rule, let book) = source else { return false }
        return book.value.index.always == rule
    }

    /// Whether it is one of `ImpliedNames`.
    public var isImplied: Bool {
        guard case .rule(let rule, let book) = source else { return false }
        return book.value.table.isImplied(rule)
    }

    /// The rule that names the set, when the entry is in one.
    public var through: SourceText? {
        guard case .entry(_, _, _, let rule, let book?) = source else { return nil }
        return book.value.table.source(of: rule)
    }
}

extension RuleOrigin: CustomStringConvertible {
    /// `rules, starship.json5:12: DOMAIN,a.example,DIRECT`; an entry of a set is followed by the rule.
    public var description: String {
        var place = Self.place(file: file, line: line)
        if !place.isEmpty { place = ", " + place }
        guard let through else { return "\(list)\(place): \(text)" }
        let rule = Self.place(file: through.file, line: through.line)
        return "\(list)\(place): \(text) (by \(rule.isEmpty ? "" : rule + ": ")\(through.text))"
    }

    static func place(file: String?, line: Int?) -> String {
        switch (file, line) {
        case (nil, nil): ""
        case (nil, let line?): "line \(line)"
        case (let file?, nil): file
        case (let file?, let line?): "\(file):\(line)"
        }
    }
}

extension RuleOrigin: Equatable {
    /// Whether both say the same.
    public static func == (left: RuleOrigin, right: RuleOrigin) -> Bool {
        left.list == right.list && left.file == right.file && left.line == right.line && left.text == right.text
            && left.through == right.through
    }
}
