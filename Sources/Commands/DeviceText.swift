/// Devices: one a line, or one with everything about it.

struct DeviceText {
    let style: Style
    let moment: Moment

    func table(_ devices: [Found]) -> String {
        guard !devices.isEmpty else {
            return "no device has been seen yet; does one use this gateway as its router?\n"
        }
        var table = TextTable(headings: ["DEVICE", "PROFILE", "BY", "UNTIL", "ADDRESSES", "MARKS"])
        for device in devices {
            let isNamed = device["name"].text != nil
            table.rows.append([
                .init(device["id"].text ?? "?", isNamed ? .bold : nil), .init(device["profile"].text ?? "–"),
                .init(device["profileBy"].text ?? ""), .init(device["until"].integer.map(moment.clock) ?? ""),
                .init(Self.addresses(device)), .init(Self.marks(device).joined(separator: ", "), .warning),
            ])
        }
        return table.text(style)
    }

    func details(_ device: Found) -> String {
        var lines = LabelledLines()
        lines.add("device", device["id"].text)
        lines.add("profile", device["profile"].text.map { $0 + (device["profileBy"].text.map { ", by \($0)" } ?? "") })
        lines.add("until", device["until"].integer.map(moment.end))
        lines.add("direct", device["direct"].texts.joined(separator: ", "))
        lines.add("proxied", device["proxied"].texts.joined(separator: ", "))
        lines.add("mac", device["mac"].text.map { $0 + (device["interface"].text.map { " on \($0)" } ?? "") })
        lines.add("addresses", device["addresses"].texts.joined(separator: ", "))
        lines.add("proposal", device["proposal"].text)
        lines.add("seen", device["seen"].integer.map(moment.since))
        lines.add("flows", device["flows"].integer.map(String.init))
        for mark in device["marks"].texts { lines.add("mark", mark) }
        return lines.text(style)
    }

    /// What a device is known by, its name aside.
    static func place(of device: Found) -> String {
        device["mac"].text ?? device["addresses"].texts.first ?? device["id"].text ?? "the device"
    }

    /// The IPv4 address first, because it is what people know; how many there are besides.
    private static func addresses(_ device: Found) -> String {
        let all = device["addresses"].texts
        guard let shown = all.first(where: { !$0.contains(":") }) ?? all.first else { return "" }
        return all.count > 1 ? "\(shown) +\(all.count - 1)" : shown
    }

    /// Marks; a name to give counts as one.
    private static func marks(_ device: Found) -> [String] {
        guard device["name"].text == nil, let proposal = device["proposal"].text else { return device["marks"].texts }
        return device["marks"].texts + [proposal.hasPrefix("looks like") ? proposal : "name it \(proposal)?"]
    }
}
