/// What would be, without a start: whether everything can be read, and what it would change.

import Gateway
public import Profiles

extension Administrator {
    /// Reads everything that a start would read, and opens nothing but the lab's state, where the options name one.
    ///
    /// That one is read as at a start: it had better be a copy of the directory that a gateway uses.
    public static func check(_ options: CommandLineOptions) throws(StartupError) -> ResolvedConfiguration {
        let resolved = try resolved(options)
        _ = try Translation.settings(resolved, path: options.configuration)
        _ = try KeyRing(resolved.configuration, besides: options.configuration, startedAt: 0)
        return resolved
    }

    /// What a start would change in the machine's network, as commands; nothing is changed.
    public static func networkPreview(_ options: CommandLineOptions) throws(StartupError) -> [String] {
        let settings = try Translation.settings(try resolved(options), path: options.configuration)
        do throws(GatewayError) {
            return try Gateway.networkPreview(settings)
        } catch {
            throw .gateway(error)
        }
    }

    /// What the file and the lab's state say together.
    private static func resolved(_ options: CommandLineOptions) throws(StartupError) -> ResolvedConfiguration {
        guard let directory = options.state else { return try ConfigurationFile.read(options) }
        let store = try LabStore.open(in: directory)
        if let trouble = store.trouble { throw .state(trouble) }
        return try Plan(reading: options, lab: store.state).resolved
    }
}
