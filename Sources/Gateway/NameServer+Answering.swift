/// From a query to its answer, whoever asked and however it goes back.

import Addresses
import Bytes
import LinuxIO
import Names
import Wire

/// The way back to who asked.
enum NameAsker: Sendable {
    /// Over UDP, by way of this port, from the address that was asked.
    case datagram(port: Int, peer: SocketAddress, local: LocalAddress?)
    case stream(Handle)
    /// The gateway itself.
    case lookup(Handle)
}

/// A question that waits for a resolver.
struct PendingQuery: Sendable {
    var asker: NameAsker
    var device: IPAddress
    var query: DNSQuery
    /// Header and question as they came.
    var asked: [UInt8]
    var maximumTTL: UInt32?
    /// Whether the name gets a fake address when the resolvers do not know it.
    var fakesUnknown = false
}

extension NameServer {
    /// Answers a message, or sees to it that it will be.
    mutating func answer(_ message: Span<UInt8>, to asker: NameAsker, device: IPAddress) {
        do throws(DNSRefusal) {
            answer(try DNSQuery.parse(message), message, to: asker, device: device)
        } catch {
            guard case .code(let code) = error else {
                counters.ignored += 1
                return
            }
            counters.malformed += 1
            writer.refuse(message, code)
            send(writer.bytes, to: asker)
        }
    }

    private mutating func answer(
        _ query: DNSQuery, _ message: Span<UInt8>, to asker: NameAsker, device: IPAddress
    ) {
        if let edns = query.edns, edns.version > 0 {
            writer.answer(message, query, failure: .badVersion)
            return send(writer.bytes, to: asker)
        }
        let verdict = directory.verdict
        let plan = rules.plan(for: query, verdict: { verdict($0, device) })
        let wantsAddress = query.type == .address4 || query.type == .address6
        desk.noteQuestion(of: device, about: wantsAddress ? query.name : nil, plan, at: now)
        if let label = DNSSpecialNames.checkLabel(of: query.name) {
            desk.noteCheck(label, query.type == .address6 ? .askedForIPv6 : .asked, by: device, at: now)
        }
        log(.debug, "dns") { line in
            line.add("device", device.description)
            line.add("name", query.name)
            line.add("type", query.type.description)
            line.add("answer", "\(plan)")
        }
        switch plan {
        case .fake(let type): answerFake(query, message, type, device)
        case .addresses(let addresses):
            counters.own += 1
            writer.answer(message, query, addresses: addresses)
        case .pointer(let address): answerPointer(query, message, address)
        case .empty:
            counters.negative += 1
            writer.answerEmpty(message, query)
        case .nonexistent:
            counters.negative += 1
            writer.answerNonexistent(message, query)
        case .refused:
            counters.refused += 1
            writer.answer(message, query, failure: .refused)
        case .forward(let maximumTTL, let fakesUnknown):
            let asked = Array(copying: message.extracting(0..<query.questionEnd))
            return forward(
                PendingQuery(
                    asker: asker, device: device, query: query, asked: asked, maximumTTL: maximumTTL,
                    fakesUnknown: fakesUnknown))
        }
        send(writer.bytes, to: asker)
    }

    private mutating func answerFake(
        _ query: DNSQuery, _ message: Span<UInt8>, _ type: DNSType, _ device: IPAddress
    ) {
        // From here on the address leads to the name, before the device knows it.
        if let address = directory.fakeAddress(query.name, type, device, now) {
            counters.fake += 1
            return writer.answer(message, query, address: address)
        }
        counters.poolFull += 1
        logSeldom(.warning, "dns-pool-full") { $0.add("device", device.description) }
        writer.answer(message, query, failure: .serverFailure)
    }

    private mutating func answerPointer(_ query: DNSQuery, _ message: Span<UInt8>, _ address: IPAddress) {
        counters.own += 1
        let isOwn = settings.answers.gateway.contains(address)
        if let name = isOwn ? "starship.internal" : directory.fakeName(address) {
            writer.answer(message, query, pointer: name)
        } else {
            writer.answerNonexistent(message, query)
        }
    }

    /// Answers from the cache, or asks a resolver.
    mutating func forward(_ waiting: PendingQuery) {
        let key = AnswerKey(waiting.query)
        if let found = cache.find(key, now: now) {
            counters.cached += 1
            return finish(waiting, found.answer, age: found.age)
        }
        refreshResolvers()
        let share = waiting.device == Self.gatewayItself ? settings.pendingLimit : settings.pendingPerDevice
        guard pending.count < settings.pendingLimit, pendingOf[waiting.device, default: 0] < share else {
            noteOverload(waiting.device)
            return finish(waiting, nil, age: 0)
        }
        let handle = pending.insert(waiting)
        let question = Array(waiting.asked[waiting.query.question])
        switch resolver.ask(key, question: question, ticket: handle.packed, now: now, random: &random) {
        case .asked: counters.forwarded += 1
        case .joined: counters.joined += 1
        case .overloaded:
            noteOverload(waiting.device)
            return finish(pending.remove(handle), nil, age: 0)
        case .noResolver:
            return finish(pending.remove(handle), nil, age: 0)
        }
        pendingOf[waiting.device, default: 0] += 1
        note(handle, isWaiting: true)
    }

