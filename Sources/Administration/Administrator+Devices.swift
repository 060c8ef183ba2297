/// Devices: who is there, what they are called, and which profile each of them has.

import Addresses
import Bytes
import Control
import Devices
import Gateway
import LinuxIO
import Profiles

extension Administrator {
    /// Has the table know names and assignments as they are now.
    mutating func nameDevices() {
        devices.setNamed(plan.effective.configuration.devices.map { NamedDevice(name: $0.name, identity: $0.identity) })
        devices.setAssignments(plan.effective.assignments)
    }

    /// What decides about devices, apart from them.
    var profileRules: ProfileRules {
        let configuration = plan.effective.configuration
        var interfaces: [String: String] = [:]
        for lan in running.network.lan {
            if let profile = lan.profile, configuration.profile(profile) != nil { interfaces[lan.interface] = profile }
        }
        let fixed = configuration.devices.compactMap { device in device.profile.map { (device.identity, $0) } }
        var rules = ProfileRules(
            standard: configuration.active, interfaces: interfaces,
            fixed: Dictionary(fixed) { first, _ in first })
        switch configuration.newDevices {
        case .default: break
        case .direct: rules.newDevices = .direct
        case .block: rules.newDevices = .block
        }
        rules.awaitsPeers = peers.isWaiting
        return rules
    }

    /// What decides about single devices, by the addresses that they have now.
    func deviceSettings() -> RoutingSettings.Devices {
        var settings = RoutingSettings.Devices()
        switch plan.effective.configuration.newDevices {
        case .default: settings.newcomers = .served
        case .direct: settings.newcomers = .direct
        case .block: settings.newcomers = .blocked
        }
        if peers.isWaiting { settings.newcomers = .waiting }
        for (address, choice) in devices.choices(by: profileRules) {
            if choice.isKnown { settings.familiar.insert(address) }
            let standing = standing(choice)
            settings.profiles[address] = standing.profile
            settings.lists[address] = standing.lists
        }
        for case (.mac(let mac, let interface), let choice) in devices.stationChoices(by: profileRules) {
            settings.stations[.init(mac: mac, interface: interface)] = standing(choice)
        }
        return settings
    }

    private func standing(_ choice: DeviceTable.AddressChoice) -> RoutingSettings.Devices.Standing {
        guard choice.choice.isOwn, case .profile(let id) = choice.choice.route else { return .init() }
        return .init(profile: plan.position(of: id), lists: choice.assigned.flatMap { plan.lists[$0] })
    }

    // MARK: Following the link

    /// Takes what workers have seen: who sends is there, whatever the neighbour table says.
    mutating func hear(_ activities: [IPAddress: DeviceActivity]) {
        let (time, now) = (Clock.now(), Clock.unixTime().seconds)
        for (address, activity) in activities {
            guard let last = activity.lastOpened else { continue }
            devices.heard(from: address, at: now - (time - last).nanoseconds / 1_000_000_000)
        }
    }

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
            case .found(let neighbour): note(neighbour, now)
            case .gone: break
            case .lost:
                for neighbour in (try? KernelNeighbour.readAll()) ?? [] { note(neighbour, now) }
            }
        }
        if devices.generation != appliedGeneration { applyDevices(&gateway) }
    }

    /// Asks the kernel whose an address is that no MAC has here, before anything is decided about it.
    mutating func meet(_ address: IPAddress, _ gateway: inout Gateway) {
        guard let neighbour = askNeighbour(address) else { return }
        note(neighbour, Clock.unixTime().seconds)
        if devices.generation != appliedGeneration { applyDevices(&gateway) }
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

    /// Reads what the DHCP server has written, at most once a minute unless somebody wants to see it.
    mutating func readLeases() {
        leasesDueAt = Clock.now() + .seconds(60)
        guard let path = plan.effective.configuration.leases,
            let bytes = try? SmallFile.read(
                ConfigurationFile.path(of: path, besides: options.configuration), limit: 4 << 20)
        else { return }
        devices.setLeases(LeaseFile.parse(bytes.span).leases, at: Clock.unixTime().seconds)
    }

    /// Has the gateway know addresses that have come, gone or moved.
    mutating func applyDevices(_ gateway: inout Gateway) {
        appliedGeneration = devices.generation
        let settings = deviceSettings()
        guard settings != gateway.routing.devices else { return }
        do throws(GatewayError) {
            _ = try gateway.switchTo(routing(), drain: .seconds(2))
        } catch {
            gateway.say(.error, "devices") { $0.add("cause", "\(error)") }
        }
    }

    // MARK: Leases

    /// Ends assignments whose time is over, and warns of those whose end is near.
    mutating func endLeases(_ now: Int64, _ gateway: inout Gateway) {
        let assignments = Assignments(plan.effective.assignments)
        for assignment in assignments.ending(since: lookedAt, at: now) {
            let label = devices.device(assignment.device).label
            gateway.say(.notice, "lease-ends") { line in
                line.add("device", label)
                line.add("profile", assignment.profile)
                line.add("seconds", Int((assignment.until ?? now) - now))
            }
        }
        lookedAt = now
        let expired = assignments.expired(at: now) + endedOwnProxies(at: now)
        if !expired.isEmpty { end(expired, &gateway) }
    }

    private mutating func end(_ ended: [Assignment], _ gateway: inout Gateway) {
        var state = plan.lab
        var identities = Set(ended.map(\.device))
        state.assignments.removeAll { identities.contains($0.device) }
        let words = ended.filter { identities.remove($0.device) != nil }.map { one in
            "\(devices.device(one.device).label) had \(one.profile)"
                + (ownProxyWords(one.profile).map { " (\($0))" } ?? "")
        }.joined(separator: ", ")
        let note = LabStore.Note(by: "starshipd", how: "lease over", summary: words)
        do throws(ControlError) {
            _ = try change(to: state, note, drain: .seconds(2), &gateway)
        } catch {
            gateway.say(.error, "lease") { $0.add("cause", "\(error)") }
        }
    }
}

extension ProfileChoice {
    /// Whether the device has the profile for itself.
    var isOwn: Bool { reason == .assignment || reason == .file }
}
