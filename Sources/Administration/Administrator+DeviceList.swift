/// Devices as people look at them, and the names that people give.

import Addresses
import Bytes
import Control
import Devices
import Gateway
import LinuxIO
import Profiles

extension Administrator {
    mutating func listDevices(_ gateway: inout Gateway) -> ControlAnswer {
        let looks = look(gateway)
        let status = gateway.status()
        let list = devices.devices.map { json($0, status, looks) }
        return ControlAnswer(.members(["devices": .array(list)]))
    }

    mutating func device(_ text: String, _ gateway: inout Gateway) throws(ControlError) -> ControlAnswer {
        let looks = look(gateway)
        let identity = try find(text)
        let status = gateway.status()
        return ControlAnswer(json(devices.device(identity), status, looks))
    }

    /// Takes what the DHCP server and the workers know, and says by SYNs which addresses have several machines behind
    /// them.
    mutating func look(_ gateway: borrowing Gateway) -> SharedAddresses {
        readLeases()
        let activities = gateway.activities()
        hear(activities)
        var looks = SharedAddresses()
        let syns = activities.values.flatMap(\.syns).sorted { $0.at < $1.at }
        for syn in syns {
            looks.observe(
                ObservedSYN(
                    client: syn.client, destination: syn.target, timeToLive: syn.hopLimit, timestamp: syn.timestamp,
                    at: syn.at))
        }
        return looks
    }

    private func json(_ device: Device, _ status: GatewayStatus, _ looks: SharedAddresses) -> JSON {
        let choice = profileRules.choice(for: device)
        var profile: String?
        if case .profile(let id) = choice.route { profile = id }
        return .members([
            "id": .string(device.label), "name": device.name.map(JSON.string),
            "mac": device.mac.map { .string("\($0)") },
            "interface": device.interface.map(JSON.string), "addresses": .strings(device.addresses.map(\.description)),
            "proposal": device.proposal.map { .string("\($0)") }, "known": .boolean(device.isKnown),
            "profile": profile.map(JSON.string), "profileBy": .string(choice.reason.rawValue),
            "ownProxy": profile.flatMap(ownProxyWords).map(JSON.string),
            "until": (device.assignment?.until).map { .integer(Int($0)) },
            "direct": .strings(device.assignment?.direct ?? []), "proxied": .strings(device.assignment?.proxied ?? []),
            "seen": device.seen.map { .integer(Int($0)) },
            "marks": .strings(Self.marks(of: device, status.insists, looks)),
            "flows": .integer(device.addresses.reduce(0) { $0 + (status.devices[$1] ?? 0) }),
        ])
    }

    /// What is odd about a device, by what it says of itself, how its packets look and whom it asks for names.
    static func marks(of device: Device, _ insists: [String], _ looks: SharedAddresses) -> [String] {
        var marks = device.isRouter ? ["says that it is a router"] : []
        for address in device.addresses {
            marks += looks.marks(of: address, at: Clock.now()).map(\.description)
            marks += insists.filter { $0.hasPrefix("\(address) ") }
        }
        return marks
    }

    /// Gives a device a name, or takes it away.
    mutating func name(
        _ text: String, _ name: String?, _ by: String, _ gateway: inout Gateway, how: String = "name"
    ) throws(ControlError) -> ControlAnswer {
        let identity = try find(text)
        var state = plan.lab
        if let owner = plan.file.devices.first(where: { $0.identity == identity }) {
            throw ControlError(
                .conflict, "the configuration file calls this device \(owner.name): it is renamed there", path: "name")
        }
        let before = state.devices.first { $0.identity == identity }
        state.devices.removeAll { $0.identity == identity }
        if let name {
            let taken = plan.effective.configuration.devices.first { $0.name == name && $0.identity != identity }
            if let taken {
                throw ControlError(
                    .conflict, "name: \(name) is another device's (\(taken.identity)); expected a name of its own",
                    path: "name")
            }
            guard NamedDevice.isName(name) else {
                throw ControlError(
                    .badRequest, "name: found no name; expected \(NamedDevice.nameWords)", path: "name",
                    expected: NamedDevice.nameWords)
            }
            state.devices.append(NamedDevice(name: name, identity: identity))
        } else if before == nil {
            throw ControlError(.conflict, "name: the device has none that could be forgotten", path: "name")
        }
        let words =
            name.map { "\(before?.name ?? "\(identity)") is called \($0)" } ?? "\(before?.name ?? "") is forgotten"
        let note = LabStore.Note(by: by, how: how, summary: words)
        _ = try change(to: state, note, drain: .seconds(2), &gateway)
        let looks = look(gateway)
        let status = gateway.status()
        return ControlAnswer(json(devices.device(identity), status, looks))
    }
}
