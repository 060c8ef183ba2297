/// What a worker is made of before its thread runs: everything here was opened already, so that what fails is
/// told to whoever starts it.

import LinuxIO
import Synchronization

struct WorkerSeed: ~Copyable, Sendable {
    let index: Int
    let shared: Shared
    var queue: TunnelQueue?
    var poller: Poller
    let resolver: NameResolver

    /// Registers what the worker listens to from its first turn.
    func watch() throws(SystemCallError) {
        if let descriptor = queueDescriptor {
            try poller.add(descriptor, token: Token.tunnel.rawValue, events: .readable)
        }
        let bell = shared.mailboxes[index].bell
        try poller.add(bell.descriptor.number, token: Token.mailbox.rawValue, events: .readable)
        for (position, listener) in shared.listeners.enumerated() {
            let token = Token.listener(position)
            try poller.addShared(listener.socket.descriptor.number, token: token.rawValue, events: .readable)
        }
    }

    private var queueDescriptor: CInt? {
        switch queue {
        case .some(let queue): queue.descriptor.number
        case .none: nil
        }
    }
}

/// A listening socket that all workers accept from.
final class Listener: Sendable {
    let settings: GatewaySettings.Listener
    let socket: Socket

    init(_ settings: GatewaySettings.Listener, _ socket: consuming Socket) {
        self.settings = settings
        self.socket = socket
    }
}

/// Keeps a running thread until it is joined, once.
final class WorkerThreadBox: Sendable {
    private let thread: Mutex<WorkerThread?>

    init(_ thread: consuming WorkerThread) {
        self.thread = Mutex(thread)
    }

    func join() {
        let thread = thread.withLock { $0.take() }
        switch consume thread {
        case .some(let running): running.join()
        case .none: break
        }
    }
}
