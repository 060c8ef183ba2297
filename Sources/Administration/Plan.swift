/// What the gateway is told, from the file and the lab's state: everything is read and checked here before anything of
/// it is done.

import Devices
import Gateway
import LinuxIO
import Profiles
import Routing

/// One answer to "what counts": right as a whole.
struct Plan {
    /// What the administrator's file says.
    let file: Configuration
    /// What the lab has decided.
    let lab: LabState
    let effective: EffectiveConfiguration
    let resolved: ResolvedConfiguration
    /// Profiles and what else decides, without who has which profile.
    private let decisions: RoutingSettings
    /// What single devices send elsewhere than their profiles say, by what their assignments are tied to.
    let lists: [DeviceIdentity: DeviceRules]
    /// What a file says that takes effect with the next start alone.
    let needsRestart: [String]
    /// Where the page listens; nil: there is none.
    let pagePort: UInt16?
    /// The file, for the names of others beside it.
    private let path: String

    /// Reads the file and everything that it names.
    ///
    /// While a gateway runs, its configuration is given: what takes effect with a start alone stays as that has it.
    init(
        reading options: CommandLineOptions, lab: LabState, running: Configuration? = nil
    ) throws(StartupError) {
        let path = options.configuration
        let file = try ConfigurationFile.parse(options)
        let files = try ConfigurationFile.lists(of: file, besides: path)
        let effective: EffectiveConfiguration
        let resolved: ResolvedConfiguration
        do throws(ConfigurationError) {
            (effective, resolved) = try EffectiveConfiguration.fitting(file: file, lab: lab, files: files, name: path)
        } catch {
            throw ConfigurationFile.located(error, path)
        }
        let whole = running.map { resolved.withSections(of: $0) } ?? resolved
        decisions = try Translation.routing(whole, path: path)
        pagePort = whole.configuration.page?.port
        needsRestart = running.map { resolved.configuration.sections(differingFrom: $0) } ?? []
        lists = Self.lists(of: effective.assignments, reusing: [:])
        (self.path, self.file, self.lab, self.effective, self.resolved) = (path, file, lab, effective, resolved)
    }

    /// The same file with another state of the lab; `running` is the configuration that the gateway was started with.
    ///
    /// What both have in common is taken over: a switch costs no rule.
    init(_ former: Plan, lab: LabState, running: Configuration) throws(StartupError) {
        (path, file, needsRestart, pagePort) = (former.path, former.file, former.needsRestart, former.pagePort)
        self.lab = lab
        do throws(ConfigurationError) {
            effective = try EffectiveConfiguration(file: file, lab: lab)
            resolved = try effective.configuration.resolve(name: path, reusing: former.resolved)
        } catch {
            throw ConfigurationFile.located(error, path)
        }
        lists = Self.lists(of: effective.assignments, reusing: former.lists)
        let isSwitchAlone = effective.configuration.profiles == former.effective.configuration.profiles
        decisions =
            isSwitchAlone ? former.decisions : try Translation.routing(resolved.withSections(of: running), path: path)
    }

    private static func lists(
        of assignments: [Assignment], reusing former: [DeviceIdentity: DeviceRules]
    ) -> [DeviceIdentity: DeviceRules] {
        var lists: [DeviceIdentity: DeviceRules] = [:]
        for one in assignments where !one.direct.isEmpty || !one.proxied.isEmpty {
            if let same = former[one.device], same.direct == one.direct, same.proxied == one.proxied {
                lists[one.device] = same
                continue
            }
            guard let made = try? DeviceRules(direct: one.direct, proxied: one.proxied) else {
                preconditionFailure("lists that were not read")
            }
            lists[one.device] = made
        }
        return lists
    }

    /// What decides, once it is known who is who.
    func routing(_ devices: RoutingSettings.Devices) -> RoutingSettings {
        var routing = decisions
        routing.active = position(of: effective.configuration.active) ?? 0
        routing.devices = devices
        return routing
    }

    /// The position of a profile among those that decide.
    func position(of id: String) -> Int? { effective.configuration.profiles.firstIndex { $0.id == id } }

    var active: Profile { effective.configuration.activeProfile }

    /// Whether a profile is the lab's, and not the file's.
    func isStored(_ id: String) -> Bool { effective.storedProfiles.contains(id) }
}
