/// Asking the upstream for a stream, and what its answer means for the client.

import Addresses
import Bytes
import Flows
import LinuxIO
import Relay
import Streams
import Upstreams
import Wire

extension Worker {
    /// Begins to ask the flow's upstream for its target.
    mutating func dial(_ handle: Handle) {
        guard let target = flows[handle].target, let upstream = flows[handle].outbound else {
            preconditionFailure("a dial without target")
        }
        refreshAddresses(of: upstream)
        var request = Dial(to: target, through: upstream, for: identity(of: handle), now: now)
        request.prefersAbsoluteForm = flows[handle].asksInAbsoluteForm
        let dial = dials.insert(request)
        flows[handle].dial = dial
        let progress = dials[dial].start(
            memory: &memories[upstream.number, default: UpstreamMemory()], buffers: &dialBuffers, now: now)
        follow(progress, of: handle)
    }

    /// Takes an event of an upstream's socket, whether it is still dialled or open already.
    mutating func takeUpstream(_ event: PolledEvent, slot: Int, of handle: Handle) {
        guard let dial = flows[handle].dial else {
            flows[handle].upstream?.note(event)
            touch(handle)
            return
        }
        let upstream = dials[dial].upstreamNumber
        let progress = dials[dial].ready(
            slot: UInt8(slot), event, memory: &memories[upstream, default: UpstreamMemory()], buffers: &dialBuffers,
            now: now)
        follow(progress, of: handle)
    }

    /// Does what the dial asks for.
    mutating func follow(_ progress: DialProgress, of handle: Handle) {
        guard let dial = flows[handle].dial else { return }
        switch progress {
        case .waiting: break
        case .register(let descriptor, let slot, let needsWritable):
            guard DescriptorLimit.leavesReserve(descriptor) else { return failed(.noDescriptors, handle) }
            let token = Token.upstream(index: handle.index, generation: handle.generation, slot: Int(slot))
            do throws(SystemCallError) {
                try poller.add(
                    descriptor, token: token.rawValue, events: needsWritable ? .everything : .reading, edge: true)
            } catch {
                return failed(.noDescriptors, handle)
            }
        case .needsName(let name):
            let isFirst = asked[name] == nil
            guard !isFirst || resolve(name, isTarget: flows[handle].outbound?.server == nil) else {
                return resolved([], dial, handle)
            }
            asked[name, default: []].append(handle)
        case .open(let opening):
            return opened(opening, handle)
        case .failed(let failure):
            return failed(failure, handle)
        }
        touch(handle)
    }

    /// Watches an upstream for writing too, from its first short write on: most flows never fill their socket.
    mutating func watchWritable(_ handle: Handle) {
        let token = Token.upstream(
            index: handle.index, generation: handle.generation, slot: Int(flows[handle].upstreamSlot))
        let descriptor = flows[handle].upstream.value.socket.descriptor.number
        do throws(SystemCallError) {
            try poller.modify(descriptor, token: token.rawValue, events: .everything, edge: true)
            flows[handle].upstream.value.watchesWritable = true
        } catch {
            flows[handle].isBroken = true
        }
    }

    /// Asks for the upstream's addresses again when they are old; dials go on with those that are known.
    private mutating func refreshAddresses(of upstream: Upstream) {
        guard case .name(let name) = upstream.server?.host, memories[upstream.number]?.isStale(at: now) ?? false,
            asked[name] == nil, resolver.resolve(name, ticket: 0)
        else { return }
        asked[name] = []
    }

    /// Asks for a name's addresses: a target's of our own service, which never gives us a fake one.
    func resolve(_ name: String, isTarget: Bool) -> Bool {
        guard isTarget, let service = shared.service else { return resolver.resolve(name, ticket: 0) }
        let mailbox = shared.mailboxes[index]
        return service.resolve(NameRequest(name: name, ticket: 0) { mailbox.send(.resolved($0)) })
    }

    /// Takes answers of the resolver to the dials that wait for them.
    mutating func collectNames() {
        while let resolution = resolver.nextResult() { take(resolution) }
    }

    mutating func take(_ resolution: Resolution) {
        let addresses = (try? resolution.result.get()) ?? []
        for upstream in shared.policy.upstreams where upstream.server?.host == .name(resolution.name) {
            memories[upstream.number, default: UpstreamMemory()].learn(addresses, at: now)
        }
        datagramsResolved(resolution.name, addresses)
        for handle in asked.removeValue(forKey: resolution.name) ?? [] {
            guard flows.contains(handle), let dial = flows[handle].dial else { continue }
            resolved(addresses, dial, handle)
        }
    }

