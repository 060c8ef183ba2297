/// `lint`: a proxy that is tried out, whether or not anything here uses it yet.

internal import Addresses
public import Bytes
public import Profiles

/// Which proxy, and how it is tried.
public struct LintOrder: Equatable, Sendable {
    public var server: Upstream.Server
    public var user: String?
    public var passwordFile: String?
    /// A web site behind the proxy; nil: example.com.
    public var site: Upstream.Host?
    /// How long a silent tunnel is watched.
    public var idle = Interval.seconds(15)
    /// How long one answer is waited for.
    public var timeout = Interval.seconds(10)

    public init(server: Upstream.Server) { self.server = server }
}

extension CommandTable {
    static let linting: [CommandDescription] = [
        CommandDescription(
            words: ["lint"], group: .looking, operands: [.init(name: "HOST:PORT")],
            options: [
                .init(name: "--user", value: "NAME", summary: "the user to log in with, if it asks for one"),
                .init(
                    name: "--password-file", value: "FILE", candidates: .files,
                    summary: "the file that holds the password"),
                .init(name: "--site", value: "HOST", summary: "a web site behind it (example.com)"),
                .init(name: "--idle", value: "TIME", summary: "watch a silent tunnel so long (15s; 0s to 1h)"),
                .init(name: "--timeout", value: "TIME", summary: "wait so long for an answer (10s; 1s to 2m)"),
            ],
            summary: "try a proxy out, and say which settings fit it",
            details: """
                Needs no daemon. It asks the proxy for tunnels to the site, to a host that does
                not exist, and to a port of this machine, where it has both ends in hand.
                A password is shown to the proxy once, and only if it asks.
                Ends with 1 when something is bad.
                """,
            examples: [
                "starshipctl lint proxy.example:8080",
                "starshipctl lint 10.0.0.7:3128 --site a.example --user qa --password-file pw",
            ],
            read: { arguments throws(ArgumentError) in .lint(try order(arguments)) })
    ]

    private static func order(_ arguments: Arguments) throws(ArgumentError) -> LintOrder {
        var order = LintOrder(server: try server(arguments))
        try arguments.bind(["--password-file"], to: "--user")
        order.user = arguments["--user"]
        if let user = order.user, user.contains(":") || user.unicodeScalars.contains(where: { $0.value < 0x20 }) {
            throw arguments.wrong("--user", expected: "a name without a colon (RFC 7617, section 2)")
        }
        order.passwordFile = arguments["--password-file"]
        if let site = arguments["--site"] {
            guard let host = Upstream.Server(host: site, port: 443)?.host else {
                throw arguments.wrong("--site", expected: "a name or an address, without a port")
            }
            order.site = host
        }
        if let text = try arguments.duration("--idle", from: "0s", to: "1h"), let idle = Quantity.duration(text) {
            order.idle = idle
        }
        if let text = try arguments.duration("--timeout", from: "1s", to: "2m"), let time = Quantity.duration(text) {
            order.timeout = time
        }
        return order
    }

    private static func server(_ arguments: Arguments) throws(ArgumentError) -> Upstream.Server {
        let text = arguments.operands[0]
        guard !text.contains("://"), !text.contains("@") else {
            throw arguments.error("HOST:PORT: found a URL; expected a host and a port", hint: "proxy.example:8080")
        }
        let endpoint = SocketAddress(parsing: text)
        let colon = text.lastIndex(of: ":")
        let host = endpoint?.address.description ?? String(text[..<(colon ?? text.endIndex)])
        let port =
            endpoint.map { Int($0.port) } ?? colon.flatMap { Arguments.number(String(text[text.index(after: $0)...])) }
        guard let port else {
            throw arguments.error(
                "HOST:PORT: found no port in \(Shown.text(text)); expected one", hint: "proxy.example:8080")
        }
        guard let server = Upstream.Server(host: host, port: port) else {
            throw arguments.error(
                "HOST:PORT: found \(Shown.text(text)); expected a name or an address, and a port from 1 to 65535",
                hint: "proxy.example:8080")
        }
        return server
    }
}
