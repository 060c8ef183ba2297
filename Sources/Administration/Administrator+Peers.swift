/// Telling the lab's other gateways what was decided here, and taking what was decided there.

import Addresses
import Bytes
import Control
import Devices
import Gateway
import LinuxIO
import Profiles

extension UnixTime {
    /// Milliseconds since 1970.
    var inMilliseconds: Int64 { seconds * 1000 + Int64(nanoseconds) / 1_000_000 }
}

extension Administrator {
    /// What tells this program from the one before it.
    private var life: Int64 { startedAt.inMilliseconds }

    // MARK: Telling

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
    private mutating func hearing(_ life: Int64, of index: Int, at now: Instant) {
        guard peers.all[index].life != life else { return }
        if peers.all[index].life != 0 { peers.all[index].pending = plan.lab.sharedItems }
        peers.all[index].life = life
        peers.all[index].dueAt = now
    }

    // MARK: Hearing

    /// Takes what a peer tells: its items that are later than ours, as far as its key may bring them.
    mutating func hear(
        _ id: String, _ request: ControlRequest, _ gateway: inout Gateway
    ) throws(ControlError) -> ControlAnswer {
        guard case .remote = request.source, let name = request.signature[PushSignature.keyName.lowercased()],
            let key = keys.keys.first(where: { $0.id == name })
        else {
            throw ControlError(.forbidden, "found a request from this machine; expected one that a peer has signed")
        }
        guard let index = peers.index(of: id), peers.all[index].options.key == key.id else {
            throw ControlError(
                .forbidden, "found no peer of this name with this key; expected one of `peers`, with its own key")
        }
        let update: SharedUpdate
        do throws(ConfigurationError) {
            update = try SharedUpdate.parse(request.body.span)
        } catch {
            throw ControlError(error)
        }
        let now = Clock.now()
        hearing(update.life, of: index, at: now)
        peers.all[index].heardAt = now
        var refused: [SharedItem: String] = [:]
        for merge in merges(of: update.lab, from: id, by: key, &gateway, &refused) {
            noteConflicts(merge, from: id, &gateway)
            peers.all[index].pending.formUnion(merge.newer)
            if !merge.newer.isEmpty { peers.all[index].dueAt = now }
            refused.merge(merge.refused) { first, _ in first }
        }
        // It has these already, so they are not sent back.
        for (item, stamp) in update.lab.stamps where plan.lab.stamps[item] == stamp {
            peers.all[index].pending.remove(item)
        }
        if update.isComplete, update.reader == life { synchronised(index, &gateway) }
        return answer(refused)
    }

    private mutating func synchronised(_ index: Int, _ gateway: inout Gateway) {
        guard !peers.all[index].isSynchronised else { return }
        let hasWaited = peers.isWaiting
        peers.all[index].isSynchronised = true
        let id = peers.all[index].options.id
        gateway.say(.notice, "peer") { line in
            line.add("peer", id)
            line.add("meaning", "it has told what it knows")
        }
        if hasWaited { applyDevices(&gateway) }
    }

    private func answer(_ refused: [SharedItem: String]) -> ControlAnswer {
        let words = refused.sorted { $0.key.rank < $1.key.rank }.prefix(16).map { item, why in
            "\(item.words { devices.device($0).label }): \(why)"
        }
        return ControlAnswer(.members(["life": .integer(Int(life)), "refused": .strings(words)]))
    }

    /// Takes an update as a whole; where that makes no right state, each of its parts that does.
    private mutating func merges(
        of lab: LabState, from id: String, by key: LinkKey, _ gateway: inout Gateway,
        _ refused: inout [SharedItem: String]
    ) -> [SharedMerge] {
        do throws(ControlError) {
            return [try merge(lab, from: id, by: key, &gateway)]
        } catch {
            var merges: [SharedMerge] = []
            for part in lab.units {
                do throws(ControlError) {
                    merges.append(try merge(part, from: id, by: key, &gateway))
                } catch {
                    for item in part.stamps.keys { refused[item] = error.message }
                }
            }
            return merges
        }
    }

    private mutating func merge(
        _ lab: LabState, from id: String, by key: LinkKey, _ gateway: inout Gateway
    ) throws(ControlError) -> SharedMerge {
        let secrets = plan.effective.configuration.state.map { "\($0)/secrets" }
        let merge = plan.lab.merging(lab, at: keys.gateway, now: Clock.unixTime().inMilliseconds) { _, profile in
            profile.flatMap { Self.objection(to: $0, of: key, secrets) }
        }
        guard !merge.taken.isEmpty else { return merge }
        let next = try planned(merge.state, merge)
        var words = merge.state.words(for: merge.taken.keys) { devices.device($0).label }
        for (item, conflict) in merge.conflicts.sorted(by: { $0.key.rank < $1.key.rank }).prefix(4)
        where merge.taken[item] != nil {
            words += "; \(item.words { devices.device($0).label }): \(conflict)"
        }
        _ = try change(
            to: next, LabStore.Note(by: id, how: "peer", summary: words), drain: .seconds(2), &gateway)
        return merge
    }

