/// The code on a device's back: which device the next link is for.

/// A sticker as a hand scanner reads it: `starship://device?v=1&name=pixel-7`.
///
/// It moves nothing by itself and holds no right: whoever has the control socket has it anyway.
public struct DeviceSticker: Equatable, Sendable {
    /// The name that people gave to the device.
    public let name: String

    private static let action = "starship://device"
    private static let expected = "starship://device?v=1&name=NAME"

    /// Takes a name; nil for one that no device can have.
    public init?(name: String) {
        guard LinkValues.isIdentifier(name) else { return nil }
        self.name = name
    }

    /// What the code says.
    public var text: String { "\(Self.action)?v=1&name=\(PercentCoding.encode(name))" }

    /// Reads a sticker, as strictly as a link is read; nil for what is something else.
    public static func parse(_ text: String) throws(LinkError) -> DeviceSticker? {
        let trimmed = String(text.trimmingBlanks)
        guard trimmed.utf8.count <= Link.sizeLimit, let (scheme, rest) = HostText.scheme(trimmed), scheme == "starship"
        else { return nil }
        let meant = rest.unicodeScalars.prefix { $0 != "#" }
        let head = String(meant.prefix { $0 != "?" })
        guard ["device", "device/"].contains(head.lowercased()) else { return nil }
        let pieces = meant.dropFirst(head.unicodeScalars.count + 1).split(
            separator: "&", omittingEmptySubsequences: false)
        var values: [String: String] = [:]
        for piece in pieces.map({ String($0) }) {
            let parts = piece.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let value = try? PercentCoding.decode(parts[1]) else {
                throw LinkError(.encoding, found: "a sticker that was cut or changed", expected: expected)
            }
            guard values.updateValue(value, forKey: String(parts[0])) == nil else {
                throw LinkError(
                    .repeatedParameter, found: "a parameter of the sticker twice", expected: "each parameter once")
            }
        }
        guard values.count == 2, values["v"] == "1", let name = values["name"] else {
            throw LinkError(
                .unknownParameter, found: "other parameters on a sticker than v=1 and a name", expected: expected)
        }
        guard let sticker = DeviceSticker(name: name) else {
            throw LinkError(
                .badName, .name, found: Shown.text(name),
                expected: "1 to 64 letters, digits, hyphens, dots and underscores, a letter or a digit first")
        }
        return sticker
    }
}

extension Link {
    /// Whether a text can be the id of a profile, a key or a gateway, or the name of a device.
    public static func isIdentifier(_ text: String) -> Bool { LinkValues.isIdentifier(text) }
}
