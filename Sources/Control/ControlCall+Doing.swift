/// The calls that change something, read from their bodies.

internal import Bytes
internal import Profiles

extension ControlCall {
    /// The paths that are verbs.
    static func post(_ request: ControlRequest, _ verb: String) throws(ControlError) -> ControlCall {
        let verbs = ["activate", "release", "reload", "rollback", "confirm", "links", "probe"]
        guard verbs.contains(verb) else {
            throw ControlError(.notFound, "found a path that is not there; GET /v1/openapi lists those that are")
        }
        guard request.method == .post else { throw methods(["POST"]) }
        if let parameter = request.parameters.first {
            throw ControlBody.unknown(parameter.name, among: [], "parameter")
        }
        switch verb {
        case "activate": return try activate(request)
        case "release":
            let body = try ControlBody(request, keys: ["device", "all", "drain", "now"])
            return .release(try scope(body), try manner(body))
        case "reload": return .reload
        case "rollback":
            let body = try ControlBody(request, keys: ["revision"])
            return .rollBack(try revision(body))
        case "confirm":
            let body = try ControlBody(request, keys: ["revision"])
            return .confirm(try revision(body))
        case "probe": return .probe(try probeWish(request))
        default: return .makeLink(try linkWish(request))
        }
    }

    private static func revision(_ body: ControlBody) throws(ControlError) -> Int {
        guard let revision = try body.integer("revision", within: 0...Int(Int32.max)) else {
            throw ControlError(
                .badRequest, "revision: found nothing; expected the number of a revision (GET /v1/history)",
                path: "revision")
        }
        return revision
    }

    /// The most pages that one request has tried.
    static let pageLimit = 32

    private static func probeWish(_ request: ControlRequest) throws(ControlError) -> ProbeWish {
        let body = try ControlBody(request, keys: ["profile", "urls"])
        var wish = ProbeWish(profile: try body.text("profile", "the id of a profile", limit: 64))
        guard let pages = try body.texts("urls", "a list of http URLs", limit: pageLimit) else { return wish }
        guard !pages.isEmpty, pages.allSatisfy({ !$0.isEmpty && $0.utf8.count <= 2048 }) else {
            throw ControlBody.wrong("urls", pages.isEmpty ? "an empty list" : "no URL", "1 to \(pageLimit) http URLs")
        }
        wish.pages = pages
        return wish
    }

    private static func activate(_ request: ControlRequest) throws(ControlError) -> ControlCall {
        let body = try ControlBody(
            request, keys: ["profile", "device", "all", "override", "for", "drain", "now", "confirm"])
        let profile = try body.required("profile", "the id of a profile", limit: 64)
        var activation = Activation(profile: profile, scope: try scope(body))
        activation.duration = try duration(body, activation.scope)
        activation.manner = try manner(body)
        activation.confirm = try body.integer("confirm", within: confirmTimes)
        return .activate(activation)
    }

    static func applyLink(_ request: ControlRequest) throws(ControlError) -> ControlCall {
        guard request.method == .post else { throw methods(["POST"]) }
        if let parameter = request.parameters.first {
            throw ControlBody.unknown(parameter.name, among: [], "parameter")
        }
        let body = try ControlBody(
            request, keys: ["link", "device", "all", "override", "for", "drain", "now", "check"])
        // A link with a line end behind it is read as what it means; its reader judges everything else.
        var use = LinkUse(link: try body.required("link", "a config link", limit: 8192))
        use.isCheck = try body.flag("check")
        let hasScope = body.has("device") || body.has("all")
        use.scope = use.isCheck && !hasScope ? nil : try scope(body)
        use.duration = try duration(body, use.scope ?? .device(""))
        use.manner = try manner(body)
        return .applyLink(use)
    }

    // MARK: Parts

