/// Clients: datagrams and TCP connections in and out.

import Addresses
import Bytes
import LinuxIO
import Names
import Wire

/// A client's TCP connection (RFC 7766).
struct ClientStream: ~Copyable, Sendable {
    let socket: Socket
    let device: IPAddress
    var received = DNSStream()
    var unsent: [UInt8] = []
    /// Its questions that wait for a resolver.
    var waiting = 0
    var lastActive: Instant
    /// Whether the client sends nothing more: it is answered, then the connection is closed.
    var isFinished = false
    var interest: Interest = .readable

    init(_ socket: consuming Socket, device: IPAddress, at now: Instant) {
        self.socket = socket
        self.device = device
        lastActive = now
    }
}

extension NameServer {
    /// How many datagrams of one port are answered before other events have their turn.
    private static var datagramsPerTurn: Int { 128 }
    /// Answers that a client does not fetch.
    private static var unsentLimit: Int { 256 << 10 }

    mutating func readDatagrams(_ index: Int) {
        var bytes: [UInt8] = []
        swap(&bytes, &input)
        defer { swap(&bytes, &input) }
        for _ in 0..<Self.datagramsPerTurn {
            var space = bytes.mutableSpan
            switch ports[index].datagrams.receive(into: &space) {
            case .datagram(let datagram):
                counters.overUDP += 1
                guard datagram.peer.port != 0, !datagram.isCut else {
                    counters.ignored += 1
                    continue
                }
                guard let device = device(datagram.peer, .udp) else { continue }
                let asker = NameAsker.datagram(port: index, peer: datagram.peer, local: datagram.local)
                answer(bytes.span.extracting(0..<datagram.count), to: asker, device: device)
            case .wouldBlock, .failed: return
            }
        }
    }

    /// The device behind a client, or nil when the client may not ask.
    private mutating func device(_ client: SocketAddress, _ transport: Transport) -> IPAddress? {
        if client.address.isLoopback { return directory.device(client, transport) ?? client.address }
        if settings.allow.contains(where: { $0.contains(client.address) }) || directory.mayAsk(client.address) {
            return client.address
        }
        counters.notAllowed += 1
        return nil
    }

    mutating func acceptStreams(_ index: Int) {
        for _ in 0..<64 {
            switch ports[index].connections.accept() {
            case .accepted(let socket, from: let peer):
                // They may take half of what flows leave.
                let number = socket.descriptor.number - CInt(DescriptorLimit.reserve / 2)
                guard DescriptorLimit.leavesReserve(number) else {
                    noteDescriptorShortage()
                    socket.resetOnClose()
                    continue
                }
                guard let device = device(peer, .tcp) else {
                    socket.resetOnClose()
                    continue
                }
                openStream(socket, device)
            case .nothing: return
            case .exhausted:
                noteDescriptorShortage()
                guard ports[index].connections.refuseNext(using: &reserve) else { return pauseStreams() }
            case .failed(let cause):
                return logSeldom(.warning, "dns-accept") { $0.add("cause", "\(cause)") }
            }
        }
    }

    private mutating func noteDescriptorShortage() {
        counters.streamsRefused += 1
        logSeldom(.warning, Bound.descriptors.rawValue) { $0.add("limit", DescriptorLimit.current().soft) }
    }

    /// Looks away from the listeners for a moment: without a descriptor for who waits there, they stay readable.
    private mutating func pauseStreams() {
        streamsResumeAt = now + .milliseconds(100)
        watchListeners(false)
    }

    /// Looks at the listeners again when their pause is over.
    mutating func resumeStreams() {
        guard streamsResumeAt <= now else { return }
        streamsResumeAt = .never
        reserve.takeBack()
        watchListeners(true)
    }

    private mutating func watchListeners(_ isWatching: Bool) {
        for (index, port) in ports.enumerated() {
            // It is in the set, so this cannot fail.
            try? poller.modify(
                port.connections.descriptor.number, token: NameServerToken.connections(index).rawValue,
                events: isWatching ? .readable : [])
        }
    }

    private mutating func openStream(_ socket: consuming Socket, _ device: IPAddress) {
        guard streams.count < settings.streamLimit || closeQuietest() else {
            counters.streamsRefused += 1
            sayStreamsAreFull()
            return socket.resetOnClose()
        }
        let descriptor = socket.descriptor.number
        let handle = streams.insert(ClientStream(socket, device: device, at: now))
        let token = NameServerToken.stream(index: handle.index, generation: handle.generation)
        do throws(SystemCallError) {
            try poller.add(descriptor, token: token.rawValue, events: .readable)
        } catch {
            return closeStream(handle)
        }
        counters.streamsOpened += 1
        if sweepAt == .never { sweepAt = now + .seconds(1) }
    }

