/// UDP on its way from the device: most of it is refused at once, so that QUIC falls back to TCP; what a port or the
/// policy lets through has a flow with a socket of its own, and questions for a DNS server go to our own.
///
///     datagram ─▶ a flow's? ─▶ its socket
///              └▶ decideDatagram ─▶ reject: port unreachable
///                                ├▶ direct: a connected, marked socket (a name is resolved first)
///                                └▶ service: a socket to our own DNS service, the device noted in `DNSClients`

import Addresses
import Bytes
import Flows
import LinuxIO
import Streams
import Upstreams
import Wire

extension Worker {
    mutating func receiveUDP(
        _ bytes: Span<UInt8>, _ ip: IPPacket, isChecksumTrusted: Bool
    ) throws(WireError) {
        let header = try UDPHeader.parse(bytes, of: ip)
        guard ip.isUnicast else {
            counters.droppedNoise += 1
            return
        }
        let key = FlowKey(
            client: SocketAddress(ip.source, header.sourcePort),
            target: SocketAddress(ip.destination, header.destinationPort))
        let data = bytes.extracting(header.payload)
        if let handle = datagrams.find(key) { return carry(handle, data, of: bytes, ip) }
        if handsOver(bytes, key, isChecksumTrusted: isChecksumTrusted, owners: shared.datagramOwners) { return }
        // One of our own that came back would go round for ever.
        if isOwn(key, by: shared.policy) { return refuse(bytes, ip, key) }
        let flow: (kind: DatagramFlow.Kind, target: Target)
        switch decideDatagram(key) {
        case .reject: return refuse(bytes, ip, key)
        case .direct(let target): flow = (.direct, target)
        case .service:
            guard let service = shared.settings.datagrams.service else { return refuse(bytes, ip, key) }
            flow = (.service, Target(service))
        }
        guard let handle = openDatagram(key, flow.kind, flow.target) else { return refuse(bytes, ip, key) }
        if flow.kind == .direct, case .name(let name) = flow.target.host {
            carry(handle, data, of: bytes, ip)
            return resolveDatagram(name, for: handle)
        }
        let error = connectDatagram(handle, to: [flow.target.host].compactMap(\.address))
        guard let error else { return carry(handle, data, of: bytes, ip) }
        closeDatagram(handle)
        refuse(bytes, ip, key, error)
    }

    /// Refuses a datagram without making a flow of it.
    private mutating func refuse(
        _ bytes: Span<UInt8>, _ ip: IPPacket, _ key: FlowKey, _ error: ICMPError = .portUnreachable
    ) {
        guard sendError(error, about: bytes, ip) else { return }
        counters.udpRefused += 1
        logBurst("udp-refused", key)
    }

    /// Makes a flow without a socket; nil when there is no room for it.
    private mutating func openDatagram(_ key: FlowKey, _ kind: DatagramFlow.Kind, _ target: Target) -> Handle? {
        guard datagrams.hasRoom(for: key.client.address, kind) else {
            counters.udpLimitHits += 1
            let settings = shared.settings.datagrams
            say(
                .datagramFlows, limit: datagrams.isFull ? settings.flows : settings.flowsPerDevice, key.client.address)
            return nil
        }
        if let owners = shared.datagramOwners, owners.claim(key, for: index, now: now) != index { return nil }
        counters.udpFlowsOpened += 1
        var flow = DatagramFlow(key: key, kind: kind, target: target, mtu: shared.settings.tcp.interfaceMTU, at: now)
        if let names = shared.names, names.isFake(key.target.address),
            case .fake = names.open(key.target.address, for: key.client.address, now: now)
        {
            flow.holdsFakeAddress = true
        }
        return datagrams.insert(flow)
    }

    /// Opens the socket of a flow to the first of these addresses that can be reached; says what the device is told
    /// when there is none.
    private mutating func connectDatagram(_ handle: Handle, to addresses: [IPAddress]) -> ICMPError? {
        let flow = (kind: datagrams.flows[handle].kind, target: datagrams.flows[handle].target)
        var error = ICMPError.portUnreachable
        for address in addresses {
            // Only our own service may be on this machine.
            if flow.kind == .direct, shared.policy.direct.settings.policy.refusesDirect(address) { continue }
            do throws(SystemCallError) {
                let socket = try DatagramSocket.connect(
                    to: SocketAddress(address, flow.target.port), mark: shared.policy.direct.settings.mark)
                guard DescriptorLimit.leavesReserve(socket.descriptor.number) else {
                    noteDescriptorShortage()
                    return .portUnreachable
                }
                let token = Token.datagram(index: handle.index, generation: handle.generation)
                try poller.add(socket.descriptor.number, token: token.rawValue, events: .readable)
                if flow.kind == .service { noteService(handle, socket.localAddress?.port) }
                datagrams.flows[handle].socket = consume socket
                datagrams.flows[handle].isOutsideIPv4 = address.isIPv4
                return nil
            } catch {
                guard !error.errno.isDescriptorShortage else {
                    noteDescriptorShortage()
                    return .portUnreachable
                }
            }
            error = .hostUnreachable
        }
        return error
    }

