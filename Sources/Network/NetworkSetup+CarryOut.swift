/// One change from what is to what should be, taken back whole when a step of it fails.

import Addresses
import LinuxIO

extension NetworkSetup {
    /// How a step is taken back.
    enum Inverse {
        case lines([String], isIPv4: Bool)
        case firewall(String)
        case setting(String, String)
        case state(SavedState)
    }

    /// Carries the difference out and returns its lines.
    mutating func carryOut(
        _ script: NetworkScript, on machine: KernelNetwork, lent wanted: [NetworkPlan.Lent]
    ) throws(NetworkError) -> [String] {
        try ChangeLock.hold(Self.directory(of: statePath)) { () throws(NetworkError) in
            try carryOutAlone(script, on: machine, lent: wanted)
        }
    }

    /// Where a state file is.
    static func directory(of statePath: String) -> String {
        statePath.lastIndex(of: "/").map { String(statePath[..<$0]) } ?? "."
    }

    private mutating func carryOutAlone(
        _ script: NetworkScript, on machine: KernelNetwork, lent wanted: [NetworkPlan.Lent]
    ) throws(NetworkError) -> [String] {
        let saved = try SavedState.read(statePath)
        let changes = NetworkChanges(from: machine, to: script, former: saved.addresses)
        let pending = Settings.pending(script.settings, saved)
        let settings = pending.filter { $0.setting.isOurs(script.tunnel?.name) }
        protected = pending.filter { !$0.setting.isOurs(script.tunnel?.name) }.map {
            .setting($0.setting.name, is: $0.current, wanted: $0.setting.value)
        }
        var inverses: [Inverse] = []
        var done: [String] = []
        do throws(NetworkError) {
            let state = Self.saving(saved, settings, script, machine)
            if state != saved {
                try state.write(statePath)
                inverses.append(.state(saved))
            }
            try set(settings.filter(\.setting.along.isEmpty), &inverses, &done)
            try run(changes.preparation, &inverses, &done)
            try load(script.firewall, wanted, &inverses, &done)
            try run(changes.rules, &inverses, &done)
            try run(changes.removal, &inverses, &done)
            try set(settings.filter { !$0.setting.along.isEmpty }, &inverses, &done)
            try forget(Settings.obsolete(script.settings, state), of: state, &inverses, &done)
        } catch {
            takeBack(inverses)
            throw error
        }
        return done
    }

    /// What has to be remembered before anything is changed.
    static func saving(
        _ saved: SavedState, _ settings: [Settings.Pending], _ script: NetworkScript, _ machine: KernelNetwork
    ) -> SavedState {
        var state = saved
        for pending in settings {
            state.note(pending.setting.name, original: pending.current, ours: pending.setting.value)
            for (name, ours) in pending.setting.along.sorted(by: { $0.key < $1.key }) {
                if let current = Sysctl.value(of: name) { state.note(name, original: current, ours: ours) }
            }
        }
        if let tunnel = script.tunnel, let link = machine.link(tunnel.name) { state.note(link) }
        for address in script.ownAddresses
        where !machine.addresses.contains(where: { $0.interface == address.interface && $0.address == address.address })
        {
            state.note(address)
        }
        return state
    }

    func set(
        _ settings: [Settings.Pending], _ inverses: inout [Inverse], _ done: inout [String]
    ) throws(NetworkError) {
        for pending in settings {
            // The kernel changes the others along with it, in both directions.
            for name in pending.setting.along.keys.sorted(by: >) {
                if let current = Sysctl.value(of: name) { inverses.append(.setting(name, current)) }
            }
            inverses.append(.setting(pending.setting.name, pending.current))
            do throws(SystemCallError) {
                try tools.set(pending.setting.name, to: pending.setting.value)
            } catch {
                throw .system(error)
            }
            done.append("sysctl \(pending.setting.name)=\(pending.setting.value)")
        }
    }

    /// Puts back what an earlier plan wanted and this one does not.
    func forget(
        _ obsolete: [SavedState.Setting], of state: SavedState, _ inverses: inout [Inverse], _ done: inout [String]
    ) throws(NetworkError) {
        guard !obsolete.isEmpty else { return }
        for setting in Settings.ours(obsolete) {
            inverses.append(.setting(setting.name, setting.ours))
            do throws(SystemCallError) {
                try tools.set(setting.name, to: setting.original)
            } catch {
                throw .system(error)
            }
            done.append("sysctl \(setting.name)=\(setting.original)")
        }
        try state.without(obsolete).write(statePath)
        inverses.append(.state(state))
    }

