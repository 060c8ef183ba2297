/// Telling the lab's other gateways what was decided here; `+PeersHearing` takes what was decided there.

import Addresses
import Bytes
import Control
import Gateway
import LinuxIO
import Profiles

extension UnixTime {
    /// Milliseconds since 1970.
    var inMilliseconds: Int64 { seconds * 1000 + Int64(nanoseconds) / 1_000_000 }
}

extension Administrator {
    /// What tells this program from the one before it.
    var life: Int64 { startedAt.inMilliseconds }

    /// Has peers be told what is different from a former state.
    mutating func tellPeers(since former: Plan) {
        guard !peers.isEmpty else { return }
        peers.tell(plan.lab.stamps.filter { former.lab.stamps[$0.key] != $0.value }, at: Clock.now())
    }

    /// Tells those whose turn it is, and ends the wait of unknown devices.
    mutating func tendPeers(_ gateway: inout Gateway) {
        guard !peers.isEmpty else { return }
        let now = Clock.now()
        if peers.endWait(at: now) {
            gateway.say(.warning, "peers") { line in
                line.add("cause", "no peer was heard since the start")
                line.add("meaning", "devices that are unknown here are treated like any new ones from now on")
            }
            applyDevices(&gateway)
        }
        for index in peers.all.indices where peers.all[index].sent == nil && peers.all[index].dueAt <= now {
            if peers.all[index].allDueAt <= now {
                peers.all[index].pending = plan.lab.sharedItems
                peers.all[index].allDueAt = now + PeerDesk.allAgain
            }
            peers.all[index].dueAt = now + PeerDesk.beat
            send(to: index)
        }
    }

    private mutating func send(to index: Int) {
        let peer = peers.all[index]
        guard let courier = peers.courier, let key = keys.keys.first(where: { $0.id == peer.options.key }) else {
            return
        }
        if !peer.pending.isEmpty { peers.all[index].pending.formIntersection(plan.lab.sharedItems) }
        let pending = peers.all[index].pending
        let part = plan.lab.part(of: pending, by: keys.gateway)
        let update = SharedUpdate(
            life: life, reader: peer.life, isComplete: pending.isSubset(of: part.stamps.keys), lab: part)
        let body = Array(update.json.text.utf8)
        let request = SignedRequest(
            method: "PUT", path: "/v1/peers/\(PercentCoding.encode(keys.gateway))",
            host: "\(peer.options.id):\(peer.options.address.port)")
        let signature = request.signed(
            by: key, gateway: peer.options.id, at: Clock.unixTime(), nonce: Self.newNonce(), body: body.span)
        let errand = PeerCourier.Errand(
            peer: peer.options.id, address: peer.options.address, request: Self.text(request, signature, body),
            mark: mark)
        if courier.begin(errand) { peers.all[index].sent = (part.stamps, signature) }
    }

    private static func newNonce() -> String {
        var random = SystemRandom()
        return String(random.next(), radix: 36) + String(UInt64(1) << 60 | random.next() >> 4, radix: 36)
    }

    private static func text(_ request: SignedRequest, _ signature: PushSignature, _ body: [UInt8]) -> [UInt8] {
        let values = [signature.key, signature.time, signature.nonce, signature.signature]
        let fields = zip(PushSignature.names, values).map { "\($0): \($1)\r\n" }.joined()
        let head =
            "\(request.method) \(request.path) HTTP/1.1\r\nHost: \(request.host)\r\n\(fields)"
            + "Content-Type: application/json\r\nContent-Length: \(body.count)\r\nConnection: close\r\n\r\n"
        return Array(head.utf8) + body
    }

    /// Takes the answers of peers.
    mutating func collectFromPeers(_ gateway: inout Gateway) {
        for outcome in peers.courier?.takeAll() ?? [] {
            guard let index = peers.index(of: outcome.peer), let sent = peers.all[index].sent else { continue }
            peers.all[index].sent = nil
            let former = peers.all[index].failure
            do throws(PeerError) {
                try take(outcome.reply, sent.stamps, sent.signature, index)
                peers.all[index].failure = nil
            } catch {
                peers.all[index].failure = "\(error)"
                peers.all[index].dueAt = Clock.now() + PeerDesk.beat
            }
            let failure = peers.all[index].failure
            guard failure != former else { continue }
            gateway.say(failure == nil ? .notice : .warning, "peer") { line in
                line.add("peer", outcome.peer)
                line.add(failure == nil ? "meaning" : "cause", failure ?? "it is told what is decided here")
            }
        }
    }

    private mutating func take(
        _ reply: Result<ControlReply, ExchangeError>, _ sent: [SharedItem: SharedStamp], _ signature: PushSignature,
        _ index: Int
    ) throws(PeerError) {
        let answer = try PeerAnswer(reply, to: signature, keys.keys, peers.all[index].options)
        let now = Clock.now()
        hearing(answer.life, of: index, at: now)
        peers.all[index].heardAt = now
        for (item, stamp) in sent where plan.lab.stamps[item] ?? stamp == stamp {
            peers.all[index].pending.remove(item)
        }
        if !sent.isEmpty { peers.all[index].refused = answer.refused }
        if !peers.all[index].pending.isEmpty { peers.all[index].dueAt = now }
    }

    /// Takes note of which program a peer is; another one than before may have forgotten what it was told.
    mutating func hearing(_ life: Int64, of index: Int, at now: Instant) {
        guard peers.all[index].life != life else { return }
        if peers.all[index].life != 0 { peers.all[index].pending = plan.lab.sharedItems }
        peers.all[index].life = life
        peers.all[index].dueAt = now
    }
}
