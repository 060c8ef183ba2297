/// A whole number kept in four octets.
///
/// A gateway holds tens of thousands of endpoints, and no count of octets under way exceeds a window. What does not fit
/// is held at the bound.
@propertyWrapper struct Compact: Sendable {
    private var stored: Int32

    @inline(__always) init(wrappedValue: Int) { stored = Int32(clamping: wrappedValue) }

    @inline(__always) var wrappedValue: Int {
        get { Int(stored) }
        set { stored = Int32(clamping: newValue) }
    }
}
