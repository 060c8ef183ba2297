/// What one device wanted: its last names with what became of them, and all names of two minutes to make a list from.

import Addresses
import Bytes
import Control
import Devices
import Gateway
import LinuxIO
import Profiles
import Routing

/// A time in which a device's names are collected.
struct LearnedTime {
    var started: Instant
    /// The addresses that the device had then.
    var addresses: Set<IPAddress>

    /// How long it lasts.
    static let length = Interval.seconds(120)
    /// How many of them are remembered; the oldest one makes room.
    static let limit = 64
}

extension Administrator {
    mutating func requests(of text: String, _ gateway: inout Gateway) throws(ControlError) -> ControlAnswer {
        let device = devices.device(try find(text))
        let now = Clock.now()
        let requests = gateway.requests(of: addresses(of: device))
        return ControlAnswer(
            .members([
                "device": .string(device.label), "requests": .array(requests.map { json($0, at: now) }),
            ]))
    }

    /// Where a device's flows come from; one that is known by its address alone need not have been seen.
    func addresses(of device: Device) -> Set<IPAddress> {
        var addresses = Set(device.addresses)
        if case .address(let address) = device.identity { addresses.insert(address) }
        return addresses
    }

    private func json(_ request: DeviceRequest, at now: Instant) -> JSON {
        .members([
            "name": .string(request.name), "port": request.port.map { .integer(Int($0)) },
            "fate": .string(request.fate.rawValue), "profile": request.profile.map(JSON.string),
            "rule": request.rule.map(JSON.string), "outcome": request.outcome.map(JSON.string),
            "failed": .boolean(request.hasFailed), "count": .integer(request.count), "open": .integer(request.open),
            "up": .integer(Int(clamping: request.up)), "down": .integer(Int(clamping: request.down)),
            "age": .integer(Int(max(0, (now - request.at).milliseconds) / 1000)),
        ])
    }

    /// Begins to collect a device's names; it ends by itself, and one that is under way begins anew.
    mutating func learn(_ text: String, _ gateway: inout Gateway) throws(ControlError) -> ControlAnswer {
        let device = devices.device(try find(text))
        let time = LearnedTime(started: Clock.now(), addresses: addresses(of: device))
        if lessons.count >= LearnedTime.limit, lessons[device.identity] == nil,
            let oldest = lessons.min(by: { $0.value.started < $1.value.started })?.key
        {
            lessons[oldest] = nil
        }
        lessons[device.identity] = time
        gateway.learn(time.addresses, until: time.started + LearnedTime.length)
        return try learned(text, &gateway)
    }

    mutating func learned(_ text: String, _ gateway: inout Gateway) throws(ControlError) -> ControlAnswer {
        let identity = try find(text)
        let label = devices.device(identity).label
        guard let lesson = lesson(about: identity, gateway) else {
            throw ControlError(
                .conflict, "\(label) is not learned about; expected a POST to this path first, and two minutes of use")
        }
        return ControlAnswer(lesson.json(label))
    }

    /// What was collected about a device; nil where nobody has asked for it.
    func lesson(about identity: DeviceIdentity, _ gateway: borrowing Gateway) -> DeviceLesson? {
        guard let time = lessons[identity] else { return nil }
        return DeviceLesson(
            left: max(.zero, time.started + LearnedTime.length - Clock.now()), names: gateway.learned(time.addresses))
    }
}

/// What was learned about a device.
struct DeviceLesson {
    /// How long names are still collected; zero when that is over.
    var left: Interval
    var names: LearnedNames
    var groups: [NameGroup]

    init(left: Interval, names: LearnedNames) {
        self.left = left
        self.names = names
        groups = NameGroup.groups(of: names.names)
    }

    /// What a list of all of them would have.
    var domains: [String] { groups.map(\.suffix) }

    /// As a profile has it: `domains: ["example.com", "example.org"]`.
    var pasted: String { "domains: [\(domains.map { "\"\($0)\"" }.joined(separator: ", "))]" }

    func json(_ label: String) -> JSON {
        .members([
            "device": .string(label), "learning": .boolean(left > .zero),
            "secondsLeft": .integer(Int((left.milliseconds + 999) / 1000)), "names": .integer(names.names.count),
            "cut": .boolean(names.isCut), "groups": .array(groups.map(json)), "domains": .strings(domains),
            "text": .string(pasted),
        ])
    }

    private func json(_ group: NameGroup) -> JSON {
        let shown = group.names.map { name in
            JSON.members([
                "name": .string(name), "asked": .boolean(names.asked.contains(name)),
                "opened": .boolean(names.opened.contains(name)),
            ])
        }
        return .members(["suffix": .string(group.suffix), "names": .array(shown)])
    }
}
