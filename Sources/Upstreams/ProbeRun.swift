/// One probe under way: from the proxy's name to the page, and to a certificate where that is asked for.
///
/// It owns its dial and its socket and never waits. Whoever runs it watches the descriptors that it names, resolves the
/// names that it asks for, and comes back with events and the time, until it says `finished`.

import Addresses
import Bytes
import Health
import LinuxIO
import Wire

/// What a probe's caller is to do next.
enum ProbeProgress: Equatable {
    /// Nothing, until an event or the deadline comes.
    case waiting
    /// Watch this descriptor, edge-triggered.
    case register(descriptor: CInt, slot: UInt8, needsWritable: Bool)
    /// Watch this one, which is registered for reading, for writing too.
    case watchWriting(descriptor: CInt, slot: UInt8)
    /// Resolve this name; a page's host may need another resolver than the machine of a proxy.
    case needsName(String, isTarget: Bool)
    /// The result is complete.
    case finished
}

struct ProbeRun: ~Copyable {
    /// What the dial is for.
    enum Errand: Equatable {
        /// A TCP connection and nothing else.
        case reach
        case page
        /// The page in absolute form: the dial only connects.
        case absolutePage
        case certificate
    }

    /// How long the words of an error are waited for.
    static let wordsTime = Interval.milliseconds(200)

    let request: ProbeRequest
    var result: ProbeResult
    var errand = Errand.reach
    var dial: Dial?
    /// Fresh for each probe: a name that does not resolve any more shall show.
    var memory = UpstreamMemory()
    var endOfTime: Instant
    /// When the step that runs has begun.
    var began: Instant
    var connectedAt: Instant?
    /// Credentials that were rejected are not sent again; what is left to find out is whether the proxy is there.
    var isLockedOut = false

    var socket: Socket?
    var slot: UInt8 = 0
    var watchesWriting = false
    var unsent: [UInt8] = []
    var way = PageWay.tunnel
    var beganInAbsoluteForm = false
    /// Whether CONNECT was refused on the way here, so that the page is asked for in absolute form.
    var hasFallenBack = false
    var page: PageReader?
    var flight: TLSServerFlight?
    var endOfPatience = Instant.never

    init(_ request: ProbeRequest, ticket: UInt64, now: Instant) {
        self.request = request
        result = ProbeResult(ticket: ticket)
        endOfTime = now + request.timeout
        began = now
    }

    var isDirect: Bool { request.upstream.server == nil }

    private var isHTTP: Bool {
        if case .http = request.upstream.settings.kind { true } else { false }
    }

    /// When `timeout` is to be called.
    var deadline: Instant {
        if socket != nil { return min(endOfTime, endOfPatience) }
        return dial == nil ? .never : min(endOfTime, dial.value.deadline)
    }

    /// Starts; call it once.
    mutating func start(buffers: inout DialBuffers, now: Instant) -> ProbeProgress {
        if let page = request.page {
            isLockedOut = request.upstream.credentialsAreLockedOut(at: now)
            if isLockedOut { return begin(.reach, buffers: &buffers, now: now) }
            return begin(isHTTP && page.via == .absolute ? .absolutePage : .page, buffers: &buffers, now: now)
        }
        if request.certificate != nil { return begin(.certificate, buffers: &buffers, now: now) }
        // Without a proxy and without a page there is nothing to connect to.
        return isDirect ? .finished : begin(.reach, buffers: &buffers, now: now)
    }

    /// Takes the addresses of the name that was asked for.
    mutating func resolved(
        _ answer: Result<[IPAddress], ResolutionError>, buffers: inout DialBuffers, now: Instant
    ) -> ProbeProgress {
        guard dial != nil, socket == nil else { return .waiting }
        let addresses = (try? answer.get()) ?? []
        if !addresses.isEmpty, errand != .certificate, result.steps.isEmpty {
            note(.resolve, now: now, addresses.prefix(4).map(\.description).joined(separator: ", "))
        }
        let progress = dial.value.resolved(addresses, memory: &memory, buffers: &buffers, now: now)
        return follow(progress, buffers: &buffers, now: now)
    }

    /// Takes an event of a registered descriptor.
    mutating func ready(
        slot: UInt8, _ event: PolledEvent, buffers: inout DialBuffers, now: Instant
    ) -> ProbeProgress {
        if socket != nil { return slot == self.slot ? converse(event, buffers: &buffers, now: now) : .waiting }
        guard dial != nil else { return .waiting }
        let progress = dial.value.ready(slot: slot, event, memory: &memory, buffers: &buffers, now: now)
        return follow(progress, buffers: &buffers, now: now)
    }

    /// Does what is due at `deadline`.
    mutating func timeout(buffers: inout DialBuffers, now: Instant) -> ProbeProgress {
        guard now >= deadline else { return .waiting }
        if socket != nil { return patienceIsOver(buffers: &buffers, now: now) }
        let progress = dial.value.timeout(memory: &memory, buffers: &buffers, now: now)
        return follow(progress, buffers: &buffers, now: now)
    }

    // MARK: Dialling

