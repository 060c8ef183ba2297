/// Building a signed link.

internal import Addresses
internal import Digest

extension Link {
    /// A signed link to a proxy.
    ///
    /// - Parameters:
    ///   - proxy: What the link brings along.
    ///   - grant: For how long, for whom; its `key` is the key's own id.
    ///   - key: The key to sign with; it must be good for links and for this host.
    ///   - form: What stands in front of the parameters.
    /// - Throws: `LinkError` for whatever `parse` or the check of a gateway would refuse in the link.
    public init(proxy: LinkedProxy, grant: LinkGrant, key: LinkKey, form: Form = .starship) throws(LinkError) {
        precondition(grant.key == key.id, "a grant of another key")
        guard !proxy.domains.contains(where: { $0.utf8.contains(UInt8(ascii: ",")) }) else {
            throw LinkError(.badDomains, .domains, found: "an entry with a comma", expected: "one entry each")
        }
        var values = LinkValues([.version: "1", .port: String(proxy.server.port)])
        switch proxy.server.host {
        case .name(let name): values[.host] = name
        case .address(let address): values[.host] = address.description
        }
        if proxy.name != proxy.server.description { values[.name] = proxy.name }
        if proxy.type != .http { values[.type] = proxy.type.rawValue }
        if !proxy.domains.isEmpty { values[.domains] = proxy.domains.joined(separator: ",") }
        values[.gateway] = grant.gateway
        values[.once] = grant.once
        values[.expires] = String(grant.expires)
        values[.key] = key.id
        try LinkVerifier.checkRights(of: key, to: proxy)
        if let until = key.until, grant.expires > until {
            throw LinkError(
                .expiredKey, .expires, found: "\(grant.expires)",
                expected: "at most \(until), when the key \(key.id) ends")
        }
        values[.signature] = Base64.url.encode(key.sign(values.message).span)
        // Reading is the one place that knows what is right.
        self = try Link.parse(Link(form: form, request: .profile(""), values: values).text)
    }

    /// The octets that are signed, for those who sign elsewhere; nil for a link without a signature.
    public var signedMessage: [UInt8]? { values[.signature] == nil ? nil : values.message }
}
