/// What devices have to undo before the gateway goes away: for each that was here in the last days, one line.

public import Profiles

/// The devices of the last 7 days, and what each of them must undo.
public struct LeavingText {
    /// Seconds.
    private static let span: Int64 = 7 * 86_400

    let devices: [Found]
    let style: Style
    let moment: Moment

    /// Takes the answer about all devices; one that was not seen since the daemon's start may well come back.
    public init(_ answer: Found, style: Style, moment: Moment) {
        self.style = style
        self.moment = moment
        devices = answer["devices"].elements.filter { device in
            device["seen"].integer.map { moment.now - Int64($0) <= Self.span } ?? true
        }
    }

    /// The ids of their profiles, each once.
    public var profiles: [String] { Set(devices.compactMap { $0["profile"].text }).sorted() }

    /// One line a device, then how each step is done; `kinds` says which program a profile's proxy is.
    public func text(kinds: [String: [Upstream.Kind]]) -> String {
        guard !devices.isEmpty else { return "no device was seen here in the last 7 days: none has to undo anything\n" }
        var table = TextTable(headings: ["DEVICE", "SEEN", "ADDRESS", "UNDO"])
        var hasCertificate = false
        for device in devices {
            let profile = device["profile"].text ?? ""
            let decrypting = (kinds[profile] ?? []).filter { $0.certificateSource != nil }
            var steps = ["router, DNS"]
            if !decrypting.isEmpty { steps.append("certificate of \(profile)") }
            if device["ownProxy"].isThere { steps.append("certificate of its own proxy") }
            hasCertificate = hasCertificate || steps.count > 1
            table.rows.append([
                .init(device["id"].text ?? "?", device["name"].isThere ? .bold : nil),
                .init(device["seen"].integer.map(moment.since) ?? "not since the start"),
                .init(device["addresses"].texts.first ?? ""), .init(steps.joined(separator: ", ")),
            ])
        }
        return table.text(style) + "\n" + Self.steps(hasCertificate: hasCertificate)
    }

    private static func steps(hasCertificate: Bool) -> String {
        var lines = [
            "router, DNS: a device that was told by hand gets its former router and DNS again, or \"automatic\"; one that "
                + "asks a DHCP server is right once that server names another router, and the device has joined the "
                + "Wi-Fi again. A proxy or a PAC address that names this gateway goes, too."
        ]
        if hasCertificate {
            lines.append(
                "certificate: whoever has that proxy's key can read what the device sends until it is removed from the "
                    + "device; `starshipctl ca PROFILE` has the steps.")
        }
        return lines.map { HelpText.wrapped($0, indent: 2) + "\n" }.joined()
    }
}
