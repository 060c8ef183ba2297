/// The calls about what one device wants: its last names, its own lists, and what can be learned about it.

internal import Profiles

extension ControlCall {
    /// The most entries of each of a device's lists.
    static let listLimit = 64

    static func ofDevice(
        _ request: ControlRequest, _ device: String, _ what: String
    ) throws(ControlError) -> ControlCall {
        switch what {
        case "requests": return try get(request, .requests(device: device))
        case "lists":
            guard request.method == .put else { throw methods(["PUT"]) }
            try check(request)
            return .putLists(try listWish(request, device))
        case "learn":
            switch request.method {
            case .get: return try get(request, .learned(device: device))
            case .post:
                try check(request)
                return .learn(device: device)
            case .put, .delete, .other: throw methods(["GET", "HEAD", "POST"])
            }
        default: throw noSuchPath
        }
    }

    private static func listWish(_ request: ControlRequest, _ device: String) throws(ControlError) -> ListWish {
        let body = try ControlBody(request, keys: ["direct", "proxied", "drain", "now"])
        var wish = ListWish(device: device)
        let expected = "a list such as [\"example.com\", \"*.example.org\"]"
        for key in ["direct", "proxied"] where body.mentions(key) && !body.has(key) {
            throw ControlBody.wrong(key, "null", expected)
        }
        wish.direct = try body.texts("direct", expected, limit: listLimit)
        wish.proxied = try body.texts("proxied", expected, limit: listLimit)
        // An empty object is a slip, no wish to have both lists emptied.
        guard wish.direct != nil || wish.proxied != nil else {
            throw ControlError(
                .badRequest, "found neither direct nor proxied; expected one of them, or both",
                expected: "direct or proxied")
        }
        wish.manner = try manner(body)
        return wish
    }
}
