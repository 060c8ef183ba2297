/// From a request to a call: which paths there are, with which methods, parameters and keys.

internal import Bytes
internal import Profiles

extension ControlCall {
    /// Finds out what a request asks for.
    public static func read(_ request: ControlRequest) throws(ControlError) -> ControlCall {
        if request.path == ["metrics"] { return try get(request, .metrics) }
        guard request.path.first == "v1" else { throw noSuchPath }
        let path = request.path.dropFirst()
        switch (path.first ?? "", path.count) {
        case ("status", 1): return try get(request, .status)
        case ("profiles", 1): return try get(request, .profiles)
        case ("profiles", 2): return try profile(request, path[2])
        case ("profiles", 3) where path[3] == "ca": return try get(request, .authority(profile: path[2]))
        case ("devices", 1): return try get(request, .devices)
        case ("devices", 2): return try device(request, path[2])
        case ("devices", 3): return try ofDevice(request, path[2], path[3])
        case ("config", 1): return try configuration(request)
        case ("peers", 2): return try peer(request, path[2])
        case ("history", 1): return try get(request, .history)
        case ("diff", 1): return try get(request, .differences)
        case ("export", 1): return try get(request, .export)
        case ("network", 1): return try get(request, .network)
        case ("openapi", 1): return try get(request, .description)
        case ("flows", 1): return try flows(request)
        case ("events", 1): return try events(request)
        case ("explain", 1): return try explain(request)
        case ("why", 1): return try why(request)
        case ("capture", 1): return try capture(request)
        case (let verb, 1): return try post(request, verb)
        case ("links", 2) where path[2] == "apply": return try applyLink(request)
        default: throw noSuchPath
        }
    }

    static var noSuchPath: ControlError {
        ControlError(.notFound, "found a path that is not there; GET /v1/openapi lists those that are")
    }

    static func methods(_ methods: [String]) -> ControlError {
        var error = ControlError(
            .methodNotAllowed,
            "this path has the \(methods.count == 1 ? "method" : "methods") \(methods.joined(separator: ", ")) alone")
        error.allowed = methods
        return error
    }

    /// Every parameter has to be one of those.
    static func check(_ request: ControlRequest, _ names: [String] = []) throws(ControlError) {
        for parameter in request.parameters where !names.contains(parameter.name) {
            throw ControlBody.unknown(parameter.name, among: names, "parameter")
        }
    }

    static func get(_ request: ControlRequest, _ call: ControlCall) throws(ControlError) -> ControlCall {
        guard request.method == .get else { throw methods(["GET", "HEAD"]) }
        try check(request)
        return call
    }

    /// The whole number of a parameter.
    private static func number(
        _ request: ControlRequest, _ name: String, within range: ClosedRange<Int>
    ) throws(ControlError) -> Int? {
        guard let text = request.parameter(name) else { return nil }
        let isPlain = !text.isEmpty && text.utf8.allSatisfy { 0x30...0x39 ~= $0 }
        guard isPlain, let number = Int(text), range.contains(number) else {
            let expected = "a whole number from \(range.lowerBound) to \(range.upperBound)"
            throw ControlError(.badRequest, "\(name): expected \(expected)", path: name, expected: expected)
        }
        return number
    }

    private static func confirm(_ request: ControlRequest) throws(ControlError) -> Int? {
        try number(request, "confirm", within: confirmTimes)
    }

    /// How long a confirmation may be waited for, in seconds.
    public static let confirmTimes = 1...3600

    // MARK: Paths with several methods

    private static func profile(_ request: ControlRequest, _ id: String) throws(ControlError) -> ControlCall {
        switch request.method {
        case .get:
            try check(request)
            return .profile(id)
        case .put:
            try check(request, ["confirm"])
            try wantJSON(request)
            return .putProfile(id, confirm: try confirm(request))
        case .delete:
            try check(request, ["moveTo"])
            return .deleteProfile(id, moveTo: request.parameter("moveTo"))
        case .post, .other:
            throw methods(["GET", "HEAD", "PUT", "DELETE"])
        }
    }

    private static func peer(_ request: ControlRequest, _ id: String) throws(ControlError) -> ControlCall {
        guard request.method == .put else { throw methods(["PUT"]) }
        try check(request)
        try wantJSON(request)
        return .hear(peer: id)
    }

