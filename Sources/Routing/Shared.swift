/// One value that many hold, and that never changes.

/// A copy costs one reference, whatever the value is made of: an index is a dozen arrays, and each flow that asks would
/// count references to all of them.
final class Shared<Value: Sendable>: Sendable {
    let value: Value

    init(_ value: consuming Value) { self.value = value }
}
