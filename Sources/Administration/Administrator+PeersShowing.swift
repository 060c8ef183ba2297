/// How it stands with the lab's other gateways, for `status` and as notices.

import Bytes
import LinuxIO
import Profiles

extension Administrator {
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