    private mutating func resolved(_ addresses: [IPAddress], _ dial: Handle, _ handle: Handle) {
        let upstream = dials[dial].upstreamNumber
        let progress = dials[dial].resolved(
            addresses, memory: &memories[upstream, default: UpstreamMemory()], buffers: &dialBuffers, now: now)
        follow(progress, of: handle)
    }

    /// The upstream has said yes: the client is accepted, and what the upstream sent already is its first bytes.
    private mutating func opened(_ opening: Opening, _ handle: Handle) {
        guard let dial = flows[handle].dial else { return }
        flows[handle].dial = nil
        var ended = dials.remove(dial)
        let dialled = ended.startedAt
        let socket = ended.takeSocket()
        flows[handle].upstream = SocketEnd(
            socket, isReadable: opening.mayRead, isWritable: true, mayHaveEnded: opening.mayRead,
            watchesWritable: opening.watchesWritable)
        flows[handle].upstreamSlot = opening.slot
        if let outbound = flows[handle].outbound, let target = flows[handle].target,
            outbound.noteOpened(target, took: now - dialled, at: now)
        {
            shared.tellOfUpstreams()
        }
        let time = now
        if flows[handle].origin == .tunnel {
            activities.change(flows[handle].key.client.address) { $0.lastAccepted = time }
        }
        noteRequest(handle)
        flows[handle].relay.restart(at: now)
        if opening.inAbsoluteForm, !flows[handle].asksInAbsoluteForm { sayAbsoluteForm() }
        if opening.inAbsoluteForm || flows[handle].isPlainRequest {
            beginForwarding(handle, inAbsoluteForm: opening.inAbsoluteForm)
        }
        if flows[handle].endpoint != nil {
            if flows[handle].isQuestion { noteDNSClient(handle) }
            flows[handle].endpoint.value.accept()
        } else {
            acceptInbound(handle)
        }
        if !opening.leftover.isEmpty {
            // Taken out while it is looked at, so that the worker can be changed at the same time.
            var buffers = DialBuffers(capacity: 0)
            swap(&buffers, &dialBuffers)
            deliver(buffers.input.span.extracting(opening.leftover), to: handle)
            swap(&buffers, &dialBuffers)
            guard flows.contains(handle) else { return }
        }
        touch(handle)
    }

    /// Says once what plain http has changed to, because it explains what people see in the proxy's log.
    private mutating func sayAbsoluteForm() {
        guard !hasSaidAbsoluteForm else { return }
        hasSaidAbsoluteForm = true
        log(.notice, "http80") { line in
            line.add("form", "absolute")
            line.add("cause", "the upstream takes no CONNECT to port 80, or the profile says so")
        }
    }

    /// The upstream has said no: a refused connection for a device, a reply for an inbound client.
    mutating func failed(_ failure: DialFailure, _ handle: Handle) {
        if let dial = flows[handle].dial {
            flows[handle].dial = nil
            _ = dials.remove(dial)
        }
        flows[handle].outbound?.noteFailure(failure)
        if failure == .noDescriptors { noteDescriptorShortage() }
        if failure.concernsUpstream {
            shared.tellOfUpstreams()
            if tryNext(handle) { return }
        }
        let target = flows[handle].target ?? Target(flows[handle].key.target)
        let reason = CloseReason.refused(failure.sentence(for: target))
        counters.flowsRefused += 1
        if flows[handle].endpoint != nil {
            return abort(handle, because: reason)
        }
        flows[handle].ends(reason)
        refuseInbound(handle, failure, reason.words)
        touch(handle)
    }

    /// Asks the next upstream of a group, if there is one: nothing of the client has gone to the one that failed.
    private mutating func tryNext(_ handle: Handle) -> Bool {
        guard !flows[handle].others.isEmpty else { return false }
        flows[handle].outbound = flows[handle].others.removeFirst()
        counters.failovers += 1
        dial(handle)
        return true
    }

    /// The first octets of the upstream, which came with its yes.
    private mutating func deliver(_ bytes: Span<UInt8>, to handle: Handle) {
        flows[handle].relay.moved(bytes.count, from: .upstream, at: now)
        flows[handle].tls.server(bytes)
        guard flows[handle].endpoint != nil else { return say(bytes, to: handle) }
        if flows[handle].endpoint.value.append(bytes, pool: &pool) < bytes.count {
            abort(handle, because: .noMemory)
        }
    }

    /// What becomes of the client's FIN; a target that is dialled directly gets it at once.
    func halfClose(of handle: Handle) -> HalfClose {
        guard let upstream = flows[handle].outbound, upstream.server != nil else { return .pass }
        return upstream.settings.halfClose == .hold ? .hold : .pass
    }

    /// Who the client is, for upstreams that are told.
    func identity(of handle: Handle) -> ClientIdentity {
        ClientIdentity(address: flows[handle].key.client.address)
    }
}
