/// Writing what is said about probes and groups.

internal import Bytes

extension HealthOptions {
    /// The object at the top of the file: what is not as by default.
    var json: JSON {
        let usual = HealthOptions()
        var members = page.map(Self.members) ?? []
        members.add("via", via, unless: usual.via)
        members.add("interval", interval, unless: usual.interval)
        members.add("timeout", timeout, unless: min(usual.timeout, interval))
        members.add("slow", slow, unless: min(usual.slow, timeout))
        members.add("giveUp", giveUp.map(JSON.duration) ?? false, unless: usual.giveUp.map(JSON.duration))
        return .object(members)
    }

    private static func members(_ page: Page) -> [JSON.Member] {
        var members = [JSON.Member("url", .string(page.url.description))]
        members.add("status", json(page.statuses), unless: 200)
        if let body = page.body { members.add("body", .string(body)) }
        return members
    }

    fileprivate static func json(_ statuses: [Int]) -> JSON {
        statuses.count == 1 ? .integer(statuses[0]) : .array(statuses.map(JSON.integer))
    }
}

extension HealthKeys {
    /// The object of one profile: all that is written there, as it may be what the top of the file says otherwise.
    var json: JSON {
        var members: [JSON.Member] = []
        if let url { members.add("url", .string(url.description)) }
        if let status { members.add("status", HealthOptions.json(status)) }
        if let body { members.add("body", .string(body)) }
        if let via { members.add("via", .string(via.rawValue)) }
        if let interval { members.add("interval", .duration(interval)) }
        if let timeout { members.add("timeout", .duration(timeout)) }
        if let slow { members.add("slow", .duration(slow)) }
        switch giveUp {
        case .never: members.add("giveUp", false)
        case .after(let time): members.add("giveUp", .duration(time))
        case nil: break
        }
        return .object(members)
    }
}

extension GroupOptions {
    /// The keys of the upstream beside its type.
    var keys: [JSON.Member] {
        let usual = GroupOptions(members: [])
        var keys: [JSON.Member] = []
        keys.add("choose", choose, unless: usual.choose)
        keys.add("members", .strings(members))
        keys.add("tolerance", tolerance, unless: usual.tolerance)
        keys.add("returnAfter", returnAfter, unless: usual.returnAfter)
        keys.add("whenDown", whenDown, unless: usual.whenDown)
        return keys
    }
}
