/// What a person sees at a glance.

/// How an upstream is.
public enum Colour: String, CaseIterable, Sendable {
    /// A request came back through it lately, as it should.
    case green
    /// Something is there, and something is wrong: a request fails, is slow or is long ago, or one try was missed.
    case yellow
    /// Nothing gets through: two misses in a row, or it rejects the credentials.
    case red
    /// Nobody has tried it, or there is nothing to try it with.
    case grey
}