    /// One device, or all: neither and both are refused.
    private static func scope(_ body: ControlBody) throws(ControlError) -> Scope {
        let device = try body.text("device", "a device's name, MAC or address", limit: 128)
        let (all, override) = (try body.flag("all"), try body.flag("override"))
        switch (device, all) {
        case (let device?, false):
            guard !override else {
                throw ControlError(.badRequest, "override: it belongs to all: true", path: "override")
            }
            return .device(device)
        case (nil, true): return .all(override: override)
        case (nil, false):
            throw ControlError(
                .noTarget, "found no target; expected device: a name, a MAC or an address, or all: true",
                expected: "device or all")
        case (.some, true):
            throw ControlError(.noTarget, "found both device and all; expected one of them", expected: "device or all")
        }
    }

    static func manner(_ body: ControlBody) throws(ControlError) -> Manner {
        var manner = Manner()
        let isNow = try body.flag("now")
        if let drain = try body.duration("drain", within: .zero ... .seconds(30)) {
            guard !isNow else {
                throw ControlError(.badRequest, "now: found beside drain; expected one of them", path: "now")
            }
            manner.drain = drain
        }
        if isNow { manner.drain = .zero }
        return manner
    }

    private static func duration(_ body: ControlBody, _ scope: Scope) throws(ControlError) -> Duration {
        guard body.has("for") else { return .usual }
        guard case .device = scope else {
            throw ControlError(.badRequest, "for: it belongs to one device; the gateway's default lasts", path: "for")
        }
        if case .some("forever") = try? body.text("for", "a duration", limit: 32) { return .forever }
        let time = try body.duration("for", within: .seconds(60) ... .hours(24 * 365))
        return time.map(Duration.time) ?? .usual
    }

    private static func linkWish(_ request: ControlRequest) throws(ControlError) -> LinkWish {
        let body = try ControlBody(
            request,
            keys: [
                "profile", "name", "type", "host", "port", "domains", "key", "for", "gateway", "once", "form", "page",
            ])
        var wish: LinkWish
        if let profile = try body.text("profile", "the id of a profile", limit: 64) {
            let others = ["name", "type", "host", "port", "domains", "key", "for", "gateway", "once"]
            if let other = others.first(where: body.has) {
                throw ControlError(
                    .badRequest, "\(other): a link to a profile carries nothing else", path: other)
            }
            wish = LinkWish(content: .profile(profile))
        } else {
            wish = LinkWish(content: .proxy(try linkedProxy(body)))
        }
        wish.page = try page(body)
        return wish
    }

    private static func page(_ body: ControlBody) throws(ControlError) -> String? {
        let page = try body.text("page", "the name or the address of the gateway", limit: 255)
        switch try body.text("form", "\"starship\" or \"page\"", limit: 16) {
        case nil: return page
        case "starship":
            guard page == nil else {
                throw ControlError(.badRequest, "page: it belongs to form \"page\"", path: "page")
            }
            return nil
        case "page":
            guard let page else {
                throw ControlError(
                    .badRequest, "page: found nothing; expected the name or the address of the gateway", path: "page")
            }
            return page
        default: throw ControlError(.badRequest, "form: expected \"starship\" or \"page\"", path: "form")
        }
    }

    private static func linkedProxy(_ body: ControlBody) throws(ControlError) -> LinkWish.Proxy {
        let host = try body.required("host", "the name or the address of the proxy", limit: 255)
        guard let port = try body.integer("port", within: 1...65_535) else {
            throw ControlError(.badRequest, "port: found nothing; expected 1 to 65535", path: "port")
        }
        let type = try body.text("type", "\"http\" or \"socks5\"", limit: 16) ?? "http"
        guard ["http", "socks5"].contains(type) else {
            throw ControlError(.badRequest, "type: expected \"http\" or \"socks5\"", path: "type")
        }
        return LinkWish.Proxy(
            name: try body.text("name", "a name to show", limit: 255), type: type, host: host, port: port,
            domains: try body.texts("domains", "a list of domains", limit: 256) ?? [],
            key: try body.required("key", "the id of a key", limit: 64),
            duration: try body.duration("for", within: .seconds(60) ... .hours(24 * 3650)) ?? .hours(24 * 30),
            isForThisGateway: try body.flag("gateway"), isForOnce: try body.flag("once"))
    }
}
