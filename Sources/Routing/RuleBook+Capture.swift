/// What has to be routed into the TUN device so that the rules hold.
///
/// Names that aren't direct get fake addresses, and those are always routed. More is needed where a rule looks at an
/// address: its network. And everything, where a rule that can give anything but DIRECT looks at what neither a name
/// nor an address says, or where the mode proxies what no rule matches.

import Addresses

extension RuleBook {
    /// For a device of which nothing is known: a rule about any device's address counts.
    var capture: Capture { capture(until: index.always, device: lowestDeviceRule) }

    /// For one device: of the rules about devices' addresses those count that match it.
    func capture(for device: IPAddress) -> Capture {
        var mine = index.sources.first(device)
        for reference in references where reference.rule < mine {
            if reference.lists.contains(where: { $0.entries.index.sources.first(device) != noRule }) {
                mine = reference.rule
            }
        }
        // What stands behind a rule that matches all that the device does is never asked.
        let last = min(mine, index.always)
        return capture(until: last, device: isDirect(mine) ? noRule : mine)
    }

    private func capture(until last: UInt32, device: UInt32) -> Capture {
        var forcing = min(device, flowRules.first(but: RuleBook.directNumber))
        if last != noRule, !isDirect(last) { forcing = min(forcing, last) }
        if forcing <= last, forcing != noRule { return .all(because: table.origin(of: forcing).description) }
        if mode == .global { return .all(because: "domains is empty, so the mode is global") }
        return .names(prefixes: Self.merged(prefixes.filter { $0.rule < last }.map(\.prefix)))
    }

    private static let directNumber = 1

    private var lowestDeviceRule: UInt32 { deviceRules.first(but: RuleBook.directNumber) }

    private func isDirect(_ rule: UInt32) -> Bool { rule != noRule && table.verdict(of: rule) == .direct }

    /// In the order of addresses, without those that lie in another one.
    static func merged(_ prefixes: [IPPrefix]) -> [IPPrefix] {
        var kept: [IPPrefix] = []
        let sorted = prefixes.sorted { left, right in
            let (a, b) = (left.base, right.base)
            if a.isIPv4 != b.isIPv4 { return a.isIPv4 }
            if a.high != b.high { return a.high < b.high }
            return a.low != b.low ? a.low < b.low : left.length < right.length
        }
        for prefix in sorted {
            if let last = kept.last, last.length <= prefix.length, last.contains(prefix.base) { continue }
            kept.append(prefix)
        }
        return kept
    }
}
