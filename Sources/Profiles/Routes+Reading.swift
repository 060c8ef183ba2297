/// The lists of a profile, the sets that they name, and the `phones` object.

extension RouteOptions {
    /// Reads the routes out of a profile.
    init(_ section: Section) throws(ConfigurationError) {
        domains = try section.texts("domains", "a list such as [\"example.com\", \"*.example.org\"]", limit: 100_000)
        bypass = try section.texts("bypass", "a list such as [\"intranet.example\", \"10.0.0.0/8\"]", limit: 100_000)
        rules = try section.texts("rules", "a list such as [\"DOMAIN-SUFFIX,example.com,PROXY\"]", limit: 100_000)
        try section.read("capture", into: &capture)
        try section.read("connectName", into: &connectName)
        try section.read("sniff", into: &sniff)
        try section.read("udp", into: &udp)
        if sniff == .off, connectName == .sni {
            throw section.error(
                .conflict, "connectName", found: "\"sni\" with sniff \"off\"",
                expected: "sniff \"needed\" or \"always\", or connectName \"evidence\"")
        }
    }
}

extension RuleSetFile {
    /// Reads the sets at the top of the file.
    static func list(_ top: Section) throws(ConfigurationError) -> [RuleSetFile] {
        var sets: [RuleSetFile] = []
        let expected = "a list of { name, file, format }"
        for (index, value) in try top.list("ruleSets", expected, limit: 256).enumerated() {
            let section = try Section(value, path: "ruleSets[\(index)]", keys: ConfigurationKeys.ruleSet)
            var set = RuleSetFile(name: try section.identifier("name"), file: "")
            let path = "the path of a list"
            _ = try section.required("file", path)
            set.file = try section.text("file", path, limit: 4095) ?? ""
            set.position = section["file"]?.position
            if let hint = Self.mistake(in: set.file) {
                throw section.error(.badValue, "file", found: Shown.text(set.file), expected: path, hint: hint)
            }
            try section.read("format", into: &set.format)
            guard !sets.contains(where: { $0.name == set.name }) else {
                throw section.error(
                    .duplicateKey, "name", found: "\(Shown.text(set.name)), which is there already",
                    expected: "each name once")
            }
            sets.append(set)
        }
        return sets
    }

    /// A list is a file here; the gateway fetches nothing.
    private static func mistake(in path: String) -> String? {
        if HostText.scheme(path) != nil { return "lists are files on this machine: download it first" }
        return path.hasSuffix("/") ? "this names a directory" : nil
    }
}

extension PhoneOptions {
    init(_ value: JSON5Value) throws(ConfigurationError) {
        let section = try Section(value, path: "phones", keys: ConfigurationKeys.phones)
        try section.read("connectivity", into: &connectivity)
        try section.read("push", into: &push)
        try section.read("ntp", into: &ntp)
        try section.read("ike", into: &ike)
        try section.read("privateRelay", into: &privateRelay)
        try section.read("doh", into: &doh)
        try section.read("dot", into: &dot)
        lists = try section.text("lists", "the path of a directory", limit: 4095)
    }
}
