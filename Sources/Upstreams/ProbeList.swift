/// A list of pages to try through a proxy, and which of them is chosen.

public import Health
import Wire

/// Why a list of pages was refused, and in which line.
public struct ProbeListError: Error, Equatable, Sendable, CustomStringConvertible {
    public var line: Int
    public var message: String

    public init(line: Int, message: String) {
        self.line = line
        self.message = message
    }

    public var description: String { "line \(line): \(message)" }
}

extension ProbePage {
    /// The most lines of a list that are pages.
    public static let listLimit = 32

    /// Reads a list: in each line a URL, its statuses and a text, the last two if need be; `#` begins a comment.
    public static func list(_ text: String) throws(ProbeListError) -> [ProbePage] {
        var pages: [ProbePage] = []
        for (number, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let line = line.drop { $0 == " " || $0 == "\t" }
            guard let first = line.first, first != "#" else { continue }
            do throws(ProbeURLError) {
                pages.append(try page(line: line))
            } catch {
                throw ProbeListError(line: number + 1, message: error.description)
            }
            guard pages.count <= listLimit else {
                throw ProbeListError(line: number + 1, message: "found more than \(listLimit) pages; expected fewer")
            }
        }
        return pages
    }

    private static func page(line: Substring) throws(ProbeURLError) -> ProbePage {
        let words = line.split(maxSplits: 2, omittingEmptySubsequences: true) { $0 == " " || $0 == "\t" }
        var page = try ProbePage(url: String(words[0]))
        guard words.count > 1 else { return page }
        page.statuses = words[1].split(separator: ",").compactMap { Int($0) }.filter { (100...599).contains($0) }
        guard page.statuses.count == words[1].split(separator: ",", omittingEmptySubsequences: false).count else {
            throw .statuses
        }
        guard words.count > 2 else { return page }
        var body = words[2].drop { $0 == " " || $0 == "\t" }
        while body.last == " " || body.last == "\t" { body.removeLast() }
        page.body = body.isEmpty ? nil : String(body)
        return page
    }

    /// Reads `http://host[:port]/path`.
    public init(url: String) throws(ProbeURLError) {
        let scheme = url.prefix { $0 != ":" }.lowercased()
        guard scheme != "https" else { throw .encrypted }
        guard scheme == "http", url.dropFirst(4).hasPrefix("://") else { throw .notHTTP }
        guard url.utf8.count <= 2048, url.utf8.allSatisfy({ 0x21...0x7e ~= $0 }) else { throw .characters }
        let rest = url.dropFirst(7)
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard !authority.contains("@"), !rest.contains("#") else { throw .extras }
        guard let target = Target.parse(Array(authority.utf8).span, defaultPort: 80) else { throw .host }
        let path = String(rest[authority.endIndex...])
        self.init(target, path: path.hasPrefix("/") ? path : "/" + path)
    }

    /// The page as a URL.
    public var url: String {
        "http://\(target.port == 80 ? "\(target.host)" : "\(target)")\(path)"
    }
}

/// Why a text is no page's URL.
public enum ProbeURLError: Error, Equatable, Sendable, CustomStringConvertible {
    case encrypted
    case notHTTP
    case characters
    case extras
    case host
    case statuses

    public var description: String {
        switch self {
        case .encrypted: "found an https URL; expected an http one: there is no TLS stack here"
        case .notHTTP: "found no http URL; expected http://HOST/PATH"
        case .characters: "found blanks or other characters that no URL has; expected at most 2048 of those it has"
        case .extras: "found a user or a fragment in the URL; expected none"
        case .host: "found no usable host and port in the URL; expected http://HOST[:PORT]/PATH"
        case .statuses: "found no list of statuses; expected numbers from 100 to 599 with commas between them"
        }
    }
}

/// Which page of a list is chosen: the first in its order that answers as it should.
///
/// The pages may be tried one after the other (`next`) or beside each other; the choice is the same.
public struct ProbeChoice: Equatable, Sendable {
    public enum Verdict: Equatable, Sendable {
        case good
        case bad(Cause)
    }

    public let pages: [ProbePage]
    /// What became of each; nil: not tried yet.
    public private(set) var verdicts: [Verdict?]
    /// The proxy itself is not there, so no other page will do better.
    public private(set) var isHopeless = false

    public init(_ pages: [ProbePage]) {
        self.pages = pages
        verdicts = [Verdict?](repeating: nil, count: pages.count)
    }

    /// The page to try next; nil when it is decided.
    public var next: Int? { isHopeless || chosen != nil ? nil : verdicts.firstIndex { $0 == nil } }

    /// The page that is chosen, once those before it have failed.
    public var chosen: Int? {
        guard let first = verdicts.firstIndex(where: { $0 == nil || $0 == .good }), verdicts[first] == .good else {
            return nil
        }
        return first
    }

    /// Whether there is nothing more to find out.
    public var isDecided: Bool { next == nil }

    /// Takes the result of a page's probe.
    public mutating func take(_ result: ProbeResult, of page: Int) {
        if case .bad(let cause)? = result.connect?.outcome {
            verdicts[page] = .bad(cause)
            isHopeless = true
        } else if case .bad(let cause)? = result.request?.outcome {
            verdicts[page] = .bad(cause)
            if cause == .credentialsRejected { isHopeless = true }
        } else {
            verdicts[page] = result.request == nil ? .bad(.notVerified) : .good
        }
    }
}
