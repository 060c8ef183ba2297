/// Clients that know of a proxy: they connect to a listener, say in SOCKS5 or HTTP where they want to go, and
/// are relayed like everybody else.

import Addresses
import Bytes
import Flows
import Inbound
import LinuxIO
import Relay
import Upstreams
import Wire

/// The conversation with an inbound client that has not said yet where it wants to go.
enum InboundSession {
    case socks(SOCKS5Session)
    case http(HTTPProxySession)

    var deadline: Instant {
        switch self {
        case .socks(let session): session.deadline
        case .http(let session): session.deadline
        }
    }
}

extension Worker {
    /// How much is read of a client's first words at a time.
    private static var greetingSize: Int { 16 << 10 }

    func session(of listener: GatewaySettings.Listener) -> InboundSession {
        switch listener.kind {
        case .socks(let login): .socks(SOCKS5Session(expecting: login, now: now))
        case .http(let credentials): .http(HTTPProxySession(expecting: credentials, now: now))
        }
    }

    /// A client whose upstream is not open: it talks to its session, waits, or gets its last words.
    mutating func serveClientAlone(_ handle: Handle) {
        flows[handle].client.value.flush(pool: &pool)
        while flows[handle].session != nil, flows[handle].dial == nil, flows[handle].check == nil,
            flows[handle].client.value.isReadable
        {
            var bytes: [UInt8] = []
            switch flows[handle].client.value.read(appendingTo: &bytes, limit: Self.greetingSize) {
            case .bytes: converse(bytes.span, handle)
            case .wouldBlock: break
            case .end, .failed: return abort(handle, because: .clientGaveUp)
            }
            guard flows.contains(handle) else { return }
        }
        if flows[handle].check != nil { return answerCheck(handle) }
        if flows[handle].session == nil, flows[handle].dial == nil {
            if flows[handle].client.value.waiting.isEmpty { sayFarewell(handle) }
        } else if flows[handle].dial != nil {
            // It may talk early, and it may go away.
            holdClientBytes(handle)
            if flows[handle].client.value.failure != nil { abort(handle, because: .clientGaveUp) }
        }
    }

    /// A client that was refused, and told so: what it still sends is read away until it closes, or closing here
    /// would reset the reply away.
    private mutating func sayFarewell(_ handle: Handle) {
        flows[handle].relay.sourceEnded(.upstream, at: now)
        if flows[handle].relay.drained(.upstream, halfClose: .pass) {
            flows[handle].client.value.socket.shutdownSend()
        }
        var budget = Self.readBudget
        while flows[handle].client.value.isReadable {
            guard budget > 0 else { return touch(handle) }
            var bytes: [UInt8] = []
            switch flows[handle].client.value.read(appendingTo: &bytes, limit: Self.greetingSize) {
            case .bytes(let count): budget -= count
            case .wouldBlock: break
            case .end, .failed: flows[handle].relay.ended()
            }
        }
    }

    private mutating func converse(_ bytes: Span<UInt8>, _ handle: Handle) {
        guard let place = flows[handle].session else { return }
        var reply: [UInt8] = []
        var next: (target: Target, leftover: Range<Int>)?
        var refusal: String?
        switch sessions[place] {
        case .socks(var session):
            switch session.receive(bytes, output: &reply) {
            case .needsMore: break
            case .connect(let target, let leftover): next = (target, leftover)
            case .close(let reason): refusal = reason
            }
            sessions[place] = .socks(session)
        case .http(var session):
            switch session.receive(bytes, output: &reply) {
            case .needsMore: break
            case .connect(let target, let leftover): next = (target, leftover)
            case .forward(let target, let request, let leftover):
                next = (target, leftover)
                hold(request.span, handle)
                flows[handle].isPlainRequest = true
            case .close(let reason): refusal = reason
            }
            sessions[place] = .http(session)
        }
        say(reply.span, to: handle)
        if let refusal {
            flows[handle].ends(.badRequest(refusal))
            endSession(handle)
        } else if let next {
            hold(bytes.extracting(next.leftover), handle)
            flows[handle].target = next.target
            follow(choose(for: next.target, of: handle), of: handle)
        }
    }

    /// The upstream has said yes to an inbound client.
    mutating func acceptInbound(_ handle: Handle) {
        guard let place = flows[handle].session else { return }
        var reply: [UInt8] = []
        switch sessions[place] {
        case .socks(var session): session.opened(output: &reply)
        case .http(var session): session.opened(output: &reply)
        }
        endSession(handle)
        say(reply.span, to: handle)
    }

    /// The upstream has said no to an inbound client.
    mutating func refuseInbound(_ handle: Handle, _ failure: DialFailure, _ sentence: String) {
        guard let place = flows[handle].session else { return }
        var reply: [UInt8] = []
        switch sessions[place] {
        case .socks(var session): session.failed(code: failure.socksReply, output: &reply)
        case .http(var session): session.failed(status: failure.httpStatus, text: sentence, output: &reply)
        }
        endSession(handle)
        say(reply.span, to: handle)
    }

    private mutating func endSession(_ handle: Handle) {
        guard let place = flows[handle].session else { return }
        flows[handle].session = nil
        flows[handle].relay.restart(at: now)
        _ = sessions.remove(place)
    }

    /// Puts words of our own on their way to an inbound client.
    mutating func say(_ bytes: Span<UInt8>, to handle: Handle) {
        guard bytes.count > 0 else { return }
        if flows[handle].client.value.waiting.append(bytes, in: &pool) < bytes.count { lacksMemory(handle) }
        flows[handle].client.value.flush(pool: &pool)
    }

    /// Keeps octets of an inbound client until the upstream is open.
    private mutating func hold(_ bytes: Span<UInt8>, _ handle: Handle) {
        guard bytes.count > 0 else { return }
        if flows[handle].held.append(bytes, in: &pool) < bytes.count { lacksMemory(handle) }
        flows[handle].relay.moved(bytes.count, from: .client, at: now)
    }

    /// Octets were lost because there was no buffer for them: the stream has a hole, so it must end.
    mutating func lacksMemory(_ handle: Handle) {
        counters.outOfMemory += 1
        flows[handle].ends(.noMemory)
        flows[handle].isBroken = true
    }
}
