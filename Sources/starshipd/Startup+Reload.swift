/// Reading the configuration again while the gateway runs.

import Gateway
import Profiles

extension Startup {
    /// What the configuration says now; it is taken whole, or not at all.
    func reload(_ options: CommandLineOptions) -> Reloaded {
        do throws(StartupError) {
            let now = try Startup(options)
            let changed = now.configuration.configuration.sectionsBesideRouting(of: configuration.configuration)
            return .settings(now.settings.routing, needsRestart: changed)
        } catch {
            return .refused("\(error)")
        }
    }
}

extension Configuration {
    /// The sections that differ from another configuration's and take effect with a start alone.
    fileprivate func sectionsBesideRouting(of other: Configuration) -> [String] {
        var names: [String] = []
        if tunnel != other.tunnel { names.append("tun") }
        if network != other.network { names.append("network") }
        if socks != other.socks { names.append("socks") }
        if http != other.http { names.append("http") }
        if dns != other.dns { names.append("dns") }
        if state != other.state { names.append("state") }
        if limits != other.limits { names.append("limits") }
        if log != other.log { names.append("log") }
        return names
    }
}
