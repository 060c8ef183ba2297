/// Why a link was refused, for whoever scanned it.

/// One reason, with its place in the link and what would be right; never a signature, a key or a password.
public struct LinkError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The sort of refusal, for programs.
    public enum Code: String, CaseIterable, Sendable {
        // The text
        case tooLong
        case encoding
        case scheme
        case action
        // Its parameters
        case version
        case unknownParameter
        /// A parameter for what links never carry: a file, a secret, a command, a place to fetch from.
        case forbiddenParameter
        case repeatedParameter
        case missingParameter
        case emptyParameter
        /// Two parameters of which only one can be meant.
        case conflict
        case badProfile
        case badName
        case badType
        case badHost
        case badPort
        case badDomains
        case badGateway
        case badOnce
        case badExpiry
        case badKey
        case malformedSignature
        // Its right
        case unknownKey
        case revokedKey
        case expiredKey
        case wrongSignature
        case otherGateway
        case clock
        case expired
        case spent
        case scope
        case hostNotAllowed
        case unknownProfile
        case notSelfService
    }

    public let code: Code
    /// Where: a parameter, such as `port`; nil: the link as a whole.
    public let parameter: String?
    public let found: String
    public let expected: String
    public let hint: String?

    init(
        _ code: Code, _ parameter: LinkParameter? = nil, found: String, expected: String, hint: String? = nil
    ) {
        self.init(code, named: parameter?.rawValue, found: found, expected: expected, hint: hint)
    }

    init(_ code: Code, named parameter: String?, found: String, expected: String, hint: String? = nil) {
        self.code = code
        self.parameter = parameter
        self.found = found
        self.expected = expected
        self.hint = hint
    }

    /// One line: place, found, expected, and advice where there is any.
    public var description: String {
        (parameter.map { "the link's `\($0)`" } ?? "the link") + ": found \(found); expected \(expected)"
            + (hint.map { " (\($0))" } ?? "")
    }
}
