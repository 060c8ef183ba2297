/// What the daemon is asked, as a value.

public import Profiles

/// One request of the control API.
public struct APIRequest: Equatable, Sendable {
    public var method: String
    /// Path and query, encoded.
    public var target: String
    /// The octets of the body; nil: none.
    public var body: [UInt8]?

    public init(_ method: String, _ segments: [String], query: [(String, String?)] = [], body: JSON? = nil) {
        self.init(method, segments, query: query, octets: body.map { Array($0.text.utf8) })
    }

    /// A request whose body is sent as it is, so that lines and columns in an error are those of a file.
    public init(_ method: String, _ segments: [String], query: [(String, String?)] = [], octets: [UInt8]?) {
        self.method = method
        let given = query.compactMap { pair in pair.1.map { "\(pair.0)=\(PercentCoding.encode($0))" } }
        target =
            "/v1/" + segments.map(Self.segment).joined(separator: "/")
            + (given.isEmpty ? "" : "?" + given.joined(separator: "&"))
        body = octets
    }

    /// A slash within a name is no border of two.
    private static func segment(_ text: String) -> String {
        PercentCoding.encode(text).split(separator: "/", omittingEmptySubsequences: false).joined(separator: "%2F")
    }
}

extension APIRequest {
    public static let status = APIRequest("GET", ["status"])
    public static let profiles = APIRequest("GET", ["profiles"])
    public static let devices = APIRequest("GET", ["devices"])

    public static func device(_ name: String) -> APIRequest { APIRequest("GET", ["devices", name]) }

    /// The flows that `watch` shows.
    public static let flows = APIRequest("GET", ["flows"], query: [("limit", "500")])

    public static func activate(_ profile: String, _ target: Target) -> APIRequest {
        APIRequest(
            "POST", ["activate"],
            body: .members(["profile": .string(profile), "device": target.device, "all": target.all]))
    }

    /// All layers of a profile's upstream now, or other pages through it.
    public static func probe(_ profile: String?, pages: [String]? = nil) -> APIRequest {
        APIRequest(
            "POST", ["probe"],
            body: .members(["profile": profile.map(JSON.string), "urls": pages.map(JSON.strings)]))
    }

    /// The certificate of a profile's proxy.
    public static func authority(_ profile: String) -> APIRequest { APIRequest("GET", ["profiles", profile, "ca"]) }

    public static func confirm(_ revision: Int) -> APIRequest {
        APIRequest("POST", ["confirm"], body: .members(["revision": .integer(revision)]))
    }

    /// A profile, or the store's whole overlay, in the octets of its document.
    public static func push(profile id: String?, _ document: [UInt8], confirm: Int?) -> APIRequest {
        APIRequest(
            "PUT", id.map { ["profiles", $0] } ?? ["config"], query: [("confirm", confirm.map(String.init))],
            octets: document)
    }

    /// A link that is carried out, or with `check` only looked at.
    public static func apply(
        _ link: String, _ target: Target, duration: String? = nil, overrides: Bool = false, check: Bool = false
    ) -> APIRequest {
        APIRequest(
            "POST", ["links", "apply"],
            body: .members([
                "link": .string(link), "device": target.device, "all": target.all,
                "override": overrides ? true : nil, "for": duration.map(JSON.string), "check": check ? true : nil,
            ]))
    }
}

extension Target {
    var device: JSON? {
        if case .device(let name) = self { .string(name) } else { nil }
    }

    var all: JSON? { self == .all ? true : nil }
}
