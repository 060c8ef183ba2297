/// Where clients of the control API come in, and what each kind of door lets them do.

public import Addresses
public import LinuxIO

/// A listening socket of the control API.
public final class ControlDoor: Sendable {
    /// What those who come by it may do.
    private enum Kind {
        case local
        case signed
        case figures
    }

    let socket: Socket
    private let kind: Kind
    /// Who may connect over TCP.
    private let allow: [IPPrefix]

    /// A Unix socket.
    public init(unix socket: consuming Socket) {
        self.socket = socket
        kind = .local
        allow = []
    }

    /// A TCP listener for those who sign; whoever is in none of the networks is turned away.
    public init(tcp socket: consuming Socket, allow: [IPPrefix]) {
        self.socket = socket
        kind = .signed
        self.allow = allow
    }

    /// A TCP listener for those who gather figures.
    public init(figures socket: consuming Socket, allow: [IPPrefix]) {
        self.socket = socket
        kind = .figures
        self.allow = allow
    }

    /// Somebody at the door.
    struct Visitor: ~Copyable {
        var socket: Socket
        let source: ControlRequest.Source
        /// False for a stranger, who is turned away.
        var isWelcome = true

        consuming func takeSocket() -> Socket { socket }
    }

    /// Nil when nobody waits, or nobody can be taken in just now.
    func accept() -> Visitor? {
        if kind == .local {
            guard let peer = socket.acceptUnix() else { return nil }
            let source = ControlRequest.Source.local(peer.credentials)
            return Visitor(socket: peer.takeSocket(), source: source)
        }
        switch socket.accept() {
        case .accepted(let client, let address):
            let isWelcome = allow.contains { $0.contains(address.address) }
            let source = kind == .figures ? ControlRequest.Source.collector(address) : .remote(address)
            return Visitor(socket: client, source: source, isWelcome: isWelcome)
        // One each: there are no patterns of several for what can't be copied.
        case .nothing: return nil
        case .exhausted: return nil
        case .failed: return nil
        }
    }
}