    /// Begins to dial for an errand.
    mutating func begin(_ errand: Errand, buffers: inout DialBuffers, now: Instant) -> ProbeProgress {
        self.errand = errand
        began = now
        connectedAt = nil
        var target = request.upstream.server ?? request.page?.target
        if errand == .page { target = request.page?.target }
        if errand == .certificate { target = request.certificate }
        guard let target else { return .finished }
        beganInAbsoluteForm = request.upstream.usesAbsoluteForm
        dial = Dial(to: target, through: upstream(for: errand, now: now), now: now)
        let progress = dial.value.start(memory: &memory, buffers: &buffers, now: now)
        return follow(progress, buffers: &buffers, now: now)
    }

    /// The upstream with the probe's own deadline; for a mere connection its machine is the target.
    private func upstream(for errand: Errand, now: Instant) -> Upstream {
        var settings = request.upstream.settings
        settings.overallTimeout = endOfTime - now
        switch errand {
        case .reach, .absolutePage:
            guard !isDirect else { break }
            settings.kind = .direct
            settings.policy.own = []
            settings.policy.refused = []
            settings.policy.allowed = Self.everywhere
            return (try? Upstream(settings)) ?? request.upstream
        case .page, .certificate:
            if request.page?.via == .connect { settings.plainHTTP = .connect }
        }
        return (try? Upstream(settings, continuing: request.upstream)) ?? request.upstream
    }

    /// A proxy may be anywhere, on this machine too.
    private static let everywhere = ["0.0.0.0/0", "::/0"].compactMap { IPPrefix(parsing: $0) }

    private mutating func follow(
        _ progress: DialProgress, buffers: inout DialBuffers, now: Instant
    ) -> ProbeProgress {
        noteConnection()
        switch progress {
        case .waiting: return .waiting
        case .register(let descriptor, let slot, let needsWritable):
            return .register(descriptor: descriptor, slot: slot, needsWritable: needsWritable)
        case .needsName(let name): return .needsName(name, isTarget: isDirect)
        case .open(let opening): return opened(opening, buffers: &buffers, now: now)
        case .failed(let failure): return failed(failure, buffers: &buffers, now: now)
        }
    }

    /// Takes note of the connection, once it stands.
    private mutating func noteConnection() {
        guard connectedAt == nil, let time = dial.value.connectedAt else { return }
        connectedAt = time
        let took = time - began
        began = time
        if result.connect == nil { result.connect = Sample(.connect, .good(took)) }
        guard errand != .certificate, !result.steps.contains(where: { $0.name == .connect }) else { return }
        result.steps.append(
            ProbeStep(.connect, took: took, words: dial.value.server?.description ?? "connected"))
    }

    private mutating func failed(
        _ failure: DialFailure, buffers: inout DialBuffers, now: Instant
    ) -> ProbeProgress {
        if case .refused(let status, _) = failure, errand == .page, mayFallBack(status) {
            note(.proxy, now: now, "\(status) to CONNECT, so in absolute form")
            return begin(.absolutePage, buffers: &buffers, now: now)
        }
        let failure = errand == .reach || errand == .absolutePage ? failure.ofProxy : failure
        let words = failure.sentence(for: dial.value.target)
        if errand == .certificate {
            result.certificate = .unreadable(words)
            return finish(buffers: &buffers, now: now)
        }
        let cause = Cause(failure)
        let step = connectedAt == nil ? failure.earlyStep : .proxy
        result.steps.append(ProbeStep(step, took: now - began, failure: cause, words: words))
        if connectedAt == nil, cause.isAboutConnections {
            result.connect = Sample(.connect, .bad(cause))
        } else {
            result.request = Sample(.request, .bad(cause))
        }
        return finish(buffers: &buffers, now: now)
    }

    /// Whether a refused CONNECT is to be followed by absolute form; on port 80 the dial does that by itself.
    private func mayFallBack(_ status: Int) -> Bool {
        isHTTP && request.page?.via == .auto && (status == 403 || status == 405)
    }

    /// Adds a step that went well, and begins the next one.
    mutating func note(_ name: ProbeStep.Name, now: Instant, _ words: String) {
        result.steps.append(ProbeStep(name, took: now - began, words: words))
        began = now
    }

    /// Ends an errand: what is left is a look at a certificate, if the upstream is there at all.
    mutating func finish(buffers: inout DialBuffers, now: Instant) -> ProbeProgress {
        socket = nil
        dial = nil
        page = nil
        flight = nil
        unsent = []
        endOfPatience = .never
        guard errand != .certificate, request.certificate != nil, !isLockedOut, case .good? = result.connect?.outcome
        else { return .finished }
        endOfTime = now + request.timeout
        return begin(.certificate, buffers: &buffers, now: now)
    }
}

extension DialFailure {
    /// A failure to reach a target that is the proxy.
    fileprivate var ofProxy: DialFailure {
        switch self {
        case .targetUnknown(let name): .proxyUnknown(name)
        case .targetUnreachable(let reason): .proxyUnreachable(reason)
        default: self
        }
    }

    /// The step that a failure before the connection belongs to.
    fileprivate var earlyStep: ProbeStep.Name {
        switch self {
        case .proxyUnknown, .targetUnknown: .resolve
        case .credentialsRejected: .proxy
        default: .connect
        }
    }
}

extension Cause {
    /// Whether it speaks of the way to the upstream, and not of who is behind it or of a login that was not tried.
    fileprivate var isAboutConnections: Bool {
        switch self {
        case .originFailing, .credentialsRejected: false
        default: true
        }
    }
}
