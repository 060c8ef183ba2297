/// Bodies of requests: read like a file, and when there is nothing in them that is said.

enum Body {
    /// Reads the object of a body; `expected` says what it would hold.
    static func object(_ bytes: Span<UInt8>, expected: String) throws(ConfigurationError) -> JSON5Value {
        let isBlank = (0..<bytes.count).allSatisfy { [0x20, 0x09, 0x0a, 0x0d].contains(bytes[$0]) }
        guard !isBlank else {
            throw ConfigurationError(
                .missingKey, at: TextPosition(line: 1, column: 1), path: "", found: "an empty body", expected: expected)
        }
        let value = try JSON5Reader.read(bytes)
        guard case .object(let members) = value.content else {
            throw ConfigurationError(
                .wrongType, at: value.position, path: "", found: value.kind, expected: expected)
        }
        guard !members.isEmpty else {
            throw ConfigurationError(
                .missingKey, at: value.position, path: "", found: "an empty object", expected: expected)
        }
        return value
    }
}

extension Profile {
    /// Reads a profile that was pushed, in the notation of the configuration.
    ///
    /// `id` is what the request's path says: the body may leave it out, or must say the same. Of secrets a pushed
    /// profile can name a file in the store's `secrets` alone, by its bare name.
    public static func parse(_ bytes: Span<UInt8>, id: String?) throws(ConfigurationError) -> Profile {
        do throws(ConfigurationError) {
            let value = try Body.object(bytes, expected: "a profile, such as { upstream: { type, host, port } }")
            let profile = try Profile(value, path: "", id: id)
            try profile.checkSecret(value, path: "")
            return profile
        } catch {
            throw error.recognising(bytes)
        }
    }

    /// Refuses the name of a file that is not the store's own.
    func checkSecret(_ value: JSON5Value, path: String) throws(ConfigurationError) {
        guard case .file(let file)? = upstream.credentials?.password, !LinkValues.isIdentifier(file) else { return }
        let inner = Shown.path(path, "upstream") + ".passwordFile"
        throw ConfigurationError(
            .badValue, at: value.position(of: "upstream.passwordFile"), path: inner, found: "a path",
            expected: "the bare name of a file in the state directory's `secrets`, such as \"whistle-qa\"",
            hint: "a pushed profile names no other file of this machine")
    }
}
