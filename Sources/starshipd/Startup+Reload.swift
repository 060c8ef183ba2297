/// Reading the configuration again while the gateway runs.

import Gateway
import Profiles

extension Startup {
    /// What the configuration says now; it is taken whole, or not at all.
    func reload(_ options: CommandLineOptions) -> Reloaded {
        do throws(StartupError) {
            let now = try Startup(options, beside: self)
            let changed = now.configuration.configuration.sections(differingFrom: configuration.configuration)
            return .settings(now.settings.routing, needsRestart: changed)
        } catch {
            return .refused("\(error)")
        }
    }
}
