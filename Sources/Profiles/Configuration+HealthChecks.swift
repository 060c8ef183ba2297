/// What groups and probes must agree on with the profiles that they are about.

internal import Addresses
internal import Bytes

extension Configuration {
    /// A group's members are there, can be told apart by their health, and are no groups themselves.
    func checkGroups() throws(ConfigurationError) {
        for (index, profile) in profiles.enumerated() {
            guard let group = profile.upstream.group else { continue }
            for (place, member) in group.members.enumerated() {
                let path = "profiles[\(index)].upstream.members[\(place)]"
                try checkProfile(member, path)
                guard let other = self.profile(member) else { continue }
                let isLast = place == group.members.count - 1
                if let mistake = Self.mistake(other, of: profile, isLast: isLast) {
                    throw Self.conflict(
                        path, found: "\(Shown.text(member)), \(mistake.found)", expected: mistake.expected,
                        hint: mistake.hint)
                }
            }
        }
    }

    /// Why a profile can't be a member of a group.
    private static func mistake(
        _ member: Profile, of profile: Profile, isLast: Bool
    ) -> (found: String, expected: String, hint: String?)? {
        guard member.id != profile.id else { return ("the group itself", "another profile", nil) }
        switch member.upstream.type {
        case .group: return ("a group too", "a profile with a single upstream", "name its members here")
        case .direct where profile.upstream.group?.choose != .fallback || !isLast:
            return (
                "whose upstream is direct", "a proxy; direct is the last member of a fallback, or none",
                "whenDown: \"direct\" is for when all members are red"
            )
        case .http, .socks5, .direct: break
        }
        guard member.health != nil else {
            return (
                "whose health is false", "a profile that is probed", "nothing would show when it is well again"
            )
        }
        return nil
    }

    /// What a profile says about its probes fits its upstream, and the defaults that it is laid over.
    func checkHealth() throws(ConfigurationError) {
        for (index, profile) in profiles.enumerated() {
            let path = "profiles[\(index)].health"
            guard let keys = profile.health else {
                guard profile.upstream.type != .group else {
                    throw Self.conflict(
                        path, found: "false for a group", expected: "no `health`, or { giveUp }",
                        hint: "a group's members are probed, each as its own profile says")
                }
                continue
            }
            if let key = keys.strange(to: profile.upstream.type) {
                throw Self.conflict(
                    "\(path).\(key)", found: "`\(key)` with the upstream type \"\(profile.upstream.type.rawValue)\"",
                    expected: "no `\(key)`",
                    hint: profile.upstream.type == .group
                        ? "a group's members are probed, each as its own profile says"
                        : "only an http proxy has a choice")
            }
            // A group takes nothing but giveUp from the defaults.
            guard profile.upstream.type != .group else { continue }
            if let mistake = keys.contradiction(over: health) {
                throw Self.conflict(
                    "\(path).\(mistake.key)", found: mistake.found, expected: mistake.expected, hint: mistake.hint)
            }
        }
        try checkPages()
    }

    /// B104: nobody really has a fake address, so no page is there.
    private func checkPages() throws(ConfigurationError) {
        guard dns.mode != .off else { return }
        let pages =
            [("health.url", health.page?.url)]
            + profiles.enumerated().map { ("profiles[\($0)].health.url", $1.health?.url) }
        for (path, url) in pages {
            guard case .address(let address)? = url?.host, dns.pool.contains(address) || dns.pool6.contains(address)
            else { continue }
            throw Self.conflict(
                path, found: "\(address), a fake address", expected: "the name or the real address of the page")
        }
    }
}

extension HealthKeys {
    /// The first key that has no meaning with an upstream of this type.
    fileprivate func strange(to type: Upstream.UpstreamType) -> String? {
        switch type {
        case .http: return nil
        case .socks5, .direct: return via == nil ? nil : "via"
        case .group:
            guard case .object(let members) = json else { return nil }
            return members.first { $0.key != "giveUp" }?.key
        }
    }
}
