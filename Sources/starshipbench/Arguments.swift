/// The command line after the words that choose what runs: `--name value` pairs, each used once.

internal import Addresses
internal import Bytes

/// A command line that makes no sense, in words for whoever typed it.
struct UsageError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// Options by name; what nobody asked for is an error at the end.
struct Arguments {
    private var values: [String: String] = [:]
    private var flags: Set<String> = []

    /// Reads `--name value` pairs; the names in `flags` take no value.
    init(_ words: ArraySlice<String>, flags known: Set<String> = []) throws(UsageError) {
        var rest = words
        while let word = rest.popFirst() {
            guard word.hasPrefix("--") else { throw UsageError("what is \(word)?") }
            let name = String(word.dropFirst(2))
            if known.contains(name) {
                flags.insert(name)
            } else {
                guard let value = rest.popFirst() else { throw UsageError("--\(name) wants a value") }
                guard values.updateValue(value, forKey: name) == nil else { throw UsageError("--\(name) twice") }
            }
        }
    }

    /// Refuses what is left over: a misspelt option must not pass for its default.
    func finish() throws(UsageError) {
        if let name = values.keys.min() { throw UsageError("--\(name) means nothing here") }
    }

    func flag(_ name: String) -> Bool { flags.contains(name) }

    mutating func text(_ name: String) throws(UsageError) -> String {
        guard let value = values.removeValue(forKey: name) else { throw UsageError("--\(name) is missing") }
        return value
    }

    mutating func number(_ name: String, default standard: Int? = nil) throws(UsageError) -> Int {
        if values[name] == nil, let standard { return standard }
        let value = try text(name)
        guard let number = Int(value), number >= 0 else { throw UsageError("--\(name) wants a number, not \(value)") }
        return number
    }

    /// A time in seconds, with a fraction.
    mutating func seconds(_ name: String, default standard: Double) throws(UsageError) -> Interval {
        var seconds = standard
        if let value = values.removeValue(forKey: name) {
            guard let number = Double(value), number >= 0, number < 1e6 else {
                throw UsageError("--\(name) wants seconds, not \(value)")
            }
            seconds = number
        }
        return .nanoseconds(Int64(seconds * 1e9))
    }

    mutating func port(_ name: String) throws(UsageError) -> UInt16? {
        guard values[name] != nil else { return nil }
        guard let port = UInt16(try text(name)), port > 0 else { throw UsageError("--\(name) wants a port") }
        return port
    }

    mutating func address(_ name: String) throws(UsageError) -> SocketAddress {
        let value = try text(name)
        guard let address = SocketAddress(parsing: value) else {
            throw UsageError("--\(name) wants an address and a port, not \(value)")
        }
        return address
    }
}
