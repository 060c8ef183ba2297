/// One flow of a worker: its two ends, and the relay between them.
///
/// A flow from the tunnel has an `endpoint`, one of the SOCKS5 or HTTP inbound a `client` socket. What else is
/// there says how far the flow has come:
///
///     endpoint | client    session   dial      upstream
///     ─────────────────────────────────────────────────────────────────────────
///              | yes       yes       –         –          the client says what it wants
///     yes      |           –         –         –          looked at (`sniff`) before it is decided
///     yes      | yes       –         –         –          a connectivity check that we answer (`check`)
///     yes      | yes       |yes      yes       –          the upstream is asked
///     yes      | yes       –         –         yes        bytes are relayed
///     –        | yes       –         –         –          refused: the last words go to the client
///
/// What only a few flows have, or every flow for a short time, lives in slabs of the worker, so that an idle
/// flow is small.

import Bytes
import Flows
import Relay
import Streams
import Upstreams
import Wire

/// Where a flow came in.
enum Origin: Equatable, Sendable {
    case tunnel
    /// A SOCKS5 or HTTP listener, by its number.
    case listener(Int)
}

struct Flow: ~Copyable {
    /// Who asks whom; for an inbound flow the client's address and the listener's.
    let key: FlowKey
    let origin: Origin
    /// What is asked for; nil until an inbound's client has said it.
    var target: Target?
    /// Who is asked; nil until it was decided.
    var outbound: Upstream?
    /// Who is asked when that one fails, the best one first.
    var others: [Upstream] = []
    /// The target's name, and who said it.
    var name: String?
    var nameSource = NameSource.address
    /// The id of the profile that decided, and the rule that matched.
    var profile = "-"
    var rule: RouteRule?
    /// Plain http on port 80 goes in absolute form, whatever the upstream's settings say.
    var asksInAbsoluteForm = false
    /// It asks our own DNS service, or for a self-check's image: no switch is about it.
    var isQuestion = false
    /// Whether the fake address of its target is held for it.
    var holdsFakeAddress = false

    var endpoint: TCPEndpoint?
    var client: SocketEnd?
    /// In `Worker.sessions`.
    var session: Handle?

    /// In `Worker.dials`.
    var dial: Handle?
    var upstream: SocketEnd?
    /// Under which the upstream's events come.
    var upstreamSlot: UInt8 = 0
    /// In `Worker.forwards`, while plain http is rewritten.
    var forward: Handle?
    /// In `Worker.sniffs`, while it is looked at before it is decided.
    var sniff: Handle?
    /// In `Worker.checks`, while it is answered here.
    var check: Handle?
    /// The upstream's local port, where `DNSClients` knows the device by it.
    var servicePort: UInt16?
    /// The number of its entry in `Worker.requests`, once it got through.
    var request: UInt32?
    /// Octets of an inbound client that nobody has taken yet.
    var held = ByteQueue()

    var relay: Relay
    var tls = TLSRefusalWatch()
    let opened: Instant

    /// An HTTP client's plain request, which is the only one on this connection.
    var isPlainRequest = false
    /// Its SYN was answered with a cookie, before the upstream was asked.
    var isFromCookie = false
    /// A successor has its key: its client is done, and what that sent is still on its way.
    var isSucceeded = false
    /// Counted in `HalfOpen`.
    var isHalfOpen = false
    /// It has told the others that its credentials were refused in absolute form.
    var hasToldRefusal = false
    /// In the worker's list of flows to be served.
    var isTouched = false
    /// In the worker's list of flows that wait for buffer memory.
    var isStarved = false
    /// It cannot go on as its sides expect, so both are reset.
    var isBroken = false
    /// Whether the kernel probes the upstream when it is silent.
    var hasKeepalive = false
    /// What waited in the kernel for the upstream when its limit was last over.
    var unsentBefore = 0
    /// The upstream is gone by a reset: the client gets one as soon as it has what came before.
    var resetsWhenDrained = false
    /// Why the flow is ending, once it is known; the first reason stays.
    private(set) var reason: CloseReason?

    init(key: FlowKey, origin: Origin, at now: Instant) {
        self.key = key
        self.origin = origin
        opened = now
        relay = Relay(at: now)
    }

    /// Notes why the flow ends, unless that is known already.
    mutating func ends(_ reason: CloseReason) {
        if self.reason == nil { self.reason = reason }
    }

    /// Notes that the client has finished sending.
    mutating func clientEnded(at now: Instant) {
        if tls.isWatching, relay.endedFirst == nil, tls.clientRefused { ends(.clientRefusedCertificate) }
        relay.sourceEnded(.client, at: now)
    }

    /// Why the flow ended, once both sides are gone.
    var closeReason: CloseReason { reason ?? .closed(first: relay.endedFirst ?? .client) }
}
