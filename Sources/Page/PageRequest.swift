/// What a browser wants: every address of the page, and every form.

internal import Profiles

/// What each form does; its address is `/` and the raw value.
public enum PageAction: String, CaseIterable, Sendable {
    /// Gives the device a profile of those that anybody may pick.
    case switchTo = "switch"
    /// Does what a link says.
    case activate = "a"
    case release
    case tryAgain = "try"
    case extend
    case handOver = "hand-over"
    case name
    case direct
    case proxy
    case learn
    case addDomains = "learn/add"
    case bringProxy = "adhoc"
    case bringLaptop = "l"
}

/// A form that was sent; its values are as they were typed.
public enum PageChange: Equatable, Sendable {
    case switchTo(profile: String)
    /// The query of a link, as it stood behind `/a?`.
    case activate(query: String)
    /// Back to what the device has without anybody's doing.
    case release
    case tryAgain
    /// One hour more.
    case extend
    /// The device is another person's from now on.
    case handOver
    /// What is written on the device.
    case name(String)
    case direct(host: String)
    case proxy(host: String)
    case learn
    case addDomains([String])
    /// A proxy of one's own, and what is to go through it: domains between blanks, commas or line ends.
    case bringProxy(server: String, domains: String)
    /// The proxy at a port of the asking machine.
    case bringLaptop(port: String)

    public var action: PageAction {
        switch self {
        case .switchTo: .switchTo
        case .activate: .activate
        case .release: .release
        case .tryAgain: .tryAgain
        case .extend: .extend
        case .handOver: .handOver
        case .name: .name
        case .direct: .direct
        case .proxy: .proxy
        case .learn: .learn
        case .addDomains: .addDomains
        case .bringProxy: .bringProxy
        case .bringLaptop: .bringLaptop
        }
    }
}

/// What is asked for; nothing but `change` changes anything.
public enum PageRequest: Equatable, Sendable {
    case home(PageNotice?)
    /// A link that somebody scanned, with its query as it stands.
    case confirm(query: String)
    case requests(PageNotice?)
    case learn(PageNotice?)
    case bringProxy
    case certificate
    /// The certificate itself.
    case certificateFile
    /// The page for a laptop, with the port that its address names.
    case laptop(port: String?)
    case codes
    case board
    case proxyScript
    /// The self-check; with the nonce of one that has been made, its result.
    case check(nonce: String?)
    /// The part of a self-check that stands in a frame.
    case checkFrame(nonce: String?)
    /// An image of a self-check: under a host that only it has, or on the page's own.
    case checkImage(nonce: String?)
    case style
    case script
    case favicon
    case change(PageChange, token: String)

    /// Reads what a request asks for at the page's own hosts; the guard has let it pass.
    ///
    /// - Parameters:
    ///   - method: `GET`, `HEAD` or `POST`.
    ///   - target: Path and query, as they stand in the request.
    ///   - body: What a POST has brought along.
    /// - Throws: `PageRefusal` for what is no page, no form, or no form of ours.
    public init(method: String, target: String, body: [UInt8] = []) throws(PageRefusal) {
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let path = String(parts[0])
        let query = parts.count == 2 ? String(parts[1]) : ""
        if method == "POST" {
            self = try Self.change(path, body)
        } else {
            self = try Self.page(path, query)
        }
    }

    private static func page(_ path: String, _ query: String) throws(PageRefusal) -> PageRequest {
        switch path {
        case "/": return .home(try notice(query))
        case "/a", "/a/": return .confirm(query: query)
        case "/requests": return .requests(try notice(query))
        case "/learn": return .learn(try notice(query))
        case "/adhoc": return .bringProxy
        case "/ca": return .certificate
        case "/ca.crt": return .certificateFile
        case "/l": return .laptop(port: try value("port", query))
        case "/codes": return .codes
        case "/lab": return .board
        case "/proxy.pac": return .proxyScript
        case "/check": return .check(nonce: try value("n", query))
        case "/check/ipv6": return .checkFrame(nonce: try value("n", query))
        case "/check.png": return .checkImage(nonce: try value("n", query))
        case "/style.css": return .style
        case "/page.js": return .script
        case "/favicon.ico", "/apple-touch-icon.png", "/apple-touch-icon-precomposed.png": return .favicon
        default:
            let isForm = PageAction.allCases.contains { "/\($0.rawValue)" == path }
            throw isForm ? .method(allowed: ["POST"]) : .unknownPath
        }
    }

    private static func notice(_ query: String) throws(PageRefusal) -> PageNotice? {
        try value("done", query).flatMap(PageNotice.init(rawValue:))
    }

    /// A parameter that stands once; others mean nothing.
    private static func value(_ name: String, _ query: String) throws(PageRefusal) -> String? {
        let octets = Array(query.utf8)
        return try reading { () throws(PageFormError) in try PageForm(parsing: octets.span).value(name) }
    }

    private static func change(_ path: String, _ body: [UInt8]) throws(PageRefusal) -> PageRequest {
        guard let action = PageAction(rawValue: String(path.dropFirst())), path.hasPrefix("/") else {
            // A page that is there has other methods.
            _ = try page(path, "")
            throw .method(allowed: ["GET", "HEAD"])
        }
        return try reading { () throws(PageFormError) in
            let form = try PageForm(parsing: body.span)
            return .change(try change(action, form), token: try required("token", form))
        }
    }

    private static func change(_ action: PageAction, _ form: PageForm) throws(PageFormError) -> PageChange {
        switch action {
        case .switchTo: .switchTo(profile: try required("profile", form))
        case .activate: .activate(query: try required("link", form))
        case .release: .release
        case .tryAgain: .tryAgain
        case .extend: .extend
        case .handOver: .handOver
        case .name: .name(try required("name", form))
        case .direct: .direct(host: try required("host", form))
        case .proxy: .proxy(host: try required("host", form))
        case .learn: .learn
        case .addDomains: .addDomains(form.list("domain"))
        case .bringProxy:
            .bringProxy(server: try required("server", form), domains: try form.value("domains") ?? "")
        case .bringLaptop: .bringLaptop(port: try required("port", form))
        }
    }

    private static func required(_ name: String, _ form: PageForm) throws(PageFormError) -> String {
        guard let value = try form.value(name) else { throw .missing(name) }
        return value
    }

    private static func reading<Value>(
        _ read: () throws(PageFormError) -> Value
    ) throws(PageRefusal) -> Value {
        do throws(PageFormError) {
            return try read()
        } catch {
            throw .form(error)
        }
    }
}
