/// What devices and keys must agree on with the rest.

internal import Devices

extension Configuration {
    /// Each name and each device stands once, and profiles are there.
    func checkDevices() throws(ConfigurationError) {
        var names: [String: Int] = [:]
        for (index, device) in devices.enumerated() {
            if let first = names.updateValue(index, forKey: device.name) {
                throw Self.conflict(
                    "devices[\(index)].name", found: "\(Shown.text(device.name)), which devices[\(first)] has",
                    expected: "a name of its own")
            }
            if let id = device.profile { try checkProfile(id, "devices[\(index)].profile") }
        }
        try checkIdentities()
    }

    private func checkIdentities() throws(ConfigurationError) {
        var places: [DeviceIdentity: [Int]] = [:]
        for (index, device) in devices.enumerated() {
            let common = device.identity.onEachInterface
            for other in places[common] ?? [] where devices[other].identity.overlaps(device.identity) {
                throw Self.conflict(
                    "devices[\(index)]",
                    found: "\(device.identity), which is \(Shown.text(devices[other].name)) already",
                    expected: "each device once")
            }
            places[common, default: []].append(index)
        }
    }

    /// Somebody must be able to sign what the listener takes.
    func checkPush() throws(ConfigurationError) {
        guard push != nil, peers.isEmpty, !keys.contains(where: { $0.scope.contains(.push) && !$0.isRevoked }) else {
            return
        }
        throw Self.conflict(
            "push", found: "a listener and no key that may push", expected: "a key with scope [\"push\"] in `keys`",
            hint: "starshipctl keygen makes one")
    }
}
