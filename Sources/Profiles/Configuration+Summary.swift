/// A configuration in a few lines for people, without secrets.

internal import Addresses
internal import Bytes

extension Configuration {
    /// What `starshipd check` prints: one line for each part, passwords named by their files alone.
    public var summary: String {
        var lines = ["profile   \(activeProfile.id) (\(Shown.text(activeProfile.name).dropFirst().dropLast()))"]
        lines.append("upstream  \(activeProfile.upstream.summary)")
        if let tunnel {
            lines.append(
                "tun       \(tunnel.name), mtu \(tunnel.mtu), workers \(tunnel.workers), offload \(tunnel.offload.rawValue)"
            )
        } else {
            lines.append("tun       off")
        }
        lines.append("socks     \(socks?.summary ?? "off")")
        lines.append("http      \(http?.summary ?? "off")")
        lines.append("log       \(log.level.rawValue), \(log.format.rawValue), flows \(log.flows.rawValue)")
        return lines.joined(separator: "\n") + "\n"
    }
}

extension Upstream {
    /// The proxy and how it is talked to.
    fileprivate var summary: String {
        guard let server else { return "direct, half-close \(halfClose.rawValue)" }
        var parts = ["\(type.rawValue) \(server)"]
        if kind != .other { parts.append(kind.rawValue) }
        if let credentials {
            let user = "user \(Shown.text(credentials.user))"
            switch credentials.password {
            case .file(let path): parts.append("\(user), password from \(Shown.text(path))")
            case .given: parts.append("\(user), password given")
            }
            if type == .http { parts.append("auth \(authentication.rawValue)") }
        }
        if identify { parts.append("identify") }
        parts.append("half-close \(halfClose.rawValue)")
        if type == .http { parts.append("http80 \(plainHTTP.rawValue)") }
        return parts.joined(separator: ", ")
    }
}

extension InboundOptions {
    /// Where it listens, for whom, and where its streams go.
    fileprivate var summary: String {
        var text = listen.map(\.description).joined(separator: " ")
        if !allow.isEmpty { text += " for " + allow.map(\.description).joined(separator: " ") }
        if !users.isEmpty { text += ", \(users.count) users" }
        return outbound == .direct ? text + ", direct" : text
    }
}
