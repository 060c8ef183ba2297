/// Plain http whose requests are rewritten on their way: in absolute form to a proxy that takes no CONNECT to
/// port 80, in origin form from our own HTTP inbound to an origin.

import Bytes
import LinuxIO
import Relay
import Streams
import Upstreams
import Wire

extension Worker {
    /// How much is rewritten at a time.
    private static var rewriteSize: Int { 64 << 10 }

    /// The upstream takes requests, not a stream: what the client sends is rewritten from here on.
    mutating func beginForwarding(_ handle: Handle, inAbsoluteForm: Bool) {
        guard let target = flows[handle].target, let upstream = flows[handle].outbound else { return }
        let isOneRequest = flows[handle].isPlainRequest
        let forward =
            inAbsoluteForm
            ? upstream.forward(to: target, for: identity(of: handle), oneRequest: isOneRequest)
            : HTTPForward(to: target, as: .origin, oneRequest: isOneRequest)
        flows[handle].forward = forwards.insert(forward)
    }

    /// The up lane of a flow whose requests are rewritten.
    mutating func forwardUp(_ handle: Handle) -> Bool {
        guard let forward = flows[handle].forward else { return false }
        if flows[handle].client != nil { holdClientBytes(handle) }
        while flows[handle].upstream.value.waiting.count < Self.waitingLimit {
            let runs = pendingRuns(handle)
            guard runs.runCount > 0 else { break }
            guard mayRewrite(handle) else {
                starve(handle)
                break
            }
            var run = runs[0]
            run.count = min(run.count, Self.rewriteSize)
            var rewritten: [UInt8] = []
            let taken: Int
            do throws(HTTPError) {
                taken = try pool.withBytes(run) { bytes throws(HTTPError) in
                    try forwards[forward].rewrite(bytes, into: &rewritten)
                }
            } catch {
                flows[handle].ends(.badRequest("a request that cannot be forwarded: \(error)"))
                flows[handle].isBroken = true
                return false
            }
            removePending(taken, handle)
            guard pass(rewritten.span, to: handle) else {
                lacksMemory(handle)
                return false
            }
            guard taken > 0 else { break }
        }
        // Nothing of what follows the one request of a connection goes anywhere, so it must not wait either.
        if forwards[forward].isFinished { flows[handle].held.removeAll(in: &pool) }
        // The poller tells of each edge once: a client that may have more is asked again in the next turn.
        return flows[handle].client != nil && flows[handle].client.value.isReadable && !flows[handle].isStarved
            && flows[handle].held.count < Self.waitingLimit
            && flows[handle].upstream.value.waiting.count < Self.waitingLimit
    }

    /// Whether one more piece finds room: the socket takes a part of it, and its own buffer is given back before
    /// the rest needs one.
    private func mayRewrite(_ handle: Handle) -> Bool {
        pool.available > 0 || flows[handle].upstream.value.waiting.isEmpty && flows[handle].upstream.value.isWritable
    }

    /// Puts octets on their way to the upstream; false when some of them found no room.
    private mutating func pass(_ bytes: Span<UInt8>, to handle: Handle) -> Bool {
        let isNext = flows[handle].upstream.value.waiting.isEmpty
        let taken = isNext ? flows[handle].upstream.value.send(bytes) : 0
        let rest = bytes.extracting(taken..<bytes.count)
        return flows[handle].upstream.value.waiting.append(rest, in: &pool) == rest.count
    }

    /// What the client has sent and was not rewritten yet.
    mutating func pendingRuns(_ handle: Handle) -> ByteRuns {
        flows[handle].endpoint != nil
            ? flows[handle].endpoint.value.unreadRuns()
            : flows[handle].held.runs(from: 0, count: flows[handle].held.count, in: pool)
    }

    mutating func removePending(_ count: Int, _ handle: Handle) {
        guard count > 0 else { return }
        if flows[handle].endpoint != nil {
            flows[handle].endpoint.value.removeUnread(count, pool: &pool)
        } else {
            flows[handle].held.removeFirst(count, in: &pool)
        }
    }

    /// Takes what an inbound client sends, as long as nobody else can.
    mutating func holdClientBytes(_ handle: Handle) {
        while flows[handle].client.value.isReadable, flows[handle].held.count < Self.waitingLimit {
            let runs = flows[handle].held.reserve(Self.readSize, in: &pool)
            guard runs.byteCount > 0 else {
                starve(handle)
                return
            }
            let outcome = flows[handle].client.value.read(into: runs, pool: &pool)
            let count = if case .bytes(let count) = outcome { count } else { 0 }
            flows[handle].held.commit(count, of: runs, in: &pool)
            noteClient(outcome, runs, of: handle)
        }
    }

    /// A 407 in absolute form: the credentials rest, for every flow.
    mutating func noteRefusedCredentials(_ forward: Handle, _ handle: Handle) {
        guard forwards[forward].credentialsRefused, !flows[handle].hasToldRefusal else { return }
        flows[handle].hasToldRefusal = true
        flows[handle].outbound?.credentialsWereRejected(at: now)
    }
}
