/// What a device asked for, what it sends another way, and what can be learned about an app on it.

import Addresses
import Bytes
import Control
import Devices
import Gateway
import LinuxIO
import Page
import Profiles
import Routing

extension Administrator {
    // MARK: Requests

    func requests(
        _ caller: PageCaller, notice: PageNotice? = nil, refusal: String? = nil, _ gateway: borrowing Gateway
    ) -> PageAnswer {
        let lists = lists(of: caller.device)
        let isProxied = profile(of: caller.device).map { $0.upstream.type != .direct }
        let requests = gateway.requests(of: addresses(of: caller.device).union([caller.address]))
        var view = RequestsView(
            device: caller.view, entries: requests.map { Self.entry($0, lists, isProxied: isProxied, caller.now) })
        (view.sentDirect, view.proxied) = (lists?.direct ?? [], lists?.proxied ?? [])
        (view.notice, view.refusal) = (notice, refusal)
        return view.answer(in: caller.context)
    }

    /// One request; a device without a profile has no list that could send it another way (nil).
    private static func entry(
        _ request: DeviceRequest, _ lists: DeviceRules?, isProxied: Bool?, _ now: Int64
    ) -> RequestsView.Entry {
        let age = max(0, (Clock.now() - request.at).nanoseconds / 1_000_000_000)
        var entry = RequestsView.Entry(
            host: request.name, way: RequestsView.Entry.Way(request.fate), rule: request.rule,
            result: request.fate == .answered ? "answered by the gateway" : request.outcome, up: request.up,
            down: request.down, at: now - age)
        guard let isProxied, let own = try? DeviceRules.normal(entryText(request.name)) else { return entry }
        entry.mayGoDirect =
            (request.fate == .proxied || request.fate == .refused) && !(lists?.direct.contains(own) ?? false)
        entry.mayBeProxied =
            isProxied && (request.fate == .direct || request.fate == .asked)
            && !(lists?.proxied.contains(own) ?? false)
        return entry
    }

    /// A host alone, without what is below it, as a list has it.
    private static func entryText(_ host: String) -> String {
        IPAddress(parsing: host) == nil ? "full:\(host)" : host
    }

    /// Has a host go another way for a device than its profile says.
    mutating func send(
        _ host: String, direct isDirect: Bool, _ caller: PageCaller, _ gateway: inout Gateway
    ) throws(ControlError) -> PageNotice {
        try add([Self.entryText(host)], direct: isDirect, caller, &gateway)
        return isDirect ? .direct : .proxied
    }

    /// Puts entries into one of a device's lists, and takes them out of the other.
    private mutating func add(
        _ entries: [String], direct isDirect: Bool, _ caller: PageCaller, _ gateway: inout Gateway
    ) throws(ControlError) {
        try checkRoom(for: caller.device)
        let lists = try lists(of: caller.device, with: entries, direct: isDirect)
        _ = try give(lists, to: caller.device, ControlCall.Manner(), caller.by, &gateway, how: Self.byPage)
    }

    private func lists(
        of device: Device, with entries: [String], direct isDirect: Bool
    ) throws(ControlError) -> DeviceRules {
        let former = self.lists(of: device)
        var (direct, proxied) = (former?.direct ?? [], former?.proxied ?? [])
        let lists: DeviceRules
        var new: [String] = []
        do throws(RoutingError) {
            for entry in entries { new.append(try DeviceRules.normal(entry)) }
            direct.removeAll(where: new.contains)
            proxied.removeAll(where: new.contains)
            if isDirect { direct += new } else { proxied += new }
            lists = try DeviceRules(direct: direct, proxied: proxied)
        } catch {
            throw ControlError(
                .badValue, "found \(error.found); expected \(error.expected)", found: error.found,
                expected: error.expected, hint: error.hint)
        }
        if let hidden = lists.shadowed.first(where: { new.contains($0.proxied) }) {
            throw ControlError(
                .conflict,
                "\(hidden.proxied) would stay direct: \(hidden.by) is sent direct for this phone, and that counts first"
            )
        }
        return lists
    }

    // MARK: Learning

    func learning(
        _ caller: PageCaller, notice: PageNotice? = nil, refusal: String? = nil, ticked: [String]? = nil,
        _ gateway: borrowing Gateway
    ) -> PageAnswer {
        var view = LearnView(device: caller.view, stage: .ready)
        if let lesson = lesson(about: caller.device.identity, gateway) {
            let left = (lesson.left.milliseconds + 999) / 1000
            view.stage = left > 0 ? .running(until: caller.now + left) : .over
            let listed = ticked ?? lists(of: caller.device)?.proxied ?? []
            view.groups = lesson.groups.map { group in
                LearnView.Group(suffix: group.suffix, names: group.names, isTicked: listed.contains(group.suffix))
            }
        }
        (view.notice, view.refusal) = (notice, refusal)
        return view.answer(in: caller.context)
    }

    /// Has domains be proxied for a device, with all below them.
    mutating func add(
        _ domains: [String], _ caller: PageCaller, _ gateway: inout Gateway
    ) throws(ControlError) -> PageNotice {
        guard !domains.isEmpty else {
            throw ControlError(.badRequest, "found no domain that is ticked; expected one or more")
        }
        try add(domains, direct: false, caller, &gateway)
        return .learned
    }
}

extension RequestsView.Entry.Way {
    init(_ fate: DeviceRequest.Fate) {
        self =
            switch fate {
            case .proxied: .proxied
            case .direct, .answered: .direct
            case .refused: .refused
            case .asked: .asked
            }
    }
}
