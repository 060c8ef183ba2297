/// The `network` object.

extension NetworkOptions {
    init(_ value: JSON5Value) throws(ConfigurationError) {
        let section = try Section(
            value, path: "network", keys: ConfigurationKeys.network, later: ConfigurationKeys.laterNetwork)
        try section.read("setup", into: &setup)
        try section.read("masquerade", into: &masquerades)
        try section.read("whenDown", into: &whenDown)
        if section["uplink"]?.content != .string("auto") { uplink = try section.interface("uplink") }
        try readLAN(section)
        try readMark(section)
    }

    private mutating func readLAN(_ section: Section) throws(ConfigurationError) {
        let expected = "a list of interfaces, each \"wlan0\" or { interface: \"wlan0\", profile: \"lab\" }"
        for (index, value) in try section.list("lan", expected, limit: 64).enumerated() {
            let path = "network.lan[\(index)]"
            let entry: LAN
            switch value.content {
            case .string(let text):
                guard Section.isInterface(text) else {
                    throw ConfigurationError(
                        .badValue, at: value.position, path: path, found: Shown.text(text),
                        expected: Section.interfaceName)
                }
                entry = LAN(interface: text)
            case .object:
                let inner = try Section(value, path: path, keys: ConfigurationKeys.lan)
                _ = try inner.required("interface", Section.interfaceName)
                entry = LAN(
                    interface: try inner.interface("interface") ?? "",
                    profile: try inner.text("profile", "the id of a profile"))
            default:
                throw ConfigurationError(
                    .wrongType, at: value.position, path: path, found: value.kind,
                    expected: "\"wlan0\" or { interface: \"wlan0\", profile: \"lab\" }")
            }
            guard !lan.contains(where: { $0.interface == entry.interface }) else {
                throw ConfigurationError(
                    .duplicateKey, at: value.position, path: path, found: "\"\(entry.interface)\" twice",
                    expected: "each interface once")
            }
            lan.append(entry)
        }
    }

    private mutating func readMark(_ section: Section) throws(ConfigurationError) {
        let expected = "a mark and a mask, such as \"0x53000000/0xff000000\""
        guard let text = try section.text("mark", expected) else { return }
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let value = Quantity.word(parts[0]), let mask = Quantity.word(parts[1]) else {
            throw section.error(.badValue, "mark", found: Shown.text(text), expected: expected)
        }
        guard value != 0, value & ~mask == 0 else {
            throw section.error(
                .badValue, "mark", found: Shown.text(text), expected: "a mark that is not 0 and lies within its mask")
        }
        mark = Mark(value: value, mask: mask)
    }
}
