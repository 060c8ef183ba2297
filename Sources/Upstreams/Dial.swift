/// One stream's way to its upstream: names, connections, the conversation, and one deadline over all of it.
///
/// A dial owns its sockets and nothing else. It never waits: the caller watches the descriptors that it
/// names, resolves the names that it asks for, and comes back with events and the time. Letting go of a dial
/// cancels it.

public import Addresses
public import Bytes
public import LinuxIO
public import Wire

/// A stream that is being opened.
public struct Dial: ~Copyable {
    /// Where a dial stands.
    enum Phase: Equatable {
        case fresh
        /// A name was asked for.
        case naming
        /// At least one attempt runs.
        case connecting
        /// Connected; somebody else just tries the credentials, whose verdict is waited for.
        case holding(until: Instant)
        /// Connected; the proxy has been asked.
        case asking
        case over
    }

    /// Attempts that run at a time; a further address has to wait until one has failed.
    static let maximumAttempts = 4

    /// How long a refusal's page is waited for.
    static let pageTime = Interval.milliseconds(200)

    /// How long a challenge's page is waited for, at whose end the same connection can be asked again.
    static let drainTime = Interval.seconds(1)

    public let target: Target
    let upstream: Upstream
    let client: ClientIdentity?
    /// Plain http on port 80 goes to an HTTP proxy in absolute form, whatever its settings say; to be set before
    /// `start`.
    public var prefersAbsoluteForm = false
    /// When it began.
    public let startedAt: Instant
    let overallDeadline: Instant

    var phase = Phase.fresh
    var candidates: [IPAddress] = []
    var nextCandidate = 0
    var attempts = InlineArray<4, Attempt?> { _ in nil }
    var attemptDeadlines = InlineArray<4, Instant>(repeating: .never)
    var nextAttemptTime = Instant.never
    var lastSlot: UInt8 = 0
    var lastError = ErrorNumber.timedOut

    var connection: Socket?
    /// The slot of the connection; nil while there is none.
    var connectedSlot: UInt8?
    /// When the first connection stood.
    var connectedAt: Instant?
    /// Which candidate it goes to, or went to.
    var connectedCandidate = 0
    var dialogue = Dialogue.none
    var unsent: [UInt8] = []
    var pageDeadline = Instant.never
    var inAbsoluteForm = false
    /// The request on this connection showed the credentials.
    var showsCredentials = false
    /// The connection is watched for reading alone.
    var isWatchedForReading = false
    /// The proxy has asked for credentials.
    var isChallenged = false
    /// The connection has carried a request before, so its end says nothing about this one.
    var isReused = false
    var holdsClaim = false
    var timesHeld = 0

    /// Begins to open a stream to `target` through `upstream`.
    public init(to target: Target, through upstream: Upstream, for client: ClientIdentity? = nil, now: Instant) {
        self.target = target
        self.upstream = upstream
        self.client = client
        startedAt = now
        overallDeadline = now + upstream.settings.overallTimeout
    }

    deinit {
        if holdsClaim { upstream.gate.giveUp() }
    }

    /// The number of the upstream that is asked.
    public var upstreamNumber: Int { upstream.number }

    /// When `timeout` is to be called; look again after every other call.
    public var deadline: Instant {
        switch phase {
        case .over: return .never
        case .fresh, .naming: return overallDeadline
        case .holding(let until): return min(overallDeadline, until)
        case .asking: return min(overallDeadline, pageDeadline)
        case .connecting:
            var earliest = min(overallDeadline, nextAttemptTime)
            for place in 0..<Self.maximumAttempts { earliest = min(earliest, attemptDeadlines[place]) }
            return earliest
        }
    }

    /// The address that is connected, once one is.
    public var server: SocketAddress? {
        connectedSlot == nil ? nil : address(of: connectedCandidate)
    }

