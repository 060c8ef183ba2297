/// The kernel's settings alone, for a daemon that may not write them: a step with more rights makes them before its
/// start, and whenever it asks.
///
///     daemon ── settings.wanted ──▶ (path unit) ──▶ `starshipd settings`, as root ──▶ /proc/sys
///                                                        └──▶ /run/starship-settings.state: what they were
///
/// The step reads the configuration itself. What it is asked for only tells it when, so nobody who has taken the daemon
/// over can have it write anything else.

import LinuxIO

extension NetworkSetup {
    /// Makes the settings that a plan needs, puts back those that it needs no more, and returns what was done.
    ///
    /// Needs the rights to write below /proc/sys/net. A call that throws has changed nothing.
    public static func makeSettings(
        _ plan: NetworkPlan, statePath: String = NetworkNames.settingsPath
    ) throws(NetworkError) -> [String] {
        try validate(plan)
        var script = NetworkScript()
        let machine = try machine()
        script.settings = NetworkScript(plan, on: machine).settings
        return try ChangeLock.hold(directory(of: statePath)) { () throws(NetworkError) in
            var setup = NetworkSetup(statePath: statePath)
            return try setup.makeSettings(script, on: machine)
        }
    }

    private mutating func makeSettings(
        _ script: NetworkScript, on machine: KernelNetwork
    ) throws(NetworkError) -> [String] {
        let saved = try SavedState.read(statePath)
        let settings = Settings.pending(script.settings, saved)
        let state = Self.saving(saved, settings, script, machine)
        var inverses: [Inverse] = []
        var done: [String] = []
        do throws(NetworkError) {
            if state != saved {
                try state.write(statePath)
                inverses.append(.state(saved))
            }
            try set(settings.filter(\.setting.along.isEmpty), &inverses, &done)
            try set(settings.filter { !$0.setting.along.isEmpty }, &inverses, &done)
            try forget(Settings.obsolete(script.settings, state), of: state, &inverses, &done)
        } catch {
            takeBack(inverses)
            throw error
        }
        return done
    }

    /// Puts back what `makeSettings` has changed; others' wishes stay.
    public static func putSettingsBack(statePath: String = NetworkNames.settingsPath) throws(NetworkError) {
        try ChangeLock.hold(directory(of: statePath)) { () throws(NetworkError) in
            let saved = try SavedState.read(statePath)
            let failures = restore(saved, SystemTools())
            try SavedState().write(statePath)
            if let failure = failures.first { throw failure }
        }
    }

    /// Whether rules of a gateway stand here, be it running or dead.
    public static func stands() throws(NetworkError) -> Bool {
        try machine().rules.contains { NetworkNames.priorities.contains($0.priority) }
    }

    /// Says which settings are needed, where a path unit looks; without the directory there is nobody who does.
    public func wish(_ settings: [NetworkNotice]) {
        let text = settings.map { "\($0)\n" }.joined()
        try? SmallFile.replace(NetworkNames.wishPath, with: Array(text.utf8))
    }
}
