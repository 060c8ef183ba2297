/// The other end of one of the gateway's sockets: an upstream's connection, or a client of an inbound.

import Addresses
import LinuxIO

final class Peer {
    private var socket: Socket?
    private(set) var received: [UInt8] = []
    /// The gateway has finished sending.
    private(set) var isEnded = false
    /// Why the connection is over, if it failed.
    private(set) var failure: ErrorNumber?
    /// Whether what comes is read: one that is not makes the gateway wait.
    var isReading = true

    init(_ socket: consuming Socket) { self.socket = .some(socket) }

    /// Connects to a listener of the gateway.
    init(to address: SocketAddress) throws { socket = try Socket.connectTCP(to: address) }

    var text: String { String(decoding: received, as: UTF8.self) }

    /// Whether the gateway has let the connection go, one way or the other.
    var isOver: Bool { isEnded || failure != nil }

    /// Whether this end was closed by the test.
    var isClosed: Bool {
        switch socket {
        case .some: false
        case .none: true
        }
    }

    /// Sends as much as the socket takes and returns how much that was.
    @discardableResult func send(_ bytes: [UInt8]) -> Int {
        if case .bytes(let count) = socket?.write(bytes.span) { count } else { 0 }
    }

    @discardableResult func send(_ text: String) -> Int { send(Array(text.utf8)) }

    /// Takes what was received so far.
    func take() -> String {
        defer { received = [] }
        return text
    }

    func finish() { socket?.shutdownSend() }

    func close() { socket = nil }

    func reset() {
        socket?.resetOnClose()
        socket = nil
    }

    /// Reads what has come.
    func poll() {
        guard isReading, !isOver else { return }
        while let outcome = socket?.read(appendingTo: &received, limit: 65536) {
            switch outcome {
            case .bytes: continue
            case .wouldBlock: return
            case .end:
                isEnded = true
                return
            case .failed(let reason):
                // Not connected yet is no failure.
                if reason != .notConnected { failure = reason }
                return
            }
        }
    }
}
