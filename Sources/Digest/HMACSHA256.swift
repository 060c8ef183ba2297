/// HMAC with SHA-256 (RFC 2104, RFC 4231), and the comparison that tells an attacker nothing.

internal import Bytes

/// A keyed signature over bytes that may come in pieces.
public struct HMACSHA256: Sendable {
    private var inner: SHA256
    private var outer: SHA256

    /// Starts a signature under a key of any length.
    public init(key: Span<UInt8>) {
        var block = key.count > SHA256.blockSize ? SHA256.digest(key) : [UInt8](copying: key)
        block.append(contentsOf: repeatElement(0, count: SHA256.blockSize - block.count))
        inner = SHA256()
        outer = SHA256()
        let innerPad = block.map { $0 ^ 0x36 }
        let outerPad = block.map { $0 ^ 0x5c }
        inner.update(innerPad.span)
        outer.update(outerPad.span)
    }

    /// The signature of bytes that are all there.
    public static func sign(_ bytes: Span<UInt8>, key: Span<UInt8>) -> [UInt8] {
        var signature = HMACSHA256(key: key)
        signature.update(bytes)
        return signature.finish()
    }

    /// Takes the next piece.
    public mutating func update(_ bytes: Span<UInt8>) {
        inner.update(bytes)
    }

    /// Returns the 32 octets of the signature.
    public func finish() -> [UInt8] {
        let digest = inner.finish()
        var last = outer
        last.update(digest.span)
        return last.finish()
    }
}

/// Whether two secrets are equal, in a time that depends on their lengths alone.
public func equalInConstantTime(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
    guard left.count == right.count else { return false }
    var difference: UInt8 = 0
    for index in left.indices { difference |= left[index] ^ right[index] }
    return difference == 0
}