    /// Too many questions wait, of this device or in all.
    private mutating func noteOverload(_ device: IPAddress) {
        counters.overloaded += 1
        logSeldom(.warning, "dns-question-limit") { $0.add("device", device.description) }
    }

    /// Hands an answer, or the news that there is none, to who waits with this ticket.
    mutating func finish(_ ticket: UInt64, _ answer: DNSAnswer?) {
        let handle = Handle(packed: ticket)
        guard pending.contains(handle) else { return }
        note(handle, isWaiting: false)
        let waiting = pending.remove(handle)
        let left = pendingOf[waiting.device, default: 1] - 1
        pendingOf[waiting.device] = left > 0 ? left : nil
        finish(waiting, answer, age: 0)
    }

    private mutating func finish(_ waiting: PendingQuery, _ answer: DNSAnswer?, age: UInt32) {
        if case .lookup(let lookup) = waiting.asker { return finish(lookup, waiting.query.type, answer) }
        guard let answer else {
            counters.failed += 1
            writer.answer(waiting.asked.span, waiting.query, failure: .serverFailure)
            return send(writer.bytes, to: waiting.asker)
        }
        if waiting.fakesUnknown, answer.code == .nameError || answer.code == .refused {
            return answerUnknown(waiting)
        }
        remember(waiting, answer, age)
        var limit = 65_535
        if case .datagram = waiting.asker { limit = min(waiting.query.payloadLimit, Self.longestDatagram) }
        var bytes: [UInt8] = []
        swap(&bytes, &output)
        answer.write(
            answering: waiting.asked.span, waiting.query, age: age, maximumTTL: waiting.maximumTTL, limit: limit,
            into: &bytes)
        send(bytes, to: waiting.asker)
        swap(&bytes, &output)
    }

    /// Answers for a name that no resolver knows, or wants to know, and an upstream may know.
    private mutating func answerUnknown(_ waiting: PendingQuery) {
        if case .fake(let type) = rules.plan(forUnknown: waiting.query) {
            answerFake(waiting.query, waiting.asked.span, type, waiting.device)
        } else {
            counters.negative += 1
            writer.answerEmpty(waiting.asked.span, waiting.query)
        }
        send(writer.bytes, to: waiting.asker)
    }

    /// Stands for the device where a worker asks.
    static var gatewayItself: IPAddress { IPAddress(v4: 0) }

    /// The longest answer that goes out as a datagram, whatever a client says that it takes.
    static var longestDatagram: Int { 4096 }

    /// Notes which addresses the device now has for the name, and for how long.
    private func remember(_ waiting: PendingQuery, _ answer: DNSAnswer, _ age: UInt32) {
        guard settings.answers.mode != .off, waiting.query.type == .address4 || waiting.query.type == .address6 else {
            return
        }
        let addresses = answer.addresses
        guard !addresses.isEmpty else { return }
        let left = answer.lifetime > age ? answer.lifetime - age : 0
        let told = Interval.seconds(Int64(min(left, waiting.maximumTTL ?? .max)))
        directory.note(waiting.query.name, addresses, waiting.device, told, now)
    }

    /// Counts the questions of a stream that wait, so that it is not closed under them.
    private mutating func note(_ handle: Handle, isWaiting: Bool) {
        guard case .stream(let stream) = pending[handle].asker, streams.contains(stream) else { return }
        streams[stream].waiting += isWaiting ? 1 : -1
    }

    mutating func send(_ bytes: [UInt8], to asker: NameAsker) {
        switch asker {
        case .datagram(let port, let peer, let local):
            if ports[port].datagrams.send(bytes.span, to: peer, from: local) != .sent { counters.unsent += 1 }
        case .stream(let handle):
            guard streams.contains(handle) else { return }
            DNSStream.write(bytes.span, into: &streams[handle].unsent)
            push(handle)
        case .lookup: break
        }
    }
}

extension Handle {
    /// The handle as one number, for tickets.
    var packed: UInt64 { UInt64(generation) << 32 | UInt64(index) }

    init(packed: UInt64) {
        self.init(index: UInt32(truncatingIfNeeded: packed), generation: UInt32(packed >> 32))
    }
}
