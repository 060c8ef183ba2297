/// Taking connections from a listening socket, also when descriptors run out.

public import Addresses
internal import CLinux
internal import Glibc

/// What a listening socket gave.
public enum AcceptOutcome: ~Copyable, Sendable {
    case accepted(Socket, from: SocketAddress)
    /// Nobody waits.
    case nothing
    /// Descriptors ran out (EMFILE, ENFILE): the listener stays readable, so pause it or refuse those who
    /// wait with `refuseNext`, or the loop spins.
    case exhausted
    case failed(ErrorNumber)
}

extension Socket {
    /// Takes the next connection of a listening socket, with TCP_NODELAY.
    ///
    /// Connections that ended before they were taken are passed over.
    public func accept() -> AcceptOutcome {
        while true {
            let (result, peer) = unsafe SocketAddress.filled { address, length in
                unsafe clinux_accept(descriptor.number, address, length)
            }
            if result >= 0 {
                let socket = Socket(owning: OwnedDescriptor(owning: result))
                guard let peer else { continue }
                socket.setNoDelay()
                return .accepted(socket, from: peer)
            }
            switch -result {
            case EAGAIN: return .nothing
            case EMFILE, ENFILE, ENOBUFS, ENOMEM: return .exhausted
            // accept(2): errors of the network that wait on the new connection are to be treated like "again".
            case EINTR, ECONNABORTED, EPROTO, ENETDOWN, ENOPROTOOPT, EHOSTDOWN, EHOSTUNREACH, ENETUNREACH, EPERM:
                continue
            default: return .failed(ErrorNumber(rawValue: -result))
            }
        }
    }

    private func resetNext() -> Bool {
        guard case .accepted(let socket, from: _) = accept() else { return false }
        socket.resetOnClose()
        return true
    }

    /// Refuses the next waiting connection with the help of the reserve: it is taken and reset.
    ///
    /// Returns false when nobody waits or the reserve is not there.
    public func refuseNext(using reserve: inout ReserveDescriptor) -> Bool {
        guard reserve.isHeld else { return false }
        reserve.giveUp()
        let refused = resetNext()
        reserve.takeBack()
        return refused
    }
}

/// A descriptor held so that one is left when there is none: given up for a moment to refuse who waits.
public struct ReserveDescriptor: ~Copyable, Sendable {
    private var descriptor: OwnedDescriptor?

    public init() { takeBack() }

    /// Whether the reserve is there.
    public var isHeld: Bool {
        switch descriptor {
        case .some: true
        case .none: false
        }
    }

    /// Closes the reserve, so that one descriptor can be opened.
    public mutating func giveUp() { descriptor = nil }

    /// Opens the reserve again; it stays away when somebody else took the place.
    public mutating func takeBack() {
        if isHeld { return }
        let number = unsafe clinux_open("/dev/null", O_RDONLY, 0)
        if number >= 0 { descriptor = OwnedDescriptor(owning: number) }
    }
}
