/// Probes, groups and metrics in a few words, for `starshipd check`.

internal import Addresses
internal import Bytes

extension HealthOptions? {
    /// What is probed, how often, and when that is given up.
    func summary(of upstream: Upstream) -> String {
        guard let options = self else { return "not probed" }
        let end = options.giveUp.map { "given up after \(Quantity.text($0)) of red" } ?? "never given up"
        guard upstream.group == nil else { return "that of its members, \(end)" }
        var parts: [String] = []
        if let page = options.page {
            let statuses = page.statuses.map(String.init).joined(separator: " or ")
            parts.append("\(page.url) answers \(statuses)" + (page.body.map { " with \(Shown.text($0))" } ?? ""))
            if upstream.type == .http { parts.append("via \(options.via.rawValue)") }
        } else {
            parts.append("connections alone: without a url nothing is verified")
        }
        parts.append("every \(Quantity.text(options.interval)) within \(Quantity.text(options.timeout))")
        parts.append("slow from \(Quantity.text(options.slow))")
        return (parts + [end]).joined(separator: ", ")
    }
}

extension GroupOptions {
    var summary: String {
        let way =
            switch choose {
            case .fallback: "fallback, back after \(Quantity.text(returnAfter))"
            case .fastest: "fastest by \(Quantity.text(tolerance))"
            case .balance: "balance by device"
            }
        return "group of \(members.joined(separator: " ")), \(way), when down \(whenDown.rawValue)"
    }
}

extension MetricsOptions {
    var summary: String {
        let allowed = allow.isEmpty ? "" : " for " + allow.map(\.description).joined(separator: " ")
        return listen.map(\.description).joined(separator: " ") + allowed
    }
}
