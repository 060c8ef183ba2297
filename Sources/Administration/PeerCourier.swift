/// Takes what peers are told to them, beside everything else: a peer that hangs holds up nothing.

import Addresses
import Bytes
import Control
import LinuxIO
import Profiles
import Synchronization

/// Sends requests to peers, each from a thread of its own, and rings when there is an answer.
final class PeerCourier: Sendable {
    /// How long a peer has for an answer.
    static let patience = Interval.seconds(5)
    /// The most octets of an answer.
    private static let limit = 256 << 10

    /// What is carried.
    struct Errand: Sendable {
        /// The id of the peer.
        var peer: String
        var address: SocketAddress
        /// The whole request, head and body.
        var request: [UInt8]
        /// The routing mark of our own sockets.
        var mark: UInt32?
    }

    /// What came of it: an answer, or why there is none.
    struct Outcome: Sendable {
        var peer: String
        var reply: Result<ControlReply, ExchangeError>
    }

    private let outcomes = Mutex<[Outcome]>([])
    /// Rung when there is one.
    let bell: WakeUp

    init() throws(SystemCallError) { bell = try WakeUp() }

    /// Carries a request to a peer; false without a thread for it.
    func begin(_ errand: Errand) -> Bool {
        do throws(SystemCallError) {
            try WorkerThread.startDetached(name: "peer") { [self] in
                put(Outcome(peer: errand.peer, reply: Self.run(errand)))
            }
            return true
        } catch {
            return false
        }
    }

    private static func run(_ errand: Errand) -> Result<ControlReply, ExchangeError> {
        do throws(ExchangeError) {
            let socket: Socket
            do throws(SystemCallError) {
                socket = try Socket.connectTCP(to: errand.address, mark: errand.mark)
            } catch {
                throw .system(error)
            }
            return .success(
                try HTTPExchange.run(
                    socket, request: errand.request, limit: limit, until: Clock.now() + patience))
        } catch {
            return .failure(error)
        }
    }

    private func put(_ outcome: Outcome) {
        outcomes.withLock { $0.append(outcome) }
        bell.wake()
    }

    /// What came since the last call.
    func takeAll() -> [Outcome] {
        bell.clear()
        return outcomes.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
    }
}
