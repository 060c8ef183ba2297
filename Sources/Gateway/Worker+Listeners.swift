/// Taking the clients of the SOCKS5 and HTTP listeners, also when descriptors run out.

import Addresses
import Bytes
import Flows
import LinuxIO
import Relay

extension Worker {
    /// How many clients are taken in one turn.
    private static var acceptsPerTurn: Int { 64 }

    mutating func acceptClients(_ position: Int) {
        for _ in 0..<Self.acceptsPerTurn {
            switch shared.listeners[position].socket.accept() {
            case .accepted(let socket, from: let peer):
                guard DescriptorLimit.leavesReserve(socket.descriptor.number) else {
                    noteDescriptorShortage()
                    socket.resetOnClose()
                    continue
                }
                greet(socket, peer, listener: position)
            case .nothing:
                return
            case .exhausted:
                noteDescriptorShortage()
                // Refusing at once is better than leaving them to wait for a descriptor.
                guard shared.listeners[position].socket.refuseNext(using: &reserve) else { return pauseListeners() }
            case .failed(let cause):
                log(.warning, "accept") { $0.add("cause", "\(cause)") }
                return pauseListeners()
            }
        }
    }

    /// Looks away from the listeners for a moment: without a descriptor for who waits there, they stay readable.
    private mutating func pauseListeners() {
        listenersResumeAt = now + .milliseconds(100)
        for listener in shared.listeners { poller.remove(listener.socket.descriptor.number) }
    }

    /// Looks at the listeners again when their pause is over.
    mutating func resumeListeners() {
        guard listenersResumeAt <= now else { return }
        listenersResumeAt = .never
        reserve.takeBack()
        for (position, listener) in shared.listeners.enumerated() {
            let token = Token.listener(position)
            // It was in the set before, and then this cannot fail.
            try? poller.addShared(listener.socket.descriptor.number, token: token.rawValue, events: .readable)
        }
    }

    private mutating func greet(_ socket: consuming Socket, _ peer: SocketAddress, listener position: Int) {
        let listener = shared.listeners[position].settings
        let isAllowed =
            listener.allow.isEmpty ? peer.address.isLoopback : listener.allow.contains { $0.contains(peer.address) }
        guard isAllowed else {
            counters.clientsNotAllowed += 1
            return socket.resetOnClose()
        }
        if let reason = makeRoom(for: peer.address) {
            counters.flowsRefused += 1
            logBurst(reason.kind, FlowKey(client: peer, target: listener.address))
            return socket.resetOnClose()
        }
        let descriptor = socket.descriptor.number
        var flow = Flow(
            key: FlowKey(client: peer, target: listener.address), origin: .listener(position), at: now)
        flow.client = SocketEnd(socket, isReadable: true, isWritable: true)
        let handle = flows.insert(flow)
        shares.add(peer.address)
        flows[handle].session = sessions.insert(session(of: listener))
        countOpened(.listener(position))
        let token = Token.client(index: handle.index, generation: handle.generation)
        do throws(SystemCallError) {
            try poller.add(
                descriptor, token: token.rawValue, events: [.readable, .writable, .peerFinished], edge: true)
        } catch {
            return abort(handle, because: .noDescriptors)
        }
        touch(handle)
    }
}