    private static func device(_ request: ControlRequest, _ device: String) throws(ControlError) -> ControlCall {
        switch request.method {
        case .get:
            try check(request)
            return .device(device)
        case .put:
            try check(request)
            let body = try ControlBody(request, keys: ["name"])
            // An empty object is a slip, no wish to have the name forgotten.
            guard body.mentions("name") else { throw ControlBody.wrong("name", "nothing", "a name, or null") }
            return .name(device: device, try body.text("name", "a name, or null", limit: 64))
        case .post, .delete, .other: throw methods(["GET", "HEAD", "PUT"])
        }
    }

    private static func configuration(_ request: ControlRequest) throws(ControlError) -> ControlCall {
        switch request.method {
        case .get:
            try check(request)
            return .configuration
        case .put:
            try check(request, ["confirm"])
            try wantJSON(request)
            return .putConfiguration(confirm: try confirm(request))
        case .post, .delete, .other: throw methods(["GET", "HEAD", "PUT"])
        }
    }

    private static func wantJSON(_ request: ControlRequest) throws(ControlError) {
        guard request.isJSON else {
            throw ControlError(
                .unsupportedMediaType,
                "found a body that is not said to be JSON; expected Content-Type: application/json")
        }
    }

    private static func capture(_ request: ControlRequest) throws(ControlError) -> ControlCall {
        switch request.method {
        case .delete:
            try check(request)
            return .stopCapture
        case .post:
            try check(request)
            let body = try ControlBody(request, keys: ["file", "filter", "snap", "size", "files"])
            var wish = CaptureWish()
            wish.file = try body.text("file", "the name of a file", limit: 128)
            wish.filter = try body.text("filter", "an expression of pcap-filter(7)", limit: 4096)
            wish.snap = try body.integer("snap", within: 40...262_144)
            wish.size = try body.integer("size", within: 65_536...68_719_476_736)
            wish.files = try body.integer("files", within: 1...1000)
            return .startCapture(wish)
        case .get, .put, .other: throw methods(["POST", "DELETE"])
        }
    }

    // MARK: Looking

    private static func flows(_ request: ControlRequest) throws(ControlError) -> ControlCall {
        guard request.method == .get else { throw methods(["GET", "HEAD"]) }
        try check(request, ["device", "profile", "limit"])
        var question = FlowQuestion()
        question.device = request.parameter("device")
        question.profile = request.parameter("profile")
        question.limit = try number(request, "limit", within: 1...10_000) ?? question.limit
        return .flows(question)
    }

    /// Where to go on from; what the client's reader says is newer than what stands in the address.
    private static func events(_ request: ControlRequest) throws(ControlError) -> ControlCall {
        guard request.method == .get else { throw methods(["GET", "HEAD"]) }
        try check(request, ["since"])
        let since = try number(request, "since", within: 0...1 << 53)
        guard let last = request.lastEvent, !last.isEmpty else { return .events(since: since) }
        guard last.utf8.allSatisfy({ 0x30...0x39 ~= $0 }), let id = Int(last) else {
            let expected = "the id of an event, a whole number"
            throw ControlError(
                .badRequest, "Last-Event-ID: expected \(expected)", path: "Last-Event-ID", expected: expected)
        }
        return .events(since: id)
    }

    private static func explain(_ request: ControlRequest) throws(ControlError) -> ControlCall {
        guard request.method == .get else { throw methods(["GET", "HEAD"]) }
        try check(request, ["host", "port", "device", "udp"])
        guard let host = request.parameter("host"), !host.isEmpty else {
            throw ControlError(.badRequest, "host: found nothing; expected a name or an address", path: "host")
        }
        var explained = Explained(host: host)
        explained.port = try number(request, "port", within: 1...65_535)
        explained.device = request.parameter("device")
        switch request.parameter("udp") {
        case nil, "false": break
        case "true", "": explained.isUDP = true
        default: throw ControlError(.badRequest, "udp: expected true or false", path: "udp")
        }
        return .explain(explained)
    }

    private static func why(_ request: ControlRequest) throws(ControlError) -> ControlCall {
        guard request.method == .get else { throw methods(["GET", "HEAD"]) }
        try check(request, ["device", "host"])
        guard let device = request.parameter("device"), !device.isEmpty else {
            throw ControlError(
                .badRequest, "device: found nothing; expected a name, a MAC or an address", path: "device")
        }
        return .why(device: device, host: request.parameter("host"))
    }
}
