/// What a million suffixes cost: to load, to keep, and to ask.
///
/// One matcher a process, so that nobody pays for another's memory. What is measured is the way of a list into the
/// matcher and back: octets of a file in, an answer for one name out. Names come in no order, so the processor's caches
/// help as little as they do for the names that devices ask for.

internal import Addresses
internal import Bytes
internal import LinuxIO
internal import Routing

struct RoutingBench {
    private let kind: String
    private let count: Int
    private let window: Interval
    private let corpus: SuffixCorpus
    private var line = JSONLine()

    init(_ arguments: inout Arguments) throws {
        kind = try arguments.text("matcher")
        count = max(1, try arguments.number("suffixes", default: 1_000_000))
        window = try arguments.seconds("seconds", default: 2)
        try arguments.finish()
        corpus = SuffixCorpus(count: count)
    }

    mutating func run() throws {
        switch kind {
        case "index": try decide(try measure(IndexMatcher.self).list)
        case "linear": _ = try measure(LinearMatcher.self)
        case "dictionary": _ = try measure(DictionaryMatcher.self)
        default: throw UsageError("--matcher is index, linear or dictionary")
        }
        line.print()
    }

    private mutating func measure<Matcher: SuffixMatcher>(_ type: Matcher.Type) throws -> Matcher {
        let questions = corpus.questions(1 << 16)
        var text = corpus.text()
        ProcessMemory.trim()
        let octets = text.count
        let before = ProcessMemory.resident()
        let peakBefore = Self.peak()
        let began = Clock.now()
        let matcher = try Matcher(reading: text)
        line.add("load_seconds", Self.seconds(since: began))
        // Above what was there before, the file's octets among it.
        line.add("load_peak_mb", Double(max(0, Self.peak() - max(before, peakBefore))) / 1e6)
        text = []
        ProcessMemory.trim()
        line.add("memory_mb", Double(ProcessMemory.resident() - (before - octets)) / 1e6)
        line.add("file_mb", Double(octets) / 1e6)
        ask(matcher, questions)
        return matcher
    }

    /// Asks for every name in turn, again and again until the time is over, and counts wrong answers.
    private mutating func ask(_ matcher: some SuffixMatcher, _ questions: [SuffixCorpus.Question]) {
        var asked = 0
        var wrong = 0
        // A clock read for so many names that it doesn't count, and not so many that a list takes a minute for them.
        let batch = kind == "linear" ? 8 : 4096
        let began = Clock.now()
        while Clock.now() - began < window {
            for _ in 0..<batch {
                let question = questions[asked % questions.count]
                if matcher.matches(question.name) != question.matches { wrong += 1 }
                asked += 1
            }
        }
        line.add("match_ns", Self.seconds(since: began) * 1e9 / Double(asked))
        line.add("matches", asked)
        line.add("wrong", wrong)
    }

    /// What a whole decision costs, with this list as a set behind a few rules: a flow makes one when it opens.
    private mutating func decide(_ list: RuleList) throws {
        let rules = [
            "DOMAIN-SUFFIX,intranet.invalid,DIRECT", "DST-PORT,25,REJECT", "RULE-SET,suffixes,PROXY",
            "IP-CIDR,198.51.100.0/24,PROXY",
        ]
        let set = try RuleSet(
            domains: [SourceText(text: "unused.invalid", line: 1, file: "starship.json5")], bypass: [],
            rules: rules.enumerated().map { SourceText(text: $1, line: $0 + 1, file: "starship.json5") },
            sets: ["suffixes": list])
        let queries = corpus.questions(1 << 16).map { question in
            RouteQuery(
                name: question.name, address: IPAddress(v4: 0xc000_0201), port: 443,
                source: IPAddress(v4: 0x0a09_0002), network: .tcp)
        }
        var kept: Decision?
        var octets = 0
        time("decide_ns", queries) { kept = set.decide($0) }
        time("verdict_ns", queries) { if set.verdict($0) == .proxy { octets += 1 } }
        time("decide_and_say_ns", queries) { octets += set.decide($0).origin?.description.utf8.count ?? 0 }
        let known = [RouteQuery(name: "a.intranet.invalid", port: 443)]
        time("decide_by_rule_ns", known) { kept = set.decide($0) }
        time("decide_by_rule_and_say_ns", known) { octets += set.decide($0).origin?.description.utf8.count ?? 0 }
        precondition(kept?.origin != nil && octets > 0, "nothing was decided")
    }

    private mutating func time(_ name: String, _ queries: [RouteQuery], _ body: (RouteQuery) -> Void) {
        var asked = 0
        let began = Clock.now()
        while Clock.now() - began < window / 2 {
            for _ in 0..<4096 {
                body(queries[asked % queries.count])
                asked += 1
            }
        }
        line.add(name, Self.seconds(since: began) * 1e9 / Double(asked))
    }

    private static func seconds(since began: Instant) -> Double { Double((Clock.now() - began).nanoseconds) / 1e9 }

    /// The most memory that this process has had, in bytes; 0 without /proc.
    private static func peak() -> Int {
        guard let text = try? SmallFile.read("/proc/self/status", limit: 65_536) else { return 0 }
        for row in text.split(separator: 0x0a) where row.starts(with: "VmHWM:".utf8) {
            let digits = row.filter { $0 >= 0x30 && $0 <= 0x39 }
            return (Int(String(decoding: digits, as: UTF8.self)) ?? 0) * 1024
        }
        return 0
    }
}
