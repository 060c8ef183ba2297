/// Writing devices, keys and the ways in of those who configure the gateway.

internal import Addresses
internal import Devices

extension DeviceOptions {
    var json: JSON {
        var members = NamedDevice(name: name, identity: identity).members
        if let profile { members.add("profile", .string(profile)) }
        return .object(members)
    }
}

extension KeyOptions {
    var json: JSON {
        var members = [JSON.Member("id", .string(id)), JSON.Member("file", .string(file))]
        if let hosts { members.add("hosts", .strings(hosts.map(\.text))) }
        let words = scope.map(\.rawValue).sorted()
        members.add("scope", .strings(words), unless: .strings([LinkKey.Scope.links.rawValue]))
        if let until { members.add("until", .string(CalendarDate.text(until))) }
        members.add("revoked", isRevoked, unless: false)
        return .object(members)
    }
}

extension ControlOptions {
    var json: JSON {
        var members: [JSON.Member] = []
        members.add("socket", .string(socket), unless: .string(ControlOptions().socket))
        if let group { members.add("group", .string(group)) }
        return .object(members)
    }
}

extension PushOptions {
    var json: JSON {
        var members: [JSON.Member] = []
        members.add("listen", described: listen)
        members.add("allow", described: allow)
        return .object(members)
    }
}
