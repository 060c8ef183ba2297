/// A list of pages that an upstream may be tried with: one a line, as `Configs/health/pages.txt` has them.
///
///     http://host/path [STATUS,STATUS… [a text that must be in the page]]
///
/// What can stand there is what a profile's `health` can say, so the page that is chosen can be written there.

/// Why a list was refused, and in which line.
public struct PageListError: Error, Equatable, Sendable, CustomStringConvertible {
    /// From 1.
    public var line: Int
    /// What was found, and what would be right.
    public var words: String

    public var description: String { "line \(line): \(words)" }
}

/// Reads lists of pages.
public enum PageList {
    /// The most pages of a list.
    public static let limit = 32

    /// Reads the pages of a list, at least one; a line that begins with `#` is a comment.
    public static func read(_ text: String) throws(PageListError) -> [HealthOptions.Page] {
        var pages: [HealthOptions.Page] = []
        for (number, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            // Scalars, not characters: an accent behind a blank is the first of the text's, not a part of the blank.
            let words = line.unicodeScalars.split(maxSplits: 2, whereSeparator: \.properties.isWhitespace)
            guard let first = words.first, first.first != "#" else { continue }
            guard pages.count < limit else {
                throw PageListError(line: number + 1, words: "found more than \(limit) pages; expected fewer")
            }
            pages.append(try page(words.map(Substring.init), line: number + 1))
        }
        guard !pages.isEmpty else { throw PageListError(line: 1, words: "found no page; expected one a line") }
        return pages
    }

    private static func page(_ words: [Substring], line: Int) throws(PageListError) -> HealthOptions.Page {
        var page: HealthOptions.Page
        do throws(PageURLError) {
            page = HealthOptions.Page(try PageURL.parse(String(words[0])))
        } catch {
            throw PageListError(line: line, words: error.description)
        }
        if words.count > 1 { page.statuses = try statuses(words[1], line: line) }
        if words.count > 2 { page.body = try body(words[2], line: line) }
        var keys = HealthKeys()
        (keys.url, keys.status, keys.body) = (page.url, page.statuses, page.body)
        if let mistake = keys.contradiction(over: HealthOptions()) {
            throw PageListError(line: line, words: "found \(mistake.found); expected \(mistake.expected)")
        }
        return page
    }

    /// Reads what stands behind the statuses, blanks around it aside; nil when there is nothing.
    private static func body(_ text: Substring, line: Int) throws(PageListError) -> String? {
        let scalars = text.unicodeScalars.drop(while: \.properties.isWhitespace)
        guard let last = scalars.lastIndex(where: { !$0.properties.isWhitespace }) else { return nil }
        let body = String(scalars[...last])
        let limit = HealthOptions.Page.bodyLimit
        guard body.utf8.count <= limit, !body.hasControlCharacters, body.contains(where: { $0 != "*" }) else {
            throw PageListError(
                line: line,
                words: "found \(Shown.text(body)); expected a text of at most \(limit) octets that not every page has")
        }
        return body
    }

    private static func statuses(_ text: Substring, line: Int) throws(PageListError) -> [Int] {
        let words = text.split(separator: ",", omittingEmptySubsequences: false)
        let numbers = words.compactMap { Int($0) }.filter(HealthOptions.Page.possibleStatuses.contains)
        guard numbers.count == words.count else {
            throw PageListError(
                line: line, words: "found no statuses; expected some of 200 to 599, with commas between them")
        }
        let limit = HealthOptions.Page.statusLimit
        guard numbers.count <= limit, Set(numbers).count == numbers.count else {
            throw PageListError(
                line: line, words: "found a status twice, or too many; expected each once, and at most \(limit)")
        }
        return numbers
    }
}
