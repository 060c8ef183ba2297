/// What a new key's file holds, and the line of the configuration that names it.

internal import Profiles

/// A key in the making.
public enum KeyFile {
    /// The octets of a key.
    public static let octets = 32

    /// The id of a key in a file: the file's name without what stands in front and without its ending; nil: none.
    public static func id(of file: String) -> String? {
        let name = file.split(separator: "/", omittingEmptySubsequences: false).last.map(String.init) ?? ""
        let id = name.split(separator: ".").first.map(String.init) ?? ""
        return Link.isIdentifier(id) ? id : nil
    }

    /// One line of hexadecimal digits.
    public static func text(_ octets: [UInt8]) -> String { digits(octets) + "\n" }

    /// A name for a key that was given none.
    public static func name(_ octets: [UInt8]) -> String { "key-" + digits(octets) }

    /// The key in the notation of the configuration.
    public static func line(id: String, file: String) -> String {
        "keys: [{ id: \(JSON.string(id).text), file: \(JSON.string(file).text), hosts: [\"*.qa.example\"], "
            + "scope: [\"links\"] }],"
    }

    private static func digits(_ octets: [UInt8]) -> String {
        octets.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
