/// What the daemon says of itself, as far as there is one.

import Bytes
import Commands
import Control
import Doctor
import LinuxIO
import Network
import Profiles

struct DaemonLook {
    var state = Sight.Daemon.absent("")
    /// Its configuration file.
    var file: String?
    var configuration: Configuration?
    var plan: NetworkPlan?
    /// What our table of the firewall should look like.
    var firewall: String?
    var resolvers: [String] = []
    var profilesInUse: [String] = []
    var answers: [(title: String, body: [UInt8])] = []

    /// A daemon that is well answers within milliseconds; one that drains, within seconds.
    private static let patience = Interval.seconds(5)

    init(_ client: ControlClient) {
        let process = Self.process(at: client.socket)
        let status: ControlReply
        do throws(ControlClientError) {
            status = try client.ask("GET", APIRequest.status.target, body: nil, within: Self.patience)
        } catch {
            state = Self.state(error, process)
            return
        }
        guard status.isSuccess, let card = Self.found(status.body) else {
            state = .silent(process: process)
            return
        }
        answers.append(("status", status.body))
        state = .running(Self.running(card, process))
        resolvers = card["resolvers"].elements.compactMap(\.raw)
        profilesInUse = [card["profile"]["id"].raw].compactMap(\.self)
        ask(client)
    }

    private mutating func ask(_ client: ControlClient) {
        if let config = answer(client, "config") { file = config["file"].raw }
        if let reply = try? client.ask("GET", "/v1/export", body: nil, within: Self.patience), reply.isSuccess {
            configuration = try? Configuration.parse(reply.body)
            answers.append(("running configuration", reply.body))
        }
        if let network = answer(client, "network") {
            plan = NetworkPlan(lines: network["plan"].elements.compactMap(\.raw))
            firewall = network["firewall"].raw
        }
        if let devices = answer(client, "devices") {
            profilesInUse += devices["devices"].elements.compactMap { $0["profile"].raw }
        }
        _ = answer(client, "profiles")
        _ = answer(client, "history")
    }

    private mutating func answer(_ client: ControlClient, _ path: String) -> Found? {
        guard let reply = try? client.ask("GET", "/v1/\(path)", body: nil, within: Self.patience), reply.isSuccess
        else {
            return nil
        }
        answers.append((path, reply.body))
        return Self.found(reply.body)
    }

    private static func found(_ body: [UInt8]) -> Found? { (try? JSON5Reader.read(body.span)).map { Found($0) } }

    private static func running(_ card: Found, _ process: Int?) -> Sight.Running {
        var running = Sight.Running()
        running.version = card["version"].text ?? "of an unknown version"
        running.process = process
        running.descriptors = card["descriptors"].integer ?? 0
        // What leads around the gateway is among the notices, and found here without the daemon too.
        if card["health"]["cause"]["code"].text != "way_around" {
            running.colour = card["health"]["colour"].text
            running.cause = card["health"]["cause"]["text"].text
        }
        running.notices = card["notices"].texts
        running.insists = card["insists"].texts
        return running
    }

    /// Whoever listens at the socket.
    private static func process(at socket: String) -> Int? {
        guard let connection = try? Socket.connectUnix(to: socket), let peer = connection.peerCredentials,
            peer.process > 0
        else { return nil }
        return Int(peer.process)
    }

    private static func state(_ error: ControlClientError, _ process: Int?) -> Sight.Daemon {
        switch error {
        case .noDaemon(_, .accessDenied, let group):
            .forbidden(group: group, user: UserName.of(uid: UserName.own) ?? "user \(UserName.own)")
        case .noDaemon(_, let reason, group: _): .absent("\(reason)")
        case .exchange: .silent(process: process)
        }
    }
}
