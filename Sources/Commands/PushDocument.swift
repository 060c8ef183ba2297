/// What a document is, so that it is sent to the right place: one profile, or the lab's whole overlay.

internal import Profiles

/// A document that was read from somewhere.
public enum PushDocument: Equatable, Sendable {
    case profile(id: String)
    /// The store's overlay, or whatever the daemon is to refuse with its reason.
    case overlay

    /// Looks at what a document is about; whether it is right is the daemon's to say.
    public static func kind(of octets: [UInt8]) throws(PushDocumentError) -> PushDocument {
        // What can't be read goes to the daemon too: it says where and why, as for everything that is wrong.
        guard let value = try? JSON5Reader.read(octets.span), case .object(let members) = value.content else {
            return .overlay
        }
        let found = Found(value)
        let keys = members.map(\.key)
        guard !keys.contains("profiles"), keys.contains("upstream") || keys.contains("id") else { return .overlay }
        guard let id = found["id"].raw else { throw .noID }
        guard Link.isIdentifier(id) else { throw .badID }
        return .profile(id: id)
    }

    /// What is said before it is sent.
    public func announcement(from place: String) -> String {
        switch self {
        case .profile(let id): "\(place): one profile, \(id)"
        case .overlay: "\(place): all of the lab's profiles"
        }
    }
}

/// Why a document has no place to go to.
public enum PushDocumentError: Error, Equatable, Sendable, CustomStringConvertible {
    case noID
    case badID

    public var description: String {
        switch self {
        case .noID: "id: found a profile without one; expected a short name of letters, digits, hyphens and dots"
        case .badID: "id: found a text that can be no id; expected a short name of letters, digits, hyphens and dots"
        }
    }
}
