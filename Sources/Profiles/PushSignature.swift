/// # Signed requests: who may push over the network
///
/// The TCP listener takes signed requests alone. What is signed is one text of ten lines, each ending with a line feed:
///
///     starship-push-v1
///     PUT                                  the method
///     /v1/profiles/whistle-qa              the path as it is sent, percent-encoding and all
///     confirm=60                           the query as it is sent, without the question mark; maybe empty
///     10.9.0.1:10801                       the Host header
///     lab-3                                the id of the gateway
///     beetle                               the id of the key: Starship-Key
///     1798700000                           seconds since 1970: Starship-Time
///     7b0c2f6d9a4e4c55                     a nonce: Starship-Nonce
///     e3b0c442…                            SHA-256 of the body, 64 hexadecimal digits
///
/// `Starship-Signature` is HMAC-SHA-256 over it, in URL-safe Base64 without padding. The answer is signed under the
/// same key over `starship-answer-v1`, its status, the request's gateway, key, time and nonce, and the digest of its
/// own body, in lines too: whoever asked knows that the gateway answered, and to what.
///
/// Nothing of it is confidential. A signature is good for 60 seconds around its time, once, and never for a time before
/// the gateway's start, because a gateway that has just started knows no nonces.

public import Bytes
internal import Digest

/// The headers of a signed request and of its answer.
public struct PushSignature: Equatable, Sendable {
    public static let keyName = "Starship-Key"
    public static let timeName = "Starship-Time"
    public static let nonceName = "Starship-Nonce"
    public static let signatureName = "Starship-Signature"
    /// The names of all four, as they are written.
    public static let names = [keyName, timeName, nonceName, signatureName]

    public var key: String
    /// The digits as they were sent.
    public var time: String
    public var nonce: String
    public var signature: String

    public init(key: String, time: String, nonce: String, signature: String) {
        self.key = key
        self.time = time
        self.nonce = nonce
        self.signature = signature
    }
}

/// What a signature is about, but for the body.
public struct SignedRequest: Equatable, Sendable {
    public var method: String
    /// As it is sent, still percent-encoded, without the query.
    public var path: String
    /// As it is sent, without the question mark.
    public var query: String
    /// The value of the Host header.
    public var host: String

    public init(method: String, path: String, query: String = "", host: String) {
        self.method = method
        self.path = path
        self.query = query
        self.host = host
    }

    /// The text that is signed.
    public func message(gateway: String, key: String, time: String, nonce: String, body: Span<UInt8>) -> [UInt8] {
        PushText.lines([
            "starship-push-v1", method, path, query, host, gateway, key, time, nonce, PushText.digest(body),
        ])
    }

    /// The headers that sign this request to a gateway.
    ///
    /// `nonce` is 16 to 64 random letters and digits, each used once.
    public func signed(
        by key: LinkKey, gateway: String, at now: UnixTime, nonce: String, body: Span<UInt8>
    ) -> PushSignature {
        let time = String(now.seconds)
        let message = message(gateway: gateway, key: key.id, time: time, nonce: nonce, body: body)
        let signature = Base64.url.encode(key.sign(message).span)
        return PushSignature(key: key.id, time: time, nonce: nonce, signature: signature)
    }
}

/// The answer to a signed request.
public struct SignedAnswer: Equatable, Sendable {
    public var status: Int

    public init(status: Int) { self.status = status }

    /// The text that is signed; `request` are the headers of what is answered.
    public func message(to request: PushSignature, gateway: String, body: Span<UInt8>) -> [UInt8] {
        PushText.lines([
            "starship-answer-v1", String(status), gateway, request.key, request.time, request.nonce,
            PushText.digest(body),
        ])
    }

    /// The value of Starship-Signature.
    public func signature(
        to request: PushSignature, by key: LinkKey, gateway: String, body: Span<UInt8>
    ) -> String {
        Base64.url.encode(key.sign(message(to: request, gateway: gateway, body: body)).span)
    }

    /// Whether the gateway that knows the key has answered this.
    public func isSigned(
        _ signature: String, to request: PushSignature, by key: LinkKey, gateway: String, body: Span<UInt8>
    ) -> Bool {
        guard let given = try? Base64.url.decode(signature) else { return false }
        let right = key.sign(message(to: request, gateway: gateway, body: body))
        return equalInConstantTime(given.span, right.span)
    }
}

enum PushText {
    /// Each text and a line feed; a text of several lines is none that HTTP could have carried.
    static func lines(_ texts: [String]) -> [UInt8] { texts.flatMap { Array($0.utf8) + [0x0a] } }

    static func digest(_ body: Span<UInt8>) -> String {
        SHA256.digest(body).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
