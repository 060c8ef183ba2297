/// One flow of a worker: its two ends, and the relay between them.
///
/// A flow from the tunnel has an `endpoint`, one of the SOCKS5 or HTTP inbound a `client` socket. The upstream
/// is first a `dial` and then an `upstream`. Which of them are there says how far the flow has come:
///
///     endpoint | client + inbound    dial      upstream
///     ─────────────────────────────────────────────────────────────────────
///     yes                            waiting   –          the upstream is asked
///     yes                            –         yes        bytes are relayed
///     yes                            –         –          refused; the last words go to the client

import Addresses
import Bytes
import Flows
import Inbound
import LinuxIO
import Relay
import Streams
import Upstreams
import Wire

/// Where a flow came in.
enum Origin: Sendable {
    case tunnel
    case socks
    case http

    var name: String {
        switch self {
        case .tunnel: "tun"
        case .socks: "socks"
        case .http: "http"
        }
    }
}

struct Flow: ~Copyable {
    /// Who asks whom; for an inbound flow the client's address and the listener's.
    let key: FlowKey
    let origin: Origin
    /// What is asked for; nil until an inbound's client has said it.
    var target: Target?

    var endpoint: TCPEndpoint?
    var client: SocketEnd?
    var inbound: InboundSession?

    var dial: Dial?
    var upstream: SocketEnd?
    /// Set while plain http is carried in absolute form.
    var forward: HTTPForward?

    var relay: Relay
    var tls = TLSObserver()
    let opened: Instant

    /// Counted in `HalfOpen`.
    var isHalfOpen = false
    /// In the worker's list of flows to be served before the next wait.
    var isTouched = false
    /// Why the flow is ending, once it is known; the first reason stays.
    var reason: CloseReason?

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
}
