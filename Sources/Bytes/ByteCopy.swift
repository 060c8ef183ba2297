/// The bulk copy between spans that the standard library does not have yet.

extension MutableSpan<UInt8> {
    /// Copies all bytes of `source` to `offset`, which must leave room for them.
    public mutating func copy(_ source: Span<UInt8>, at offset: Int) {
        precondition(offset >= 0 && source.count <= count - offset, "a copy leaves its destination")
        guard source.count > 0 else { return }
        // Safe: the range was checked above, and a mutable span is never aliased by another span.
        unsafe withUnsafeMutableBufferPointer { destination in
            unsafe source.withUnsafeBufferPointer { bytes in
                if let base = destination.baseAddress, let from = bytes.baseAddress {
                    unsafe (base + offset).update(from: from, count: bytes.count)
                }
            }
        }
    }
}

extension [UInt8] {
    /// A copy of the bytes of a span.
    public init(copying source: Span<UInt8>) {
        self.init(capacity: source.count) { output in
            // Safe: the output span has room for exactly `source.count` bytes, all of which are initialised here.
            unsafe output.withUnsafeMutableBufferPointer { destination, filled in
                unsafe source.withUnsafeBufferPointer { bytes in
                    if let base = destination.baseAddress, let from = bytes.baseAddress {
                        unsafe base.initialize(from: from, count: bytes.count)
                    }
                }
                filled = source.count
            }
        }
    }

    /// Appends a copy of the bytes of a span.
    ///
    /// The array grows as the standard library has it: room for these bytes alone would have each piece of a message
    /// cost a copy of the whole.
    public mutating func append(copying source: Span<UInt8>) {
        // Safe: the pointer does not outlive the borrow of `source`.
        unsafe source.withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
    }
}
