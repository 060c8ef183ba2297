/// Taking what the lab's other gateways have decided.

import Bytes
import Control
import Devices
import Gateway
import LinuxIO
import Profiles

extension Administrator {
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
}
