/// Removing everything of ours, whoever made it and however long ago.

import Addresses
import LinuxIO

extension NetworkSetup {
    /// Removes our rules, routes and firewall table by their names, and puts back what the file says.
    ///
    /// Each step is tried, whatever became of the others; the first failure is thrown at the end.
    public static func cleanup(
        statePath: String = NetworkNames.statePath, tools: SystemTools = SystemTools()
    ) throws(NetworkError) {
        try ChangeLock.hold(directory(of: statePath)) { () throws(NetworkError) in
            try cleanupAlone(statePath, tools)
        }
    }

    private static func cleanupAlone(_ statePath: String, _ tools: SystemTools) throws(NetworkError) {
        var failures: [NetworkError] = []
        let machine = try Self.machine()
        var saved = SavedState()
        do throws(NetworkError) { saved = try SavedState.read(statePath) } catch { failures.append(error) }

        let changes = NetworkChanges(from: machine, to: NetworkScript(), former: saved.addresses)
        for isIPv4 in [true, false] {
            let lines = changes.rules.filter { $0.isIPv4 == isIPv4 }.map(\.line)
            if let failure = tools.force(lines, isIPv4: isIPv4) { failures.append(failure) }
        }
        do throws(NetworkError) { try removeFirewall(tools) } catch { failures.append(error) }
        // IPv6 first: a device that is set down loses those addresses by itself.
        for isIPv4 in [false, true] {
            var lines = tablesInUse(machine, isIPv4: isIPv4).map { "route flush table \($0)" }
            lines += machine.routes.filter { $0.isOursInMain && $0.destination.base.isIPv4 == isIPv4 }
                .map { $0.line("del") }
            lines += saved.addresses.filter { address in
                address.address.isIPv4 == isIPv4
                    && machine.addresses.contains {
                        $0.address == address.address && $0.interface == address.interface
                    }
            }.map { $0.line("del") }
            if isIPv4 { lines += saved.links.filter { machine.link($0.name) != nil }.map(line) }
            if let failure = tools.force(lines, isIPv4: isIPv4) { failures.append(failure) }
        }
        failures += restore(saved, tools)
        do throws(NetworkError) { try SavedState().write(statePath) } catch { failures.append(error) }
        if let failure = failures.first { throw failure }
    }

    private static func line(_ link: SavedState.Link) -> String {
        "link set dev \(link.name) mtu \(link.mtu) \(link.isUp ? "up" : "down")"
    }

    private static func tablesInUse(_ machine: KernelNetwork, isIPv4: Bool) -> [UInt32] {
        NetworkNames.tables.filter { table in
            machine.routes.contains { $0.table == table && $0.destination.base.isIPv4 == isIPv4 }
        }
    }

    /// Where nft(8) is not installed, there is no table either.
    private static func removeFirewall(_ tools: SystemTools) throws(NetworkError) {
        do throws(NetworkError) {
            guard try tools.listing(.ownTable) != nil else { return }
            try tools.firewall(FirewallText.removal)
        } catch {
            if case .system(let failure) = error, failure.errno == .noSuchFile { return }
            throw error
        }
    }

    /// Puts settings back that still have our value; others' wishes stay.
    static func restore(_ saved: SavedState, _ tools: SystemTools) -> [NetworkError] {
        var failures: [NetworkError] = []
        for setting in Settings.ours(saved.settings) {
            do throws(SystemCallError) {
                try tools.set(setting.name, to: setting.original)
            } catch {
                failures.append(.system(error))
            }
        }
        return failures
    }
}
