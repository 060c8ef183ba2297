/// What a form carries so that nobody else can send it: a signature that a page of ours has shown.
///
/// HMAC-SHA-256 (RFC 2104) over the device, what the form does, and a slot of ten minutes; a token counts in its slot
/// and the next one. It is not a secret of the device: whoever can take its address can read its page.

internal import Digest

/// Makes and checks tokens under one key.
public struct PageToken: Sendable {
    /// The length of a slot in seconds.
    public static let slot: Int64 = 600

    private let key: [UInt8]

    /// Takes the key: 32 octets that nobody knows, drawn at each start.
    public init(key: [UInt8]) {
        precondition(key.count >= 16, "a key that can be guessed")
        self.key = key
    }

    /// The token of a device's forms for an action, at a time in seconds since 1970.
    public func text(device: String, action: PageAction, at now: Int64) -> String {
        Base64.url.encode(signature(device, action, now / Self.slot).span)
    }

    /// Whether a text is the token of the current slot or of the one before.
    public func isGood(_ text: String, device: String, action: PageAction, at now: Int64) -> Bool {
        guard let given = try? Base64.url.decode(text) else { return false }
        var isGood = false
        for slot in [now / Self.slot, now / Self.slot - 1] {
            let right = signature(device, action, slot)
            if equalInConstantTime(given.span, right.span) { isGood = true }
        }
        return isGood
    }

    /// The device's length stands in front of it, so no device's text runs into an action's.
    private func signature(_ device: String, _ action: PageAction, _ slot: Int64) -> [UInt8] {
        let message = Array(
            "starship-page-v1\n\(device.utf8.count)\n\(device)\n\(action.rawValue)\n\(slot)\n".utf8)
        return HMACSHA256.sign(message.span, key: key.span)
    }
}
