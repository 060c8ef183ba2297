/// Looking at an owned value in an optional without taking it out, which `!` and `?.` can do for copyable values
/// alone (Swift 6.3).

extension Optional where Wrapped: ~Copyable {
    /// The value in its place.
    ///
    /// Traps when there is none: whoever asks knows that it is there.
    @inlinable public var value: Wrapped {
        _read {
            switch self {
            case .some(let value): yield value
            case .none: preconditionFailure("no value")
            }
        }
        _modify {
            yield &self!
        }
    }
}