    private mutating func noteService(_ handle: Handle, _ port: UInt16?) {
        guard let port else { return }
        datagrams.flows[handle].servicePort = port
        shared.dnsClients.add(port, over: .udp, for: datagrams.flows[handle].key.client.address)
    }

    /// Takes a datagram of a flow on, or keeps it until there is a socket.
    private mutating func carry(_ handle: Handle, _ data: Span<UInt8>, of packet: Span<UInt8>, _ ip: IPPacket) {
        datagrams.flows[handle].note(packet, ip)
        datagrams.flows[handle].asked += 1
        let isService = datagrams.flows[handle].kind == .service
        datagrams.keep(
            handle, until: now + (isService ? shared.settings.datagrams.serviceIdle : shared.settings.datagrams.idle))
        guard datagrams.flows[handle].socket != nil else {
            if !datagrams.flows[handle].hold(data) { counters.udpDropped += 1 }
            return
        }
        // What the device did not let be cut we don't cut either: it learns the path's MTU instead.
        let mayFragment = Self.mayBeFragmented(packet, ip, mtu: shared.settings.tcp.interfaceMTU)
        if datagrams.flows[handle].mayFragment != mayFragment {
            datagrams.flows[handle].mayFragment = mayFragment
            datagrams.flows[handle].socket.value.setMayFragment(
                mayFragment, isIPv4: datagrams.flows[handle].isOutsideIPv4)
        }
        sendOutside(data, of: handle)
    }

    private mutating func sendOutside(_ data: Span<UInt8>, of handle: Handle) {
        var outcome = datagrams.flows[handle].socket.value.send(data)
        if case .failed(let reason) = outcome, reason != .messageTooLong {
            // That was about an earlier one; this one was not sent.
            datagramFailed(handle, reason)
            outcome = datagrams.flows[handle].socket.value.send(data)
        }
        switch outcome {
        case .sent:
            counters.udpCarried += 1
            datagrams.flows[handle].up += data.count
        case .wouldBlock: counters.udpDropped += 1
        case .failed(let reason):
            counters.udpDropped += 1
            datagramFailed(handle, reason)
        }
    }

    /// Whether a datagram may be cut: DF is clear (RFC 791, section 3.1), or over IPv6 it came in fragments itself.
    private static func mayBeFragmented(_ packet: Span<UInt8>, _ ip: IPPacket, mtu: Int) -> Bool {
        ip.source.isIPv4 ? packet[6] & 0x40 == 0 : ip.payload.upperBound > mtu
    }

    // MARK: Names

    /// Asks for the addresses of a flow's target; `datagramResolved` takes the answer.
    private mutating func resolveDatagram(_ name: String, for handle: Handle) {
        let isFirst = datagrams.waiting[name] == nil
        datagrams.waiting[name, default: []].append(handle)
        if isFirst, !resolve(name, isTarget: true) { datagramsResolved(name, []) }
    }

    /// Takes the addresses of a name, none of them when it has none, for all flows that wait for it.
    mutating func datagramsResolved(_ name: String, _ addresses: [IPAddress]) {
        for handle in datagrams.waiting.removeValue(forKey: name) ?? [] where datagrams.flows.contains(handle) {
            if let error = connectDatagram(handle, to: addresses) {
                sendError(error, about: handle)
                closeDatagram(handle)
                continue
            }
            for data in datagrams.flows[handle].takeHeld() { sendOutside(data.span, of: handle) }
        }
    }

    // MARK: The end

    /// Ends the flows for which nothing has come for a while.
    mutating func expireDatagrams() {
        while let handle = datagrams.expire(now) { closeDatagram(handle) }
    }

    /// Takes a flow out of every table and closes its socket.
    mutating func closeDatagram(_ handle: Handle) {
        let flow = datagrams.remove(handle)
        if let port = flow.servicePort { shared.dnsClients.remove(port, over: .udp) }
        if flow.holdsFakeAddress { shared.names?.close(flow.key.target.address, now: now) }
        shared.datagramOwners?.release(flow.key, by: index)
        guard flow.kind == .direct, shared.settings.flowLog == .all else { return }
        let elapsed = Int((now - flow.opened).milliseconds)
        log(.info, "udp") { line in
            line.add("client", flow.key.client.description)
            line.add("target", flow.target.description)
            line.add("up", flow.up)
            line.add("down", flow.down)
            line.add("ms", elapsed)
        }
    }
}

extension Host {
    /// The address, if it is one.
    fileprivate var address: IPAddress? {
        if case .address(let address) = self { address } else { nil }
    }
}
