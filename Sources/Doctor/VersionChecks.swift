/// Whether the daemon and this command are of one version.

enum VersionChecks {
    static func findings(_ sight: Sight) -> [Finding] {
        guard case .running(let running) = sight.daemon else { return [] }
        guard running.version == sight.tools.own else {
            return [
                Finding(
                    .versions, .notice, "starshipd is \(running.version), starshipctl \(sight.tools.own)",
                    meaning: "After an update the daemon still runs from before.",
                    mending: ["systemctl restart starshipd"])
            ]
        }
        return [Finding(.versions, .ok, "starshipd and starshipctl are \(running.version)")]
    }
}
