/// The code that joins a Wi-Fi network, as cameras of phones read it.
///
/// `WIFI:T:WPA;S:name;P:password;;`, with a backslash in front of `\`, `;`, `,`, `:` and `"` (the format of ZXing).

/// A network and its password; no description shows it.
public struct WiFiCode: Sendable {
    public let network: String
    private let password: String?

    /// Takes a name of 1 to 32 octets, and a password as WPA has it: 8 to 63 characters, or 64 hexadecimal digits.
    public init(network: String, password: String?) throws(WiFiCodeError) {
        guard (1...32).contains(network.utf8.count) else { throw .network }
        if let password {
            let isPhrase = (8...63).contains(password.utf8.count) && password.utf8.allSatisfy { 0x20...0x7e ~= $0 }
            let isKey = password.utf8.count == 64 && password.allSatisfy(\.isHexDigit)
            guard isPhrase || isKey else { throw .password }
        }
        self.network = network
        self.password = password
    }

    /// What the code says.
    public var text: String {
        let name = "S:\(Self.escaped(network));"
        guard let password else { return "WIFI:T:nopass;\(name);" }
        return "WIFI:T:WPA;\(name)P:\(Self.escaped(password));;"
    }

    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            if #"\;,:""#.unicodeScalars.contains(scalar) { escaped += "\\" }
            escaped.unicodeScalars.append(scalar)
        }
        return escaped
    }
}

/// Why a network can't be joined by a code.
public enum WiFiCodeError: Error, Equatable, Sendable, CustomStringConvertible {
    case network
    case password

    public var description: String {
        switch self {
        case .network: "found no usable name of a network; expected 1 to 32 octets (IEEE 802.11)"
        case .password: "found no password of WPA; expected 8 to 63 characters of ASCII, or 64 hexadecimal digits"
        }
    }
}
