/// Resolvers: which ones, their sockets, and what comes back.

import Addresses
import Bytes
import LinuxIO
import Names
import Wire

/// A socket to a resolver, for one exchange.
struct ResolverLine: ~Copyable, Sendable {
    let exchange: UInt64
    /// One of the two is there.
    var datagrams: DatagramSocket?
    var stream: Socket?
    var unsent: [UInt8] = []
    var received = DNSStream()

    init(_ exchange: UInt64) { self.exchange = exchange }
}

/// The resolvers of the machine's own network, as its files name them.
struct SystemResolvers: Sendable {
    var readAt: Instant?
    var contents: [[UInt8]] = []
    var list = ResolverList()
}

extension NameServer {
    /// Does what the resolver client wants done, and what follows from it.
    mutating func carryOut() {
        while true {
            let actions = resolver.takeActions()
            if actions.isEmpty { return }
            for action in actions { carryOut(action) }
        }
    }

    private mutating func carryOut(_ action: ResolverAction) {
        switch action {
        case .send(let exchange, let address, let message): sendDatagram(exchange, address, message)
        case .connect(let exchange, let address, let message): openStream(exchange, address, message)
        case .close(let exchange):
            if let handle = lineOf.removeValue(forKey: exchange) { _ = lines.remove(handle) }
        case .answer(let tickets, let key, let answer): handOut(answer, of: key, to: tickets)
        case .changed(let address, let isDead):
            log(isDead ? .warning : .notice, isDead ? "dns-resolver-dead" : "dns-resolver-alive") {
                $0.add("resolver", address.description)
            }
        }
    }

    private mutating func handOut(_ answer: DNSAnswer?, of key: AnswerKey, to tickets: [UInt64]) {
        var answer = answer
        let isFake = directory.isFake
        if let found = answer, found.addresses.contains(where: { isFake($0) }) {
            // Another gateway's fake address, or our own answer that came around: it would lead to a wrong name.
            counters.fakeFromResolver += 1
            logSeldom(.warning, "dns-fake-from-resolver") { $0.add("name", key.name) }
            answer = nil
        }
        if let answer { cache.insert(key, answer, now: now) }
        var streams: [Handle] = []
        for ticket in tickets {
            let handle = Handle(packed: ticket)
            if pending.contains(handle), case .stream(let stream) = pending[handle].asker { streams.append(stream) }
            finish(ticket, answer)
        }
        // Questions of theirs may have been left while too many of them waited.
        for stream in streams { answerStream(stream) }
    }

    private mutating func sendDatagram(_ exchange: UInt64, _ address: SocketAddress, _ message: [UInt8]) {
        do throws(SystemCallError) {
            let socket = try DatagramSocket.connect(to: address, mark: settings.mark)
            let sending = socket.send(message.span)
            let descriptor = socket.descriptor.number
            var line = ResolverLine(exchange)
            line.datagrams = .some(consume socket)
            try watch(line, descriptor, .readable)
            if case .failed = sending { resolver.failed(exchange, now: now, random: &random) }
        } catch {
            noteUnreachable(exchange, error)
        }
    }

    private mutating func openStream(_ exchange: UInt64, _ address: SocketAddress, _ message: [UInt8]) {
        do throws(SystemCallError) {
            let socket = try Socket.connectTCP(to: address, mark: settings.mark)
            let descriptor = socket.descriptor.number
            var line = ResolverLine(exchange)
            line.stream = .some(consume socket)
            DNSStream.write(message.span, into: &line.unsent)
            try watch(line, descriptor, .writable)
        } catch {
            noteUnreachable(exchange, error)
        }
    }

    private mutating func watch(
        _ line: consuming ResolverLine, _ descriptor: CInt, _ interest: Interest
    ) throws(SystemCallError) {
        let exchange = line.exchange
        let handle = lines.insert(line)
        lineOf[exchange] = handle
        let token = NameServerToken.line(index: handle.index, generation: handle.generation)
        try poller.add(descriptor, token: token.rawValue, events: interest)
    }

    private mutating func noteUnreachable(_ exchange: UInt64, _ error: SystemCallError) {
        logSeldom(.warning, "dns-resolver-unreachable") { $0.add("cause", "\(error)") }
        resolver.failed(exchange, now: now, random: &random)
    }