    private func run(
        _ changes: [NetworkChange], _ inverses: inout [Inverse], _ done: inout [String]
    ) throws(NetworkError) {
        for isIPv4 in [true, false] {
            let changes = changes.filter { $0.isIPv4 == isIPv4 }
            let result = tools.batch(changes.map(\.line), isIPv4: isIPv4)
            let reached = changes.prefix(result.done)
            inverses.append(.lines(reached.reversed().map(\.inverse), isIPv4: isIPv4))
            if let error = result.error { throw error }
            done += reached.map { "ip \(isIPv4 ? "-4" : "-6") \($0.line)" }
        }
    }

    /// Gives the firewall its text, or only what is lent now when the rest stands.
    private mutating func load(
        _ text: String, _ wanted: [NetworkPlan.Lent], _ inverses: inout [Inverse], _ done: inout [String]
    ) throws(NetworkError) {
        let now = Clock.now()
        let lending = plan?.setup == .host ? "" : FirewallText.lending(wanted, now: now)
        if text != firewall {
            let table = "table inet \(NetworkNames.firewallTable)"
            // What a crash has left comes back as it was listed.
            let former = firewall.isEmpty ? try tools.listing(.ownTable) ?? "" : firewall
            try tools.firewall(text + lending)
            inverses.append(.firewall(firewall.isEmpty ? FirewallText.removal + former : firewall))
            firewall = text
            firewallListing = try tools.listing(.ownTable)
            done.append("nft \(table)")
        } else if wanted != lent {
            try tools.firewall(FirewallText.forgetting + lending)
            done.append("nft lent addresses")
        }
        lent = wanted
    }

    /// Takes steps back, the last one first; what cannot be taken back is left to the next cleanup.
    mutating func takeBack(_ inverses: [Inverse]) {
        for inverse in inverses.reversed() {
            switch inverse {
            case .lines(let lines, let isIPv4): tools.force(lines, isIPv4: isIPv4)
            case .firewall(let text):
                try? tools.firewall(text)
                firewall = ""
            case .setting(let name, let value): try? tools.set(name, to: value)
            case .state(let state): try? state.write(statePath)
            }
        }
    }
}

extension NetworkScript.Setting {
    /// Whether this process makes it: those of its own device it can make without their files, and nobody has to know
    /// what they were.
    fileprivate func isOurs(_ tunnel: String?) -> Bool {
        Sysctl.isWritable(name) || tunnel.map { name.contains("/conf/\($0)/") } == true && Sysctl.isOfInterface(name)
    }
}

/// Which settings of the kernel are not as they should be.
enum Settings {
    struct Pending {
        let setting: NetworkScript.Setting
        let current: String
    }

    static func pending(_ settings: [NetworkScript.Setting], _ saved: SavedState) -> [Pending] {
        settings.compactMap { setting in
            guard let current = Sysctl.value(of: setting.name), current != setting.value else { return nil }
            let original = saved.original(of: setting.name) ?? current
            if let from = setting.onlyFrom, original != from { return nil }
            if let other = setting.unless {
                guard (saved.original(of: other) ?? Sysctl.value(of: other)) == "0" else { return nil }
            }
            return Pending(setting: setting, current: current)
        }
    }

    /// Those that nobody wants any more; of an interface that is gone they wait for its return.
    static func obsolete(_ wanted: [NetworkScript.Setting], _ saved: SavedState) -> [SavedState.Setting] {
        let names = Set(wanted.flatMap { [$0.name] + $0.along.keys })
        return saved.settings.filter { !names.contains($0.name) && Sysctl.value(of: $0.name) != nil }
    }

    /// Those that still have our value, and only as long as they are not what they were.
    ///
    /// The order is that of the changes: what the kernel changes along with another one stands behind it.
    static func ours(_ saved: [SavedState.Setting]) -> some Sequence<SavedState.Setting> {
        saved.filter { Sysctl.value(of: $0.name) == $0.ours }.lazy.filter {
            Sysctl.value(of: $0.name) != $0.original
        }
    }
}
