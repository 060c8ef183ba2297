/// Whether a signed request may do what it says, here and now, once.

public import Bytes
internal import Digest

/// What a gateway knows when a signed request arrives, and the nonces that it has seen.
public struct PushVerifier: Sendable {
    /// How much clocks may differ, in seconds.
    public static let leeway: Int64 = 60
    /// How long a nonce is remembered, in seconds: as long as its signature could be good.
    public static let memory: Int64 = 120
    /// How many nonces are remembered; while all are fresh, nothing more is taken.
    public static let nonceLimit = 4096

    public var keys: [LinkKey]
    /// The id of this gateway.
    public let gateway: String
    /// The day this program was built, in seconds since 1970: no clock can be before it.
    public let built: Int64
    /// The second in which this program started.
    public let started: Int64
    /// The second until which each is kept.
    private var nonces: [LinkVerifier.Nonce: Int64] = [:]

    public init(keys: [LinkKey], gateway: String, built: Int64, started: Int64) {
        self.keys = keys
        self.gateway = gateway
        self.built = built
        self.started = started
    }

    /// Checks a request that takes a `right`, and remembers its nonce; returns the key that signed it.
    ///
    /// The signature comes before all that depends on the time, so that nothing further is told to those who have none.
    public mutating func verify(
        _ request: SignedRequest, _ headers: PushSignature, body: Span<UInt8>, at clock: LinkVerifier.Clock,
        right: LinkKey.Scope = .push
    ) throws(PushError) -> LinkKey {
        let time = try Self.checkForm(request, headers)
        guard let key = keys.first(where: { $0.id == headers.key }) else { throw .unknownKey }
        guard !key.isRevoked else { throw .revokedKey }
        let message = request.message(
            gateway: gateway, key: headers.key, time: headers.time, nonce: headers.nonce, body: body)
        guard let given = try? Base64.url.decode(headers.signature),
            equalInConstantTime(given.span, key.sign(message).span)
        else { throw .wrongSignature }
        guard key.scope.contains(right) else { throw right == .peer ? .peerScope : .scope }
        try check(time, of: key, at: clock)
        try remember(LinkVerifier.Nonce(key: key.id, once: headers.nonce), now: clock.now.seconds)
        return key
    }

    /// Checks what can be seen without a key, and reads the time.
    private static func checkForm(_ request: SignedRequest, _ headers: PushSignature) throws(PushError) -> Int64 {
        guard LinkValues.isIdentifier(headers.key) else { throw .header(PushSignature.keyName) }
        let digits = headers.time.unicodeScalars
        guard (1...12).contains(digits.count), digits.allSatisfy(\.isDecimalDigit), digits.first != "0",
            let time = Int64(headers.time)
        else { throw .header(PushSignature.timeName) }
        guard headers.nonce.utf8.count >= 16, LinkValues.isIdentifier(headers.nonce) else {
            throw .header(PushSignature.nonceName)
        }
        guard headers.signature.utf8.count == 43 else { throw .header(PushSignature.signatureName) }
        let texts = [request.method, request.path, request.query, request.host]
        guard !texts.contains(where: \.hasControlCharacters) else { throw .wrongSignature }
        return time
    }

    private func check(_ time: Int64, of key: LinkKey, at clock: LinkVerifier.Clock) throws(PushError) {
        let now = clock.now.seconds
        // A wrong clock would take what was recorded long ago.
        guard clock.isSynchronised, now >= built else { throw .clock(now: clock.now) }
        guard abs(now - time) <= Self.leeway else { throw .time(given: UnixTime(seconds: time), now: clock.now) }
        guard time >= started else { throw .beforeStart }
        if let until = key.until, until < now { throw .expiredKey }
    }

    private mutating func remember(_ nonce: LinkVerifier.Nonce, now: Int64) throws(PushError) {
        guard nonces[nonce] ?? .min < now else { throw .replayed }
        if nonces.count >= Self.nonceLimit { nonces = nonces.filter { $0.value >= now } }
        guard nonces.count < Self.nonceLimit else { throw .busy }
        nonces[nonce] = now + Self.memory
    }
}

/// Why a signed request was refused; nothing of a key or a signature is in it.
public enum PushError: Error, Equatable, Sendable, CustomStringConvertible {
    /// A header that is missing or no such value.
    case header(String)
    case unknownKey
    case revokedKey
    case expiredKey
    case wrongSignature
    /// The key may not push.
    case scope
    /// The key is no peer's.
    case peerScope
    case clock(now: UnixTime)
    case time(given: UnixTime, now: UnixTime)
    case beforeStart
    case replayed
    case busy

    /// The sort of refusal, for programs.
    public var code: String {
        switch self {
        case .header: "badHeader"
        case .unknownKey: "unknownKey"
        case .revokedKey: "revokedKey"
        case .expiredKey: "expiredKey"
        case .wrongSignature: "wrongSignature"
        case .scope, .peerScope: "scope"
        case .clock: "clock"
        case .time: "time"
        case .beforeStart: "beforeStart"
        case .replayed: "replayed"
        case .busy: "busy"
        }
    }

    public var found: String {
        switch self {
        case .header(let name): "no usable \(name)"
        case .unknownKey: "a key that this gateway does not know"
        case .revokedKey: "a key that was revoked"
        case .expiredKey: "a key whose time is over"
        case .wrongSignature: "a signature that doesn't fit"
        case .scope: "a key that may not push"
        case .peerScope: "a key that is no peer's"
        case .clock(let now): "the gateway's clock at \(now), which isn't set"
        case .time(let given, let now): "the time \(given), while the gateway's clock says \(now)"
        case .beforeStart: "a request from before the gateway's start"
        case .replayed: "a request that was here already"
        case .busy: "more requests than can be told apart from repeated ones"
        }
    }

    public var expected: String {
        switch self {
        case .header(PushSignature.keyName): "the id of a key"
        case .header(PushSignature.timeName): "seconds since 1970"
        case .header(PushSignature.nonceName): "16 to 64 letters, digits, hyphens, dots and underscores"
        case .header: "43 characters of URL-safe Base64"
        case .unknownKey, .revokedKey, .expiredKey: "the id of one of its keys that is in use"
        case .wrongSignature: "the request as it was signed for this gateway, under the key that it names"
        case .scope: "a key with scope [\"push\"]"
        case .peerScope: "a key with scope [\"peer\"]"
        case .clock: "a clock that is right"
        case .time: "clocks that differ by \(PushVerifier.leeway) seconds at most"
        case .beforeStart, .replayed: "each request signed anew"
        case .busy: "at most \(PushVerifier.nonceLimit) in \(PushVerifier.memory) seconds"
        }
    }

    public var description: String { "the signed request: found \(found); expected \(expected)" }
}
