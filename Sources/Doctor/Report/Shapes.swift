/// What looks like a secret, in a text that nobody has structured.

/// The second sieve of `Redaction`.
enum Shapes {
    static func clean(_ text: String) -> String {
        var text = privateKeys(text)
        text = text.split(separator: "\n", omittingEmptySubsequences: false).map(line).joined(separator: "\n")
        return text
    }

    /// From `-----BEGIN … PRIVATE KEY-----` to its end, or to the text's.
    private static func privateKeys(_ text: String) -> String {
        text.replacing(
            /-----BEGIN [A-Z ]*PRIVATE KEY-----(.|\n)*?(-----END [A-Z ]*PRIVATE KEY-----|$)/, with: Redaction.mark)
    }

    /// What every name of a secret has in it.
    private static let stems = [
        "pass", "pw", "secret", "token", "auth", "cred", "cookie", "sig", "key", "psk", "nonce", "basic", "bearer",
        "digest",
    ]

    /// Most lines have nothing of the kind, and an expression costs a thousand times as much as a look for a few
    /// letters.
    private static func line(_ line: Substring) -> String {
        var text = String(line)
        if text.contains("@") { text = userInformation(text) }
        if text.contains("=") { text = queries(text) }
        let small = text.lowercased()
        if stems.contains(where: small.contains) { text = assignments(headers(text)) }
        return text.utf8.count < 32 ? text : runs(text)
    }

    /// `scheme://user:password@host`.
    ///
    /// The user too, who may be a token: anything up to the last `@` of the authority. A word that is no scheme is
    /// looked at from each of its letters on, so there is a bound to how far.
    private static func userInformation(_ text: String) -> String {
        text.replacing(/([A-Za-z][A-Za-z0-9+.\-]{0,31}:\/\/)[^\/\s"'<>?#]*@/) { "\($0.1)\(Redaction.mark)@" }
    }

    /// The value of each parameter of a URL, but for those of our own links that hold no secret.
    private static func queries(_ text: String) -> String {
        text.replacing(/([?&])([A-Za-z0-9_.\-\[\]%]+)=([^&\s"'<>#]+)/) { match in
            ["v", "profile", "name", "limit", "since", "confirm"].contains(match.2)
                ? "\(match.0)" : "\(match.1)\(match.2)=\(Redaction.mark)"
        }
    }

    /// `Proxy-Authorization: Basic …`, `Cookie: …` to the end of the line.
    private static func headers(_ text: String) -> String {
        text.replacing(
            /(?i)((?:proxy-)?authorization|(?:set-)?cookie|x-api-key|starship-signature)(\s*:\s*)[^\r\n"]+/
        ) { "\($0.1)\($0.2)\(Redaction.mark)" }
        .replacing(/(?i)\b(basic|bearer|digest)\s+[A-Za-z0-9+\/=_\-.~]{8,}/) { "\($0.1) \(Redaction.mark)" }
    }

    /// `password=…`, `"token": "…"`, `key: …`, `--password …`.
    ///
    /// What another sieve has left a mark in is a whole value all the same. Of a longer name its end counts.
    private static func assignments(_ text: String) -> String {
        text.replacing(
            /([A-Za-z0-9_\-]{1,64})(["']?\s*[=:]\s*)("(?:[^"\\]|\\.)*"|'[^']*'|(?:\[redacted\]|[^\s,;}\]"'])+)/
        ) { match in
            guard SecretName.isOne(match.1), !isPlain(match.3) else { return String(match.0) }
            let quote = match.3.first.map { $0 == "\"" || $0 == "'" ? String($0) : "" } ?? ""
            return "\(match.1)\(match.2)\(quote)\(Redaction.mark)\(quote)"
        }
    }

    /// Words that no secret is: what `auth` is set to, and the like.
    private static func isPlain(_ text: Substring) -> Bool {
        ["true", "false", "null", "preemptive", "challenge"].contains(text.filter { $0 != "\"" && $0 != "'" })
    }

    /// 32 hexadecimal digits or more, and 40 characters of Base64 or more with a digit and both cases: keys, and
    /// hashes.
    private static func runs(_ text: String) -> String {
        text.replacing(/\b[0-9A-Fa-f]{32,}\b/, with: Redaction.mark)
            .replacing(/[A-Za-z0-9+_\-]{40,}={0,2}/) { match in
                let run = match.0
                let isMixed =
                    run.contains(where: \.isNumber) && run.contains(where: \.isUppercase)
                    && run.contains(where: \.isLowercase)
                return isMixed ? Redaction.mark : String(run)
            }
    }
}
