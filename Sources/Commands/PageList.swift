/// A file of pages that a proxy may be tried with.

internal import Profiles

/// One page of a list: where it is, and what it answers.
public struct ListedPage: Equatable, Sendable {
    var url: String
    var statuses: [Int] = []
    /// A text that must be in it.
    var body: String?

    /// The page as it stands in a list, and as the daemon is asked for it.
    public var line: String {
        var words = [url]
        // A text stands behind statuses alone.
        if !statuses.isEmpty || body != nil {
            words.append((statuses.isEmpty ? [200] : statuses).map(String.init).joined(separator: ","))
        }
        if let body { words.append(body) }
        return words.joined(separator: " ")
    }

    /// The page as a profile's setting: a URL alone would make a page wrong that answers 204, as it should.
    var setting: String {
        var parts = ["url: \(JSON.string(url).text)"]
        if statuses.count == 1, statuses != [200] { parts.append("status: \(statuses[0])") }
        if statuses.count > 1 { parts.append("status: \(JSON.array(statuses.map(JSON.integer)).text)") }
        if let body { parts.append("body: \(JSON.string(body).text)") }
        return "health: { \(parts.joined(separator: ", ")) }"
    }
}

/// One page a line: an http URL, its statuses with commas between them, a text; a line that begins with `#` is a comment.
public enum PageList {
    /// The most pages; the daemon takes no more.
    public static let limit = 32
    /// Where the package puts the list.
    public static let place = "/usr/share/starship/health/pages.txt"

    /// Reads a list; the error names the line.
    public static func read(_ text: String) throws(PageListError) -> [ListedPage] {
        var pages: [ListedPage] = []
        for (number, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let words = line.split(maxSplits: 2, whereSeparator: \.isWhitespace).map(String.init)
            guard let first = words.first, !first.hasPrefix("#") else { continue }
            guard try isAddress(first, number + 1) else {
                throw PageListError(line: number + 1, "found no URL; expected one such as http://host/path")
            }
            var page = ListedPage(url: first)
            if words.count > 1 { page.statuses = try statuses(words[1], number + 1) }
            if words.count > 2 { page.body = String(words[2].trimmedAtEnd.drop(while: \.isWhitespace)) }
            pages.append(page)
        }
        guard !pages.isEmpty else { throw PageListError(line: 1, "found no page; expected one a line") }
        guard pages.count <= limit else {
            throw PageListError(line: 1, "found \(pages.count) pages; expected at most \(limit)")
        }
        return pages
    }

    private static func statuses(_ text: String, _ line: Int) throws(PageListError) -> [Int] {
        let words = text.split(separator: ",", omittingEmptySubsequences: false)
        let numbers = words.compactMap { Arguments.number(String($0)) }.filter { (100...599).contains($0) }
        guard numbers.count == words.count else {
            throw PageListError(line: line, "found no statuses; expected some of 100 to 599, with commas between them")
        }
        return numbers
    }

    private static func isAddress(_ text: String, _ line: Int) throws(PageListError) -> Bool {
        do throws(WebAddressError) {
            return try WebAddress.parse(text) != nil
        } catch {
            throw PageListError(line: line, "\(error)")
        }
    }
}

/// What is wrong with a list of pages, and where.
public struct PageListError: Error, Equatable, Sendable, CustomStringConvertible {
    let line: Int
    let words: String

    init(line: Int, _ words: String) {
        self.line = line
        self.words = words
    }

    public var description: String { "line \(line): \(words)" }
}
