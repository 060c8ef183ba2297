/// The JSON object that `starshipd` prints on SIGUSR1.

import Foundation

public struct Snapshot: CustomStringConvertible {
    private let values: [String: any Sendable]
    public let description: String

    init(_ line: Substring) throws {
        guard let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] else {
            throw LabError("not a JSON object: \(line)")
        }
        var values: [String: any Sendable] = [:]
        Self.flatten(object, "", &values)
        self.values = values
        description = String(line)
    }

    /// The number at a path of keys, such as `counters.echo_replies`; a test that asks for one that does not
    /// exist is mistaken, and would otherwise pass for ever.
    public subscript(_ path: String) -> Int {
        guard let number = values[path] as? Int else { preconditionFailure("no number at \(path) in \(description)") }
        return number
    }

    /// Whether there is a value at a path.
    public func has(_ path: String) -> Bool { values[path] != nil }

    private static func flatten(_ object: [String: Any], _ prefix: String, _ values: inout [String: any Sendable]) {
        for (key, value) in object {
            switch value {
            case let inner as [String: Any]: flatten(inner, "\(prefix)\(key).", &values)
            case let number as NSNumber: values[prefix + key] = number.intValue
            case let text as String: values[prefix + key] = text
            default: break
            }
        }
    }
}
