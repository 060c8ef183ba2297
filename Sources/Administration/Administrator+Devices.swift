/// Devices: who is there, what they are called, and which profile each of them has.

import Addresses
import Bytes
import Control
import Devices
import Gateway
import LinuxIO
import Profiles

/// Which profile a device has, and why.
struct ProfileChoice: Equatable {
    enum Reason: String {
        case assignment
        /// The administrator's file gives it to the device.
        case file
        case interface
        case `default`
        /// Nobody has named the device, and `newDevices` says what becomes of such.
        case new
    }

    var profile: String
    var reason: Reason

    /// Whether the device has it for itself.
    var isOwn: Bool { reason == .assignment || reason == .file }
}

extension Administrator {
    /// How long before its end a lease is warned of, in seconds.
    static let warningTime: Int64 = 300

    /// Has the table know names and assignments as they are now.
    mutating func nameDevices() {
        devices.setNamed(plan.effective.configuration.devices.map { NamedDevice(name: $0.name, identity: $0.identity) })
        devices.setAssignments(plan.effective.assignments)
    }

    /// A device's profile: its assignment, else what the file gives it, else that of its interface, else the gateway's.
    func choice(for identity: DeviceIdentity) -> ProfileChoice {
        if let assignment = plan.effective.assignments.first(where: { $0.device == identity }) {
            return ProfileChoice(profile: assignment.profile, reason: .assignment)
        }
        let named = plan.effective.configuration.devices.first { $0.identity == identity }
        if let profile = named?.profile { return ProfileChoice(profile: profile, reason: .file) }
        return ProfileChoice(profile: plan.active.id, reason: .default)
    }

    /// What decides about single devices, by the addresses that they have now.
    func deviceSettings() -> RoutingSettings.Devices {
        var settings = RoutingSettings.Devices()
        switch plan.effective.configuration.newDevices {
        case .default: settings.newcomers = .served
        case .direct: settings.newcomers = .direct
        case .block: settings.newcomers = .blocked
        }
        for device in devices.devices where device.isKnown {
            let choice = choice(for: device.identity)
            for address in device.addresses {
                settings.familiar.insert(address)
                if choice.isOwn { settings.profiles[address] = plan.position(of: choice.profile) }
            }
        }
        return settings
    }

    // MARK: Following the link

    /// Takes whoever is there already.
    mutating func meetNeighbours(_ gateway: inout Gateway) {
        let now = Clock.unixTime().seconds
        for neighbour in (try? KernelNeighbour.readAll()) ?? [] { note(neighbour, now) }
        readLeases()
        applyDevices(&gateway)
    }

    /// Takes the kernel's news about who is on the link.
    mutating func follow(_ monitor: inout NeighbourMonitor?, _ gateway: inout Gateway) {
        guard monitor != nil else { return }
        let now = Clock.unixTime().seconds
        for news in monitor.value.news() {
            switch news {
            case .known(let neighbour): note(neighbour, now)
            case .gone: break
            case .missed:
                for neighbour in (try? KernelNeighbour.readAll()) ?? [] { note(neighbour, now) }
            }
        }
        applyDevices(&gateway)
    }

    private mutating func note(_ neighbour: KernelNeighbour, _ now: Int64) {
        // A gateway's own uplink has neighbours too, and none of them is a device of the lab.
        let lan = running.network.lan.map(\.interface)
        guard lan.isEmpty || lan.contains(neighbour.interface) else { return }
        devices.note(
            Sighting(
                address: neighbour.address, mac: neighbour.hardware, interface: neighbour.interface,
                seen: now - neighbour.sinceConfirmed.nanoseconds / 1_000_000_000, isRouter: neighbour.isRouter))
    }

    private mutating func readLeases() {
        guard let path = plan.effective.configuration.leases,
            let bytes = try? SmallFile.read(ConfigurationFile.path(of: path, besides: options.configuration), limit: 4 << 20)
        else { return }
        devices.setLeases(LeaseFile.parse(bytes.span).leases)
    }

    /// Has the gateway know addresses that have come, gone or moved.
    mutating func applyDevices(_ gateway: inout Gateway) {
        let settings = deviceSettings()
        guard settings != gateway.routing.devices else { return }
        do throws(GatewayError) {
            _ = try gateway.switchTo(plan.routing(settings), drain: .seconds(2))
        } catch {
            gateway.say(.error, "devices") { $0.add("cause", "\(error)") }
        }
    }

    // MARK: Leases

    /// Ends assignments whose time is over, and warns of those whose end is near.
    mutating func endLeases(_ now: Int64, _ gateway: inout Gateway) {
        let ended = plan.effective.assignments.filter { $0.until.map { $0 <= now } ?? false }
        if !ended.isEmpty { end(ended, &gateway) }
        for assignment in plan.effective.assignments {
            guard let until = assignment.until, until - now <= Self.warningTime, warned.insert(assignment.device).inserted
            else { continue }
            let label = devices.label(of: assignment.device)
            gateway.say(.notice, "lease-ends") { line in
                line.add("device", label)
                line.add("profile", assignment.profile)
                line.add("seconds", Int(until - now))
            }
        }
    }

    private mutating func end(_ ended: [Assignment], _ gateway: inout Gateway) {
        var state = plan.lab
        let identities = Set(ended.map(\.device))
        state.assignments.removeAll { identities.contains($0.device) }
        let words = ended.map { "\(devices.label(of: $0.device)) had \($0.profile)" }.joined(separator: ", ")
        let note = LabStore.Note(by: "starshipd", how: "lease over", summary: words)
        do throws(ControlError) {
            _ = try change(to: state, note, drain: .seconds(2), &gateway)
        } catch {
            gateway.say(.error, "lease") { $0.add("cause", "\(error)") }
        }
        for identity in identities { warned.remove(identity) }
    }
}
