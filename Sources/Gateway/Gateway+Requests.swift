/// What devices wanted, gathered from the workers and the DNS service, and the flows of which workers tell it.

public import Addresses
public import Bytes
import Flows
import LinuxIO
import Relay
import Routing
import Streams
import Synchronization
import Upstreams
import Wire

/// Where workers put what they know of a device.
final class RequestBox: Sendable {
    let devices: Set<IPAddress>
    private let content = Mutex<(requests: [DeviceRequest], lessons: [Lesson], workers: Int)>(([], [], 0))
    private let control: WakeUp

    init(_ devices: Set<IPAddress>, waking control: WakeUp) {
        self.devices = devices
        self.control = control
    }

    func put(_ book: borrowing RequestBook) {
        let (requests, lessons) = (book.requests(of: devices), book.lessons(of: devices))
        content.withLock { content in
            content.requests += requests
            content.lessons += lessons
            content.workers += 1
        }
        control.wake()
    }

    var workers: Int { content.withLock { $0.workers } }
    var requests: [DeviceRequest] { content.withLock { $0.requests } }
    var lessons: [Lesson] { content.withLock { $0.lessons } }
}

extension Gateway {
    /// What a device, by its addresses, wanted last: at most 30 names, the newest first.
    public func requests(of devices: Set<IPAddress>) -> [DeviceRequest] {
        let asked = shared.service?.requests(of: devices) ?? []
        let policy = shared.policy
        let device = devices.min { ($0.isIPv4 ? 0 : 1, $0.high, $0.low) < ($1.isIPv4 ? 0 : 1, $1.high, $1.low) }
        let questions = asked.compactMap { question in device.map { policy.completed(question, of: $0) } ?? question }
        return RequestBook.joined(askWorkers(devices).requests + questions)
    }

    /// Has the names that a device asks for or opens be collected until then; it ends by itself.
    public func learn(_ devices: Set<IPAddress>, until: Instant) {
        for mailbox in shared.mailboxes { mailbox.send(.learn(devices, until: until)) }
        shared.service?.learn(devices, until: until)
    }

    /// What was collected since a device was last to be learned about, be that over or not.
    public func learned(_ devices: Set<IPAddress>) -> LearnedNames {
        var learned = LearnedNames()
        for lesson in askWorkers(devices).lessons { learned.join(lesson, asked: false) }
        for lesson in shared.service?.lessons(of: devices) ?? [] { learned.join(lesson, asked: true) }
        return learned
    }

    /// Forgets what a device wanted and what was collected about it: it is another person's from now on.
    ///
    /// Flows that are open then are not told of when they end.
    public func forgetRequests(of devices: Set<IPAddress>) {
        for mailbox in shared.mailboxes { mailbox.send(.forget(devices)) }
        shared.service?.forget(devices)
    }

    private func askWorkers(_ devices: Set<IPAddress>) -> RequestBox {
        let box = RequestBox(devices, waking: answers)
        for mailbox in shared.mailboxes { mailbox.send(.requests(box)) }
        waitForWorkers { box.workers }
        return box
    }
}

extension Policy {
    /// A question with the rule that says so, as far as that still counts; nil where its flows are ours to tell of.
    fileprivate func completed(_ question: DeviceRequest, of device: IPAddress) -> DeviceRequest? {
        guard question.fate == .asked else { return question }
        var question = question
        let route = route(to: Destination(name: question.name, port: 443, source: .answer), from: device)
        guard case .upstream(let upstream) = route.way, upstream.server == nil else {
            return settings.fakesNames ? question : nil
        }
        question.profile = route.profileID
        question.decider = route.rule
        return question
    }
}

extension Worker {
    /// Notes a flow that has got through to where it goes.
    mutating func noteRequest(_ handle: Handle) {
        guard var request = request(of: flows[handle]) else { return }
        request.decider = flows[handle].rule
        request.open = 1
        let device = flows[handle].key.client.address
        flows[handle].request = requests.note(request, of: device)
        if let name = flows[handle].name { requests.take(name, of: device, at: now) }
    }

    /// Notes how a flow has ended, be it that it got through or not.
    mutating func noteRequest(_ flow: borrowing Flow, _ reason: CloseReason) {
        let device = flow.key.client.address
        // Of a tunnel's client the endpoint knows best: some of its octets go up by way of a queue.
        let up = flow.endpoint != nil ? flow.endpoint.value.accounts.received : UInt64(flow.relay.up.bytes)
        let down = UInt64(flow.relay.down.bytes)
        if let number = flow.request { return requests.noteEnd(number, up: up, down: down, reason.words, of: device) }
        guard var request = request(of: flow) else { return }
        (request.up, request.down) = (up, down)
        request.decider = flow.rule
        request.hasFailed = flow.check == nil
        request.take(reason)
        requests.note(request, of: device)
        if let name = flow.name { requests.take(name, of: device, at: now) }
    }

    /// Notes a segment that was refused without a flow.
    mutating func noteRefused(_ key: FlowKey, _ destination: Destination?, _ reason: CloseReason) {
        let named = destination?.name.map { DeviceRequest.Subject.name($0) }
        let subject = named ?? destination?.target.host.subject ?? .address(key.target.address)
        var request = DeviceRequest(subject, .refused, at: now)
        request.port = key.target.port
        request.hasFailed = true
        request.take(reason)
        requests.note(request, of: key.client.address)
        if let name = destination?.name { requests.take(name, of: key.client.address, at: now) }
    }

    /// A flow as its device's wish; nil for what no device wants by itself, and for who has asked for nothing.
    private func request(of flow: borrowing Flow) -> DeviceRequest? {
        guard !flow.isQuestion else { return nil }
        if case .listener(let number) = flow.origin {
            guard flow.target != nil, shared.listeners[number].settings.outbound == .active else { return nil }
        }
        let named = flow.name.map { DeviceRequest.Subject.name($0) }
        var fate = DeviceRequest.Fate.refused
        if let upstream = flow.outbound { fate = upstream.server == nil ? .direct : .proxied }
        if flow.check != nil { fate = .answered }
        var request = DeviceRequest(
            named ?? flow.target?.host.subject ?? .address(flow.key.target.address), fate, at: now)
        request.port = flow.target?.port ?? flow.key.target.port
        if fate != .refused { request.profile = flow.profile }
        return request
    }
}

extension DeviceRequest {
    /// Takes the reason of a failure apart: a rule stands where rules do.
    fileprivate mutating func take(_ reason: CloseReason) {
        outcome = reason.words
        guard case .rejected(let rule) = reason else { return }
        decider = .words(rule)
        outcome = "refused by a rule"
    }
}

extension Host {
    fileprivate var subject: DeviceRequest.Subject {
        switch self {
        case .name(let name): .name(name)
        case .address(let address): .address(address)
        }
    }
}
