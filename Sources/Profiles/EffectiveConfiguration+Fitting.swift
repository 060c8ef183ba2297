/// A start, or a new file, must not fail for what the lab stored earlier: what no longer fits is left out.

internal import Routing

extension EffectiveConfiguration {
    /// Lays as much of the state over the file as fits, and makes rules of it.
    ///
    /// A stored profile that contradicts the file, or whose rules name what is gone, is left out with a notice. Throws
    /// for what is wrong with the file itself. `files`, `name` and `former` are those of `Configuration.resolve`.
    public static func fitting(
        file: Configuration, lab: LabState, files: [String: [UInt8]] = [:], name: String? = nil,
        reusing former: ResolvedConfiguration? = nil
    ) throws(ConfigurationError) -> (EffectiveConfiguration, ResolvedConfiguration) {
        let alone = try file.resolve(files: files, name: name, reusing: former)
        var state = lab
        var dropped: [String] = []
        // One that is left out may be what another one's rules name, so look again until all fit.
        while case let misfits = state.misfits(over: alone), !misfits.isEmpty {
            state.profiles.removeAll { profile in misfits.contains { $0.id == profile.id } }
            dropped += misfits.map { "the stored profile \($0.id) is left out: \($0.error)" }
        }
        var effective = try EffectiveConfiguration(file: file, lab: state)
        effective.notices = dropped + effective.notices
        let resolved = try effective.configuration.resolve(files: files, name: name, reusing: former ?? alone)
        return (effective, resolved)
    }
}

extension LabState {
    /// The stored profiles that can't be laid over the file, and why.
    fileprivate func misfits(over file: ResolvedConfiguration) -> [(id: String, error: ConfigurationError)] {
        let own = Set(file.configuration.profiles.map(\.id))
        let stored = profiles.filter { !own.contains($0.id) }
        let single = misfits(stored.filter { $0.upstream.group == nil }, among: stored, over: file)
        // A group is as good as its members, so it is looked at when all of them fit.
        guard single.isEmpty else { return single }
        return misfits(stored.filter { $0.upstream.group != nil }, among: stored, over: file)
    }

    private func misfits(
        _ chosen: [Profile], among stored: [Profile], over file: ResolvedConfiguration
    ) -> [(id: String, error: ConfigurationError)] {
        let ids = profiles.map(\.id)
        var misfits: [(id: String, error: ConfigurationError)] = []
        for profile in chosen {
            do throws(ConfigurationError) {
                let members = profile.upstream.group?.members ?? []
                var alone = LabState()
                alone.profiles = stored.filter { $0.id != profile.id && members.contains($0.id) } + [profile]
                _ = try EffectiveConfiguration(file: file.configuration, lab: alone)
                try profile.check(in: file, besides: ids)
            } catch {
                misfits.append((profile.id, error))
            }
        }
        return misfits
    }
}

extension Profile {
    /// Checks that a pushed profile's rules name sets and profiles that are there.
    ///
    /// Errors have the place in the profile's own text. `ids` are profiles that will be there with it.
    public func check(
        in resolved: ResolvedConfiguration, besides ids: [String] = []
    ) throws(ConfigurationError) {
        let known = Set(resolved.configuration.profiles.map(\.id) + ids + [id])
        _ = try routes.ruleSet(path: "", name: nil, sets: resolved.sets, profiles: known)
    }
}
