/// The page that a probe asks for, and how it is recognised.

public import Wire

/// A page behind an upstream, by plain http.
public struct ProbePage: Equatable, Sendable {
    /// How it is asked for through an HTTP proxy.
    public enum Way: Equatable, Sendable {
        /// With CONNECT, and in absolute form after a 403 or 405.
        case auto
        case connect
        /// `GET http://host/path` (RFC 9112, section 3.2.2).
        case absolute
    }

    public var target: Target
    /// Path and query, as they are sent.
    public var path: String
    /// The statuses that are right.
    public var statuses = [200]
    /// A text that must be in the first 64 KiB of the body; `*` stands for anything.
    public var body: String?
    public var via = Way.auto
    /// Has the whole body be kept, which may have 64 KiB.
    public var keepsBody = false

    public init(_ target: Target, path: String = "/") {
        self.target = target
        self.path = path
    }

    /// Its host, and its port where that is not 80 (RFC 9110, section 4.2.3).
    private var authority: String { target.port == 80 ? "\(target.host)" : "\(target)" }

    /// The page's URL.
    public var url: String { "http://\(authority)\(path)" }

    /// Appends the request; the connection ends with its answer, and no cache may give it.
    func writeRequest(inAbsoluteForm isAbsolute: Bool, credentials: BasicCredentials?, into output: inout [UInt8]) {
        let path = path.hasPrefix("/") ? path : "/" + path
        let lines = [
            "GET \(isAbsolute ? "http://\(authority)" : "")\(path) HTTP/1.1", "Host: \(authority)",
            "User-Agent: starship-probe", "Accept: */*", "Accept-Encoding: identity", "Cache-Control: no-cache",
            "Connection: close",
        ]
        for line in lines { output.append(contentsOf: "\(line)\r\n".utf8) }
        credentials?.writeProxyAuthorization(into: &output)
        output.append(contentsOf: "\r\n".utf8)
    }

    /// The statuses in words.
    var expectation: String { statuses.map(String.init).joined(separator: " or ") }
}

/// A text with wildcards, looked for in a body that comes in pieces.
struct BodyPattern: Sendable {
    /// What must be there, in this order; the wildcards stand between.
    private let pieces: [[UInt8]]
    private var found = 0
    /// Where the next piece may begin; before it nothing is looked at again.
    private var position = 0

    init(_ text: String) {
        pieces = Array(text.utf8).split(separator: UInt8(ascii: "*")).map(Array.init)
    }

    /// Whether all pieces are in the body, of which more is there with each call.
    mutating func isFound(in body: [UInt8]) -> Bool {
        while found < pieces.count {
            let piece = pieces[found]
            while position + piece.count <= body.count, !body[position...].starts(with: piece) { position += 1 }
            guard position + piece.count <= body.count else { return false }
            position += piece.count
            found += 1
        }
        return true
    }
}
