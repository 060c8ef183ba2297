/// The choice among pages that are tried through one upstream.

public import Health

/// Which page of a list is chosen: the first in its order that answers as it should.
///
/// The pages may be tried one after the other (`next`) or beside each other; the choice is the same.
public struct ProbeChoice: Equatable, Sendable {
    /// What came of a page.
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
