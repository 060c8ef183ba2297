/// Why a flow ended, in words for the flow log: one reason a flow.

/// The one reason of a flow's end.
public enum CloseReason: Sendable, Equatable {
    /// Both sides have closed; `first` did so first.
    case closed(first: Side)
    case clientReset
    case upstreamReset(String)
    /// A TLS client that closed right behind the server's first flight.
    case clientRefusedCertificate
    /// The client gave up before the upstream had answered.
    case clientGaveUp
    /// The upstream said no, or nothing; the text says what (DialFailure in Upstreams).
    case refused(String)
    /// The SYN-ACK was never acknowledged.
    case handshakeNotCompleted
    /// The device answers neither data nor keepalive probes.
    case clientUnreachable
    case halfCloseTimeout
    case idleTimeout
    /// The device had more half-open connections than its share; this was the oldest.
    case halfOpenLimit
    case flowLimit
    /// The device has as many flows as it may have, and none has been idle.
    case deviceFlowLimit
    /// There was no room for a newcomer, and this flow had been idle for longest.
    case shed
    case noDescriptors
    case noMemory
    case badRequest(String)
    case routeLoop
    /// A client asked for the listener that it speaks to.
    case ownListener
    /// A rule says REJECT.
    case rejected(rule: String)
    /// A fake address that no name has any more; asking DNS again mends it.
    case unknownFakeAddress
    /// IPv6 is switched off.
    case familyOff
    /// The flow would go another way since a switch.
    case switched
    case shutdown

    /// A sentence fragment for the log.
    public var words: String {
        switch self {
        case .closed(first: .client): "client closed"
        case .closed(first: .upstream): "upstream closed"
        case .clientReset: "client reset the connection"
        case .upstreamReset(let cause): "upstream reset the connection: \(cause)"
        case .clientRefusedCertificate: "client refused the certificate"
        case .clientGaveUp: "client gave up before the upstream answered"
        case .refused(let cause): cause
        case .handshakeNotCompleted: "client never completed the handshake"
        case .clientUnreachable: "client stopped answering"
        case .halfCloseTimeout: "half-closed and nothing came from the other side"
        case .idleTimeout: "idle for too long"
        case .halfOpenLimit: "too many half-open connections of this device"
        case .flowLimit: "flow limit reached"
        case .deviceFlowLimit: "this device has as many flows as it may have"
        case .shed: "idle for longest when there was no room for another one"
        case .noDescriptors: "out of file descriptors"
        case .noMemory: "out of buffer memory"
        case .badRequest(let cause): cause
        case .routeLoop: "route loop: the gateway's own connection came back to it"
        case .ownListener: "route loop: the target is a listener of the gateway"
        case .rejected(let rule): "refused by a rule: \(rule)"
        case .unknownFakeAddress: "no name has this fake address any more"
        case .familyOff: "IPv6 is switched off"
        case .switched: "its way has changed by a switch"
        case .shutdown: "gateway stopped"
        }
    }

    /// A short name of the reason's kind, for counters.
    public var kind: String {
        switch self {
        case .closed(first: .client): "client-closed"
        case .closed(first: .upstream): "upstream-closed"
        case .clientReset: "client-reset"
        case .upstreamReset: "upstream-reset"
        case .clientRefusedCertificate: "client-refused-certificate"
        case .clientGaveUp: "client-gave-up"
        case .refused: "refused"
        case .handshakeNotCompleted: "handshake-not-completed"
        case .clientUnreachable: "client-unreachable"
        case .halfCloseTimeout: "half-close-timeout"
        case .idleTimeout: "idle-timeout"
        case .halfOpenLimit: "half-open-limit"
        case .flowLimit: "flow-limit"
        case .deviceFlowLimit: "device-flow-limit"
        case .shed: "shed"
        case .noDescriptors: "no-descriptors"
        case .noMemory: "no-memory"
        case .badRequest: "bad-request"
        case .routeLoop: "route-loop"
        case .ownListener: "own-listener"
        case .rejected: "rejected"
        case .unknownFakeAddress: "unknown-fake-address"
        case .familyOff: "ipv6-off"
        case .switched: "switched"
        case .shutdown: "shutdown"
        }
    }

    /// Whether somebody did not get what they wanted.
    public var isFailure: Bool {
        if case .closed = self { false } else { true }
    }
}
