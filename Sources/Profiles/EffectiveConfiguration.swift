/// # What counts: the file with the lab's state laid over it
///
///     Configuration (the administrator's file) ─┐
///                                               ├──▶ EffectiveConfiguration ──▶ one Configuration, and notices
///     LabState (the store) ─────────────────────┘
///
/// Profiles and devices of the file come first, then those of the store that the file doesn't hide: on the same id,
/// name or device the file's wins. What no longer leads anywhere is left out with a notice, never by surprise.

public import Devices

/// One configuration out of two, and what became of the rest.
public struct EffectiveConfiguration: Equatable, Sendable {
    /// Everything that counts; right by itself, like one that was read.
    public private(set) var configuration: Configuration
    /// The ids of the profiles that are the store's.
    public private(set) var storedProfiles: [String] = []
    /// The ids of stored profiles that the file's hide.
    public private(set) var hiddenProfiles: [String] = []
    /// The names of the devices that are the store's.
    public private(set) var storedDevices: [String] = []
    /// The names of stored devices that the file's hide.
    public private(set) var hiddenDevices: [String] = []
    /// The assignments whose profile is there.
    public private(set) var assignments: [Assignment] = []
    /// What was left out, a line each.
    public internal(set) var notices: [String] = []

    /// Lays the state over the file; throws when both together are no right configuration.
    public init(file: Configuration, lab: LabState) throws(ConfigurationError) {
        configuration = file
        layProfiles(lab)
        layDevices(lab)
        layActive(lab, file: file)
        layAssignments(lab)
        try configuration.check()
    }

    private mutating func layProfiles(_ lab: LabState) {
        let own = Set(configuration.profiles.map(\.id))
        for profile in lab.profiles {
            guard !own.contains(profile.id) else {
                hiddenProfiles.append(profile.id)
                notices.append("the file's profile \(profile.id) hides the stored one")
                continue
            }
            storedProfiles.append(profile.id)
            configuration.profiles.append(profile.stored(in: configuration.state))
        }
    }

    private mutating func layDevices(_ lab: LabState) {
        let own = configuration.devices
        let names = Set(own.map(\.name))
        let places = Dictionary(grouping: own) { $0.identity.onEachInterface }
        for device in lab.devices {
            let same = places[device.identity.onEachInterface]?.first { $0.identity.overlaps(device.identity) }
            guard !names.contains(device.name), same == nil else {
                hiddenDevices.append(device.name)
                let other = same.map { "calls the device \($0.name)" } ?? "has another device of this name"
                notices.append("the name \(device.name) that was given here is hidden: the file \(other)")
                continue
            }
            storedDevices.append(device.name)
            configuration.devices.append(DeviceOptions(name: device.name, identity: device.identity))
        }
    }

    private mutating func layActive(_ lab: LabState, file: Configuration) {
        guard let active = lab.active else { return }
        guard configuration.profile(active) != nil else {
            notices.append("the active profile \(active) is gone; the file's counts: \(file.active)")
            return
        }
        configuration.active = active
    }

    private mutating func layAssignments(_ lab: LabState) {
        for assignment in lab.assignments {
            guard configuration.profile(assignment.profile) != nil else {
                notices.append(
                    "the profile \(assignment.profile) of \(assignment.device) is gone; it has none of its own")
                continue
            }
            assignments.append(assignment)
        }
    }
}

extension Profile {
    /// A stored profile as the gateway uses it: with the path of its secret, and without places in a file.
    fileprivate func stored(in state: String?) -> Profile {
        var profile = self
        if let state, let credentials = upstream.credentials, case .file(let name) = credentials.password {
            profile.upstream.credentials = CredentialSource(
                user: credentials.user, password: .file("\(state)/secrets/\(name)"))
        }
        let plain = { (entry: RuleText) in RuleText(entry.text) }
        profile.routes.domains = routes.domains.map(plain)
        profile.routes.bypass = routes.bypass.map(plain)
        profile.routes.rules = routes.rules.map(plain)
        return profile
    }
}
