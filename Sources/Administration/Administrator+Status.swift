/// The card: one look says what is active, for whom, and what is wrong.

import Addresses
import Bytes
import Control
import Devices
import Gateway
import LinuxIO
import Profiles
import Routing

extension Administrator {
    mutating func status(_ gateway: inout Gateway) -> ControlAnswer {
        let status = gateway.status()
        let seen = devices.devices
        let traffic = trafficJSON(status.tally)
        return ControlAnswer(
            .members([
                "version": .string(version), "gateway": .string(keys.gateway),
                "uptime": .integer(Int(uptime.nanoseconds / 1_000_000_000)),
                "profile": activeJSON(gateway), "upstream": Self.json(plan.active.upstream),
                "health": healthJSON(of: plan.active.id), "uplink": uplinkJSON, "groups": groupsJSON,
                "decrypts": decryptsJSON(plan.active.id, gateway), "traffic": traffic,
                "revision": .integer(store.number), "pending": pendingJSON,
                "devices": .members([
                    "seen": .integer(seen.count { $0.seen != nil }), "named": .integer(seen.count { $0.name != nil }),
                    "assigned": .integer(plan.effective.assignments.count),
                    "ownProxies": .integer(
                        plan.effective.assignments.count { ownProxyWords($0.profile) != nil }),
                ]),
                "flows": .members([
                    "open": .integer(status.flows), "halfOpen": .integer(status.halfOpen),
                    "udp": .integer(status.datagramFlows), "byProfile": Self.json(status.profiles),
                    "byState": Self.json(status.states),
                ]),
                "memory": .members([
                    "residentKiB": .integer(status.residentKiB), "bufferBytes": .integer(status.bufferBytes),
                ]),
                "descriptors": .integer(status.descriptors), "limits": .array(limits(status).map(Self.json)),
                "connectivity": .string(plan.effective.configuration.phones.connectivity.rawValue),
                "peers": peersJSON, "notices": .strings(notices(status)), "insists": .strings(status.insists),
                "clock": .members(["synchronised": .boolean(clock.isSynchronised)]),
                "resolvers": .strings(gateway.resolvers.map(\.description)),
                "lockdown": lockdownJSON,
                "mark": mark.map { .integer(Int($0)) } ?? .null,
                "reasons": Self.json(status.tally.reasons),
                "counters": Self.json(status.counters.merging(doors.hits, uniquingKeysWith: +)),
            ]))
    }

    private func activeJSON(_ gateway: borrowing Gateway) -> JSON {
        let profile = plan.active
        let position = plan.position(of: profile.id) ?? 0
        let capture = gateway.capture(ofProfile: position)
        return .members([
            "id": .string(profile.id), "name": .string(profile.name),
            "source": plan.isStored(profile.id) ? "store" : "file",
            "mode": .string(plan.resolved.rules(of: profile.id).mode.rawValue), "capture": .string(capture.what),
            "captureBecause": capture.because.map(JSON.string), "upstream": .string(profile.upstream.words),
            "upstreamState": .string(gateway.condition(ofProfile: position).rawValue),
        ])
    }

    private static func json(_ upstream: Profiles.Upstream) -> JSON {
        .members([
            "type": .string(upstream.type.rawValue), "kind": .string(upstream.kind.rawValue),
            "host": upstream.server.map { .string($0.hostText) } ?? .null,
            "port": upstream.server.map { .integer(Int($0.port)) } ?? .null,
        ])
    }

    /// Everything that is not as it should be.
    private func notices(_ status: GatewayStatus) -> [String] {
        var notices = store.recovered + plan.effective.notices + status.notices
        notices += (lockdown?.missing ?? []).map { "the lock-down lacks \($0)" }
        if let trouble = store.trouble { notices.append("switches are not kept: \(trouble)") }
        if !plan.needsRestart.isEmpty {
            notices.append("the file has changes that need a restart: \(plan.needsRestart.joined(separator: ", "))")
        }
        return notices + peerNotices
    }

    var mark: UInt32? {
        running.tunnel != nil && Socket.mayMark() ? running.network.mark.value : nil
    }

    private static func json(_ counts: [String: Int]) -> JSON {
        .object(counts.sorted { $0.key < $1.key }.map { JSON.Member($0.key, .integer($0.value)) })
    }
}

extension Profiles.Upstream.Server {
    fileprivate var hostText: String {
        switch host {
        case .address(let address): "\(address)"
        case .name(let name): name
        }
    }
}

extension Profiles.Upstream {
    /// `http proxy.example:8080`, `direct`.
    var words: String { server.map { "\(type.rawValue) \($0)" } ?? type.rawValue }
}
