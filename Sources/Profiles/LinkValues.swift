/// The parameters of a link: which there are, in which order they are written, and what is signed of them.

/// What a link may say; nothing else.
enum LinkParameter: String, CaseIterable, Sendable {
    case version = "v"
    case profile
    case name
    case type
    case host
    case port
    case domains
    case gateway = "gw"
    case once
    case expires = "exp"
    case key = "kid"
    case signature = "sig"

    /// What belongs to a link with a proxy's address alone.
    static let ofProxies = allCases.filter { $0 != .version && $0 != .profile }
    static let names = allCases.map(\.rawValue)
}

/// The decoded values by their parameters.
///
/// Values are compared octet by octet, as a signature sees them: Swift takes two spellings of `é` for the same text.
struct LinkValues: Equatable, Sendable {
    private var values: [LinkParameter: String]

    init(_ values: [LinkParameter: String]) { self.values = values }

    subscript(_ parameter: LinkParameter) -> String? {
        get { values[parameter] }
        set { values[parameter] = newValue }
    }

    /// The parameters in the order in which links are written.
    var query: String {
        LinkParameter.allCases.compactMap { parameter in
            values[parameter].map { "\(parameter.rawValue)=\(PercentCoding.encode($0))" }
        }.joined(separator: "&")
    }

    /// The octets that are signed: version, action, and each parameter but `sig`, sorted by name, in lines.
    ///
    /// `%` and a line end within a value are encoded, so no two sets of values have the same octets.
    var message: [UInt8] {
        var message = Array("starship-link-v1\nactivate\n".utf8)
        let signed = LinkParameter.allCases.filter { $0 != .signature }.sorted { $0.rawValue < $1.rawValue }
        for parameter in signed {
            guard let value = values[parameter] else { continue }
            message += Array("\(parameter.rawValue)=".utf8)
            for octet in value.utf8 {
                switch octet {
                case UInt8(ascii: "%"): message += Array("%25".utf8)
                case UInt8(ascii: "\n"): message += Array("%0A".utf8)
                default: message.append(octet)
                }
            }
            message.append(UInt8(ascii: "\n"))
        }
        return message
    }

    static func == (left: LinkValues, right: LinkValues) -> Bool {
        LinkParameter.allCases.allSatisfy { parameter in
            left[parameter].map { Array($0.utf8) } == right[parameter].map { Array($0.utf8) }
        }
    }

    /// The names of profiles, keys and gateways, as a configuration spells them.
    static func isIdentifier(_ text: String) -> Bool {
        guard (1...64).contains(text.utf8.count), let first = text.unicodeScalars.first else { return false }
        return first.isASCIILetterOrDigit
            && text.unicodeScalars.allSatisfy { $0.isASCIILetterOrDigit || "-._".unicodeScalars.contains($0) }
    }
}