    /// Makes room by closing the connection that was quiet for longest, if there is one without a question.
    private mutating func closeQuietest() -> Bool {
        var quietest: Handle?
        for place in 0..<streams.capacity {
            guard let handle = streams.handle(at: place), streams[handle].waiting == 0 else { continue }
            if let found = quietest, streams[found].lastActive <= streams[handle].lastActive { continue }
            quietest = handle
        }
        guard let quietest else { return false }
        counters.streamsShed += 1
        sayStreamsAreFull()
        closeStream(quietest)
        return true
    }

    private mutating func sayStreamsAreFull() {
        let limit = settings.streamLimit
        logSeldom(.warning, "dns-connection-limit") { $0.add("limit", limit) }
    }

    mutating func serveStream(_ handle: Handle, _ event: PolledEvent) {
        if event.writable {
            push(handle)
            answerStream(handle)
        }
        guard streams.contains(handle), event.readable || event.hungUp || event.error else { return }
        var bytes: [UInt8] = []
        swap(&bytes, &scratch)
        defer { swap(&bytes, &scratch) }
        var space = bytes.mutableSpan
        switch streams[handle].socket.read(into: &space) {
        case .bytes(let count):
            streams[handle].lastActive = now
            streams[handle].received.append(bytes.span.extracting(0..<count))
        case .wouldBlock: return
        case .end: streams[handle].isFinished = true
        case .failed: return closeStream(handle)
        }
        answerStream(handle)
    }

    /// Answers the questions that have come whole, as many at a time as are allowed.
    mutating func answerStream(_ handle: Handle) {
        while streams.contains(handle), hasRoom(handle) {
            guard let message = streams[handle].received.next() else { break }
            counters.overTCP += 1
            guard message.count >= DNSHeader.length else {
                // Whoever sends this does not speak DNS.
                counters.malformed += 1
                return closeStream(handle)
            }
            answer(message.span, to: .stream(handle), device: streams[handle].device)
        }
        settleStream(handle)
    }

    /// Whether more of the client's questions can be taken.
    private func hasRoom(_ handle: Handle) -> Bool {
        streams[handle].waiting < settings.questionsPerStream && streams[handle].unsent.count < Self.unsentLimit
    }

    /// Sends what the client takes.
    mutating func push(_ handle: Handle) {
        guard streams.contains(handle), !streams[handle].unsent.isEmpty else { return }
        let unsent = streams[handle].unsent
        switch streams[handle].socket.write(unsent.span) {
        case .bytes(let count):
            streams[handle].unsent.removeFirst(count)
            streams[handle].lastActive = now
        case .wouldBlock: break
        case .failed: return closeStream(handle)
        }
        settleStream(handle)
    }

    /// Waits for what can happen next, or closes what is over.
    private mutating func settleStream(_ handle: Handle) {
        guard streams.contains(handle) else { return }
        let isIdle =
            streams[handle].waiting == 0 && streams[handle].unsent.isEmpty && !streams[handle].received.hasMessage
        if streams[handle].isFinished, isIdle { return closeStream(handle) }
        var interest: Interest = []
        if !streams[handle].isFinished, hasRoom(handle) { interest.insert(.readable) }
        if !streams[handle].unsent.isEmpty { interest.insert(.writable) }
        guard interest != streams[handle].interest else { return }
        streams[handle].interest = interest
        let token = NameServerToken.stream(index: handle.index, generation: handle.generation)
        do throws(SystemCallError) {
            try poller.modify(streams[handle].socket.descriptor.number, token: token.rawValue, events: interest)
        } catch {
            closeStream(handle)
        }
    }

    private mutating func closeStream(_ handle: Handle) { _ = streams.remove(handle) }

    /// Goes on with streams that waited for answers, and closes those that were quiet for too long.
    mutating func sweepStreams() {
        guard sweepAt <= now else { return }
        for place in 0..<streams.capacity {
            guard let handle = streams.handle(at: place) else { continue }
            let quiet = now - streams[handle].lastActive
            // With a question or an answer on its way it is the resolver, or the client's line, that is slow.
            let isBusy = streams[handle].waiting > 0 || !streams[handle].unsent.isEmpty
            guard quiet >= (isBusy ? settings.streamIdle * 3 : settings.streamIdle) else { continue }
            counters.streamsIdle += 1
            closeStream(handle)
        }
        sweepAt = streams.count == 0 ? .never : now + .seconds(1)
    }
}