    /// Starts; call it once.
    public mutating func start(
        memory: inout UpstreamMemory, buffers: inout DialBuffers, now: Instant
    ) -> DialProgress {
        inAbsoluteForm =
            target.port == 80 && (upstream.usesAbsoluteForm || prefersAbsoluteForm && upstream.mayUseAbsoluteForm)
        if hasCredentials, inAbsoluteForm || showsCredentialsAtOnce, upstream.gate.isShut(at: now) {
            return fail(.credentialsRejected)
        }
        let policy = upstream.settings.policy
        if case .address(let address) = target.host, policy.refusesAnyWay(address) { return fail(.forbidden) }
        switch endpoint.host {
        case .address(let address):
            if isDirect, policy.refusesDirect(address) { return fail(.forbidden) }
            candidates = upstream.literalAddress ?? [address]
        case .name(let name):
            candidates = isDirect ? [] : memory.candidates
            if candidates.isEmpty {
                phase = .naming
                return .needsName(name)
            }
        }
        return startFirstAttempt(memory: &memory, buffers: &buffers, now: now)
    }

    /// Takes the addresses of the name that was asked for; none when it does not resolve.
    public mutating func resolved(
        _ addresses: [IPAddress], memory: inout UpstreamMemory, buffers: inout DialBuffers, now: Instant
    ) -> DialProgress {
        guard phase == .naming, case .name(let name) = endpoint.host else { return .waiting }
        if isDirect {
            if addresses.isEmpty { return fail(.targetUnknown(name)) }
            let policy = upstream.settings.policy
            candidates = AddressOrder.interleaved(addresses.filter { !policy.refusesDirect($0) }, first: nil)
            if candidates.isEmpty { return fail(.forbidden) }
        } else {
            if addresses.isEmpty { return fail(.proxyUnknown(name)) }
            memory.learn(addresses, at: now)
            candidates = memory.candidates
        }
        return startFirstAttempt(memory: &memory, buffers: &buffers, now: now)
    }

    /// Takes an event of a registered descriptor; a late one for a socket that is gone is passed over.
    public mutating func ready(
        slot: UInt8, _ event: PolledEvent, memory: inout UpstreamMemory, buffers: inout DialBuffers, now: Instant
    ) -> DialProgress {
        if connectedSlot == slot {
            guard phase == .asking else { return .waiting }
            return converse(event, buffers: &buffers, memory: &memory, now: now)
        }
        for place in 0..<Self.maximumAttempts where attempts[place]?.slot == slot {
            return attemptIsReady(place, event, memory: &memory, buffers: &buffers, now: now)
        }
        return .waiting
    }

    /// Does what is due at `deadline`.
    public mutating func timeout(
        memory: inout UpstreamMemory, buffers: inout DialBuffers, now: Instant
    ) -> DialProgress {
        if now >= overallDeadline { return failAtDeadline(memory: &memory) }
        switch phase {
        case .fresh, .naming, .over:
            return .waiting
        case .connecting:
            return attemptsAreDue(memory: &memory, now: now)
        case .holding(let until):
            guard now >= until else { return .waiting }
            return ask(readingAfterwards: true, buffers: &buffers, memory: &memory, now: now)
        case .asking:
            guard now >= pageDeadline else { return .waiting }
            return connectionEnded(memory: &memory, now: now)
        }
    }

    /// Gives the open connection to the caller, once, after `open`.
    public mutating func takeSocket() -> Socket {
        guard let socket = connection.take() else { preconditionFailure("no socket to take") }
        return socket
    }

    /// The machine that is connected to.
    var endpoint: Target { upstream.server ?? target }

    var isDirect: Bool { upstream.settings.kind == .direct }

    var hasCredentials: Bool { upstream.credentials != nil || upstream.login != nil }

    /// SOCKS5 has no challenge: what the client offers comes first there.
    var showsCredentialsAtOnce: Bool { upstream.login != nil || upstream.settings.authentication == .preemptive }

    func address(of candidate: Int) -> SocketAddress { SocketAddress(candidates[candidate], endpoint.port) }

    /// Ends the dial: every socket is closed.
    mutating func fail(_ failure: DialFailure) -> DialProgress {
        phase = .over
        disconnect()
        dropAttempts()
        return .failed(failure)
    }

    private mutating func failAtDeadline(memory: inout UpstreamMemory) -> DialProgress {
        switch phase {
        case .over: return .waiting
        case .fresh, .naming:
            return fail(isDirect ? .targetUnknown("\(endpoint.host)") : .proxyUnknown("\(endpoint.host)"))
        case .connecting:
            lastError = .timedOut
            return failToConnect(memory: &memory)
        case .holding, .asking:
            return fail(.proxySilent)
        }
    }
}
