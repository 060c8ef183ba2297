/// What a plan would change on this machine, said and not done.

import LinuxIO

extension NetworkSetup {
    /// The commands that `apply` would carry out, in its order: lines of a shell, and what nft(8) reads between them.
    ///
    /// Nothing is changed. The TUN device need not be there yet: it counts as a new one.
    public static func preview(
        _ plan: NetworkPlan, statePath: String = NetworkNames.statePath, tools: SystemTools = SystemTools()
    ) throws(NetworkError) -> [String] {
        try validate(plan)
        guard plan.setup != .none else { return [] }
        var machine = try Self.machine()
        if let conflict = Conflict.first(plan, machine) { throw conflict }
        let isNew = machine.link(plan.tunnel) == nil
        if isNew { machine.links.append(KernelLink(index: 0, name: plan.tunnel, isUp: false, mtu: 1500)) }
        let standing = plan.setup == .host ? try standingConnections(tools) : StandingConnections()
        let script = NetworkScript(plan, on: machine, standing: standing)
        let saved = try SavedState.read(statePath)
        let changes = NetworkChanges(from: machine, to: script, former: saved.addresses)

        // Settings of a device that is not there have no value that could be the right one already.
        var settings = Settings.pending(script.settings, saved).map(\.setting)
        if isNew { settings += script.settings.filter { $0.name.contains("/conf/\(plan.tunnel)/") } }
        var lines = isNew ? ["ip tuntap add dev \(plan.tunnel) mode tun"] : []
        lines += settings.filter(\.along.isEmpty).map(line)
        lines += changes.preparation.map(line)
        lines += firewallLines(script.firewall)
        lines += (changes.rules + changes.removal).map(line)
        return lines + settings.filter { !$0.along.isEmpty }.map(line)
    }

    private static func line(_ setting: NetworkScript.Setting) -> String {
        "sysctl -w \(setting.name)=\(setting.value)"
    }

    private static func line(_ change: NetworkChange) -> String { "ip \(change.isIPv4 ? "-4" : "-6") \(change.line)" }

    private static func firewallLines(_ text: String) -> [String] {
        guard !text.isEmpty else { return [] }
        return ["nft -f - <<'END'"] + text.split(separator: "\n").map(String.init) + ["END"]
    }
}
