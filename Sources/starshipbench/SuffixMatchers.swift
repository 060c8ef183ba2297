/// Three ways to find out whether a name is below one of many suffixes: ours, and the two that come to mind first.

internal import Routing

/// A way to match names, made from a list as a file has it.
protocol SuffixMatcher {
    init(reading text: [UInt8]) throws
    func matches(_ name: String) -> Bool
}

/// The index of this project.
struct IndexMatcher: SuffixMatcher {
    let list: RuleList

    init(reading text: [UInt8]) throws {
        list = try RuleList.parse(text.span, name: "suffixes", file: "suffixes.txt", format: .plain)
    }

    func matches(_ name: String) -> Bool { list.contains(RouteQuery(name: name)) }
}

/// Every suffix in turn.
struct LinearMatcher: SuffixMatcher {
    private let suffixes: [String]

    init(reading text: [UInt8]) {
        suffixes = text.split(separator: 0x0a).map { String(decoding: $0, as: UTF8.self) }
    }

    func matches(_ name: String) -> Bool {
        let length = name.utf8.count
        for suffix in suffixes where name.hasSuffix(suffix) {
            let rest = length - suffix.utf8.count
            if rest == 0 || name.utf8[name.utf8.index(name.startIndex, offsetBy: rest - 1)] == UInt8(ascii: ".") {
                return true
            }
        }
        return false
    }
}

/// A dictionary that is asked for the name, and for what stands behind each of its dots.
struct DictionaryMatcher: SuffixMatcher {
    private let suffixes: [String: UInt32]

    init(reading text: [UInt8]) {
        var suffixes: [String: UInt32] = [:]
        for (line, suffix) in text.split(separator: 0x0a).enumerated() {
            suffixes[String(decoding: suffix, as: UTF8.self)] = UInt32(line + 1)
        }
        self.suffixes = suffixes
    }

    func matches(_ name: String) -> Bool {
        if suffixes[name] != nil { return true }
        for dot in name.utf8.indices where name.utf8[dot] == UInt8(ascii: ".") {
            if suffixes[String(name[name.utf8.index(after: dot)...])] != nil { return true }
        }
        return false
    }
}
