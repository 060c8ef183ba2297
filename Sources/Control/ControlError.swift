/// Why a request was refused, as its client reads it.

public import Profiles

/// An answer that is none: a status, and an object that says what is wrong, where, and what would be right.
public struct ControlError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The sort of mistake that is none of a configuration's or a link's, for programs.
    public enum Code: String, Sendable {
        case badRequest
        case forbidden
        case notFound
        case methodNotAllowed
        case conflict
        case tooLarge
        case unsupportedMediaType
        case misdirected
        /// A document that is well-formed and names what is not there.
        case badValue
        /// A switch that names neither a device nor all of them.
        case noTarget
        /// A confirmation of what is not waiting for one.
        case notConfirmed
        /// The disk did not take it; what was running goes on.
        case storeFailed
        /// The kernel did not take it; what was running goes on.
        case notApplied
        case unavailable

        var status: Int {
            switch self {
            case .badRequest, .noTarget: 400
            case .forbidden: 403
            case .notFound: 404
            case .methodNotAllowed: 405
            case .conflict, .notConfirmed: 409
            case .tooLarge: 413
            case .unsupportedMediaType: 415
            case .misdirected: 421
            case .badValue: 422
            case .storeFailed, .notApplied, .unavailable: 503
            }
        }
    }

    /// The status of HTTP.
    public let status: Int
    public let code: String
    public var message: String
    /// Where in the document, or which parameter.
    public var path: String?
    public var position: TextPosition?
    public var found: String?
    public var expected: String?
    public var hint: String?
    /// The methods that a path has, for 405.
    public var allowed: [String] = []

    public init(
        _ code: Code, _ message: String, path: String? = nil, found: String? = nil, expected: String? = nil,
        hint: String? = nil
    ) {
        status = code.status
        self.code = code.rawValue
        self.message = message
        self.path = path
        self.found = found
        self.expected = expected
        self.hint = hint
    }

    /// A document that is no JSON is a bad request (400); one whose content is wrong can't be processed (422).
    public init(_ error: ConfigurationError) {
        switch error.code {
        case .encoding, .syntax, .tooDeep: status = 400
        case .conflict: status = 409
        case .tooLarge: status = 413
        default: status = 422
        }
        code = error.code.rawValue
        message = "\(error)"
        path = error.path.isEmpty ? nil : error.path
        position = error.position
        found = error.found
        expected = error.expected
        hint = error.hint
    }

    /// A link that may not do what it says is refused (403); one that cannot be read is wrong (422).
    public init(_ error: LinkError, isForbidden: Bool) {
        status = isForbidden ? 403 : 422
        code = error.code.rawValue
        message = "\(error)"
        path = nil
        found = error.found
        expected = error.expected
        hint = error.hint
    }

    public var description: String { message }

    /// The body of the answer: `{"error": {…}}`.
    public var json: JSON {
        .members([
            "error": .members([
                "code": .string(code), "message": .string(message), "path": path.map(JSON.string),
                "line": (position?.line).map(JSON.integer),
                "column": (position?.column).flatMap { $0 > 0 ? .integer($0) : nil },
                "found": found.map(JSON.string), "expected": expected.map(JSON.string),
                "hint": hint.map(JSON.string),
            ])
        ])
    }
}
