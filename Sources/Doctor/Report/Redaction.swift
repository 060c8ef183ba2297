/// Taking secrets out of a text, whoever wrote it.
///
/// Two sieves, one behind the other. The first knows: what stands in the files of passwords and keys is looked for as
/// it is and in the forms in which it travels (Base64 of `user:password`, hexadecimal digits in either case,
/// percent-coded). The second guesses by shape: values of keys that are called password, token and the like, user and
/// password of a URL, values of its query, signatures, private keys, and runs of digits as long as a key. Guessing
/// takes too much rather than too little.

public import Profiles

public struct Redaction: Sendable {
    /// What stands in the place of what was taken out.
    public static let mark = "[redacted]"
    /// Shorter ones are words of everyday text; what they protect is no secret, and replacing them would ruin the rest.
    private static let shortest = 4

    private var known: [String]

    /// `secrets` are texts that must not be seen, wherever they come from.
    public init(secrets: [String]) {
        var forms: Set<String> = []
        for secret in secrets where secret.utf8.count >= Self.shortest {
            forms.formUnion([secret, PercentCoding.encode(secret), Self.escaped(secret)])
        }
        // The longest first: one may be a part of another.
        known = forms.sorted { ($0.utf8.count, $0) > ($1.utf8.count, $1) }
    }

    /// As JSON writes it.
    private static func escaped(_ text: String) -> String { String(JSON.string(text).text.dropFirst().dropLast()) }

    /// The text without any.
    public func clean(_ text: String) -> String {
        // Octets, not characters: an accent behind a secret makes another character of its last letter.
        var octets = Array(text.utf8)
        let mark = Array(Self.mark.utf8)
        for secret in known { octets = octets.replacing(Array(secret.utf8), with: mark) }
        return Shapes.clean(String(decoding: octets, as: UTF8.self))
    }

    /// A value with the same structure, without secrets and without comments.
    public func clean(_ value: JSON5Value) -> JSON {
        switch value.content {
        case .null: .null
        case .boolean(let flag): .boolean(flag)
        case .number(let number): number.integer.map(JSON.integer) ?? .string(number.text)
        case .string(let text): .string(clean(text))
        case .array(let elements): .array(elements.map(clean))
        case .object(let members):
            .object(
                members.map { member in
                    JSON.Member(
                        member.key,
                        SecretName.isOne(member.key) ? hidden(member.value) : clean(member.value))
                })
        }
    }

    /// Under such a key everything is a secret, however deep.
    private func hidden(_ value: JSON5Value) -> JSON {
        switch value.content {
        case .null: .null
        case .boolean(let flag): .boolean(flag)
        case .string("preemptive"), .string("challenge"): clean(value)
        case .number, .string: .string(Self.mark)
        case .array(let elements): .array(elements.map(hidden))
        case .object(let members): .object(members.map { JSON.Member($0.key, hidden($0.value)) })
        }
    }
}

/// Names of what is a secret.
enum SecretName {
    private static let words = [
        "password", "passwd", "passphrase", "secret", "token", "authorization", "authenticate", "credential", "cookie",
        "signature", "apikey", "api_key", "api-key", "privatekey", "private_key", "psk",
    ]
    /// Whole names alone: parts of other words.
    private static let whole = ["pass", "pw", "pwd", "sig", "auth", "key", "nonce"]
    /// These name a file, and a file's name is no secret; its content is looked for everywhere.
    private static let files = ["passwordfile", "password_file", "keyfile", "secretfile"]

    static func isOne(_ name: some StringProtocol) -> Bool {
        let name = name.lowercased()
        guard !files.contains(name) else { return false }
        return whole.contains(name) || words.contains(where: name.contains)
    }
}