    /// Why a profile may not come under a key, or makes no sense here; nil: it may.
    private static func objection(to profile: Profile, of key: LinkKey, _ secrets: String?) -> String? {
        if let server = profile.upstream.server, !key.allows(server.host) {
            return "key \(key.id) may not bring a proxy at \(server)"
        }
        guard case .file(let name)? = profile.upstream.credentials?.password else { return nil }
        guard let secrets, (try? SmallFile.read("\(secrets)/\(name)", limit: 4096)) != nil else {
            return "its secret is not here; expected the file secrets/\(name) in the state directory"
        }
        return nil
    }

    /// Says which changes of both sides there were; what was replaced here stands in the history too.
    private func noteConflicts(_ merge: SharedMerge, from id: String, _ gateway: inout Gateway) {
        for (item, conflict) in merge.conflicts.sorted(by: { $0.key.rank < $1.key.rank }).prefix(16) {
            let words = item.words { devices.device($0).label }
            gateway.say(.notice, "peer") { line in
                line.add("peer", id)
                line.add("conflict", words)
                line.add("outcome", "\(conflict)")
            }
        }
    }

    // MARK: Showing

    var peersJSON: JSON {
        let (now, time) = (Clock.now(), Clock.unixTime().seconds)
        return .array(
            peers.all.map { peer in
                let age = peer.heardAt.map { (now - $0).nanoseconds / 1_000_000_000 }
                return .members([
                    "id": .string(peer.options.id), "address": .string("\(peer.options.address)"),
                    "state": .string(peer.heardAt == nil ? "unheard" : peer.isSilent(at: now) ? "silent" : "heard"),
                    "lastHeard": age.map { .integer(Int(time - $0)) } ?? .null,
                    "behind": .integer(peer.pending.count), "synchronised": .boolean(peer.isSynchronised),
                    "cause": peer.failure.map(JSON.string) ?? .null, "refused": .strings(peer.refused),
                ])
            })
    }

    /// What is not as it should be with peers, a line each.
    var peerNotices: [String] {
        let now = Clock.now()
        var notices: [String] = []
        if peers.isWaiting {
            notices.append("\(PeerDesk.waitWords): devices that are unknown here are blocked")
        }
        for peer in peers.all where peer.isSilent(at: now) {
            let since = peer.heardAt.map { "for \((now - $0).milliseconds / 1000) s" } ?? "since the start"
            let behind = peer.pending.isEmpty ? "" : ", and is \(peer.pending.count) items behind"
            notices.append(
                "the peer \(peer.options.id) has not been heard \(since)\(behind)"
                    + (peer.failure.map { ": \($0)" } ?? ""))
        }
        for peer in peers.all {
            notices += peer.refused.map { "the peer \(peer.options.id) does not take \($0)" }
        }
        return notices
    }
}

/// Why a peer has not taken what it was told.
enum PeerError: Error, CustomStringConvertible {
    case exchange(ExchangeError)
    case refused(status: Int, String)
    case unsigned
    case unreadable

    var description: String {
        switch self {
        case .exchange(let error): "\(error)"
        case .refused(let status, let words): "found status \(status): \(words)"
        case .unsigned: "found an answer that is not signed with its key; expected one by the gateway of this name"
        case .unreadable: "found an answer that can't be read; is it of another version?"
        }
    }
}

/// What a peer says to what it was told.
private struct PeerAnswer {
    var life: Int64
    var refused: [String]

    init(
        _ reply: Result<ControlReply, ExchangeError>, to request: PushSignature, _ keys: [LinkKey], _ peer: PeerOptions
    ) throws(PeerError) {
        let reply = try Self.received(reply)
        let body = reply.body
        let isSigned =
            keys.first { $0.id == peer.key }.map { key in
                SignedAnswer(status: reply.status).isSigned(
                    reply.signature, to: request, by: key, gateway: peer.id, body: body.span)
            } ?? false
        guard reply.isSuccess else { throw .refused(status: reply.status, Self.words(body)) }
        guard isSigned else { throw .unsigned }
        guard let value = try? JSON5Reader.read(body.span), case .object(let members) = value.content,
            case .number(let life)? = members.first(where: { $0.key == "life" })?.value.content,
            let number = life.integer
        else { throw .unreadable }
        self.life = Int64(number)
        refused = []
        guard case .array(let list)? = members.first(where: { $0.key == "refused" })?.value.content else { return }
        refused = list.compactMap { element in
            if case .string(let text) = element.content { Self.plain(text) } else { nil }
        }
    }

    private static func received(_ reply: Result<ControlReply, ExchangeError>) throws(PeerError) -> ControlReply {
        switch reply {
        case .success(let reply): return reply
        case .failure(let error): throw .exchange(error)
        }
    }

    /// The message of a refusal; whoever has answered may have written it.
    private static func words(_ body: [UInt8]) -> String {
        guard let value = try? JSON5Reader.read(body.span), case .object(let members) = value.content,
            case .object(let error)? = members.first(where: { $0.key == "error" })?.value.content,
            case .string(let text)? = error.first(where: { $0.key == "message" })?.value.content
        else { return "no reason" }
        return plain(text)
    }

    private static func plain(_ text: String) -> String {
        String(text.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7f }.prefix(240).map(Character.init))
    }
}