    mutating func serveLine(_ handle: Handle) {
        var bytes: [UInt8] = []
        swap(&bytes, &scratch)
        defer { swap(&bytes, &scratch) }
        let exchange = lines[handle].exchange
        if lines[handle].stream != nil { return serveStreamLine(handle, exchange, &bytes) }
        var space = bytes.mutableSpan
        switch lines[handle].datagrams.value.receive(into: &space) {
        case .datagram(let datagram):
            resolver.receive(bytes.span.extracting(0..<datagram.count), for: exchange, now: now, random: &random)
        case .wouldBlock: return
        case .failed: resolver.failed(exchange, now: now, random: &random)
        }
    }

    private mutating func serveStreamLine(_ handle: Handle, _ exchange: UInt64, _ bytes: inout [UInt8]) {
        if !lines[handle].unsent.isEmpty {
            if !sendRest(handle) { resolver.failed(exchange, now: now, random: &random) }
            return
        }
        var space = bytes.mutableSpan
        switch lines[handle].stream.value.read(into: &space) {
        case .bytes(let count):
            lines[handle].received.append(bytes.span.extracting(0..<count))
            while lines.contains(handle), let message = lines[handle].received.next() {
                resolver.receive(message.span, for: exchange, now: now, random: &random)
                carryOut()
            }
        case .wouldBlock: return
        case .end, .failed: resolver.failed(exchange, now: now, random: &random)
        }
    }

    /// Sends what is left of a question, then waits for the answer; false when the connection failed.
    private mutating func sendRest(_ handle: Handle) -> Bool {
        let unsent = lines[handle].unsent
        switch lines[handle].stream.value.write(unsent.span) {
        case .bytes(let count): lines[handle].unsent.removeFirst(count)
        case .wouldBlock: return true
        case .failed: return false
        }
        guard lines[handle].unsent.isEmpty else { return true }
        let token = NameServerToken.line(index: handle.index, generation: handle.generation)
        let descriptor = lines[handle].stream.value.descriptor.number
        do throws(SystemCallError) {
            try poller.modify(descriptor, token: token.rawValue, events: .readable)
            return true
        } catch {
            return false
        }
    }
}

extension NameServer {
    /// How often the resolver files are read again, while there are questions.
    private static var rereadInterval: Interval { .seconds(2) }

    /// Reads the resolver files again, and goes on with what they say.
    mutating func refreshResolvers(isForced: Bool = false) {
        guard settings.resolvers.contains(.system) || isForced else { return }
        if !isForced, let readAt = systemResolvers.readAt, now - readAt < Self.rereadInterval { return }
        systemResolvers.readAt = now
        let contents = settings.resolverFiles.map { (try? SmallFile.read($0, limit: 64 << 10)) ?? [] }
        guard contents != systemResolvers.contents || isForced else { return }
        systemResolvers.contents = contents
        systemResolvers.list = Self.list(contents.map { ResolverList.parse(String(decoding: $0, as: UTF8.self)) })
        var answers = settings.answers
        if settings.keepsSearchDomainsReal, settings.resolvers.contains(.system) {
            answers.localNames += systemResolvers.list.domains
        }
        rules = AnswerRules(answers, isFake: directory.isFake)
        goOn(with: servers(), isForced: isForced)
    }

    /// What several files say together: the first one's servers, unless they are stubs on this machine and another file
    /// knows whom those ask.
    private static func list(_ files: [ResolverList]) -> ResolverList {
        var list = files.first ?? ResolverList()
        for file in files where !file.withoutStubs.isEmpty {
            list.servers = file.withoutStubs
            break
        }
        return list
    }

    private func servers() -> [SocketAddress] {
        var found: [SocketAddress] = []
        for resolver in settings.resolvers {
            switch resolver {
            case .address(let address): found.append(address)
            case .system: found += systemResolvers.list.servers.map { SocketAddress($0, 53) }
            }
        }
        var seen: Set<SocketAddress> = []
        return found.filter { !isOurs($0) && seen.insert($0).inserted }
    }

    /// Whether we would ask ourselves.
    private func isOurs(_ address: SocketAddress) -> Bool {
        directory.isFake(address.address) || settings.answers.gateway.contains(address.address)
            || ports.contains { $0.address == address }
    }

    private mutating func goOn(with servers: [SocketAddress], isForced: Bool) {
        guard servers != resolver.settings.servers || isForced else { return }
        resolver.replaceServers(servers)
        // Another network may have other answers.
        cache.removeAll()
        if servers.isEmpty {
            return log(.warning, "dns-resolvers") { $0.add("cause", "no resolver is known") }
        }
        log(.notice, "dns-resolvers") { line in
            line.add("resolvers", servers.map(\.description).joined(separator: ","))
        }
    }
}
