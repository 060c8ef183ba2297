/// What a gateway makes of its peers: whom it hears, what it takes, and what it does before it has heard any.

import Addresses
import Bytes
import Devices
import Foundation
import Gateway
import LinuxIO
import Profiles
import TestSupport
import Testing

@testable import Administration
@testable import Control

/// lab-1 with the peer lab-2, whose part the test plays.
private final class PeerStand {
    let desk: Desk
    private var nonce = 0
    private let keyFiles: URL

    static let pixel = "02:00:00:00:00:01"

    init(_ more: String = "") throws {
        keyFiles = URL(filePath: "/tmp/starship-peers-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: keyFiles, withIntermediateDirectories: true)
        for (name, digits) in [("pair", "5a"), ("ci", "6b")] {
            let file = keyFiles.appending(path: name)
            try String(repeating: digits, count: 32).write(to: file, atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        }
        desk = try Desk(
            """
            keys: [{ id: "pair", file: "\(keyFiles.path)/pair", scope: ["peer"], hosts: ["*.qa.example"] },
                   { id: "ci", file: "\(keyFiles.path)/ci", scope: ["push"] }],
            push: { listen: "127.0.0.1:10801" },
            peers: [{ id: "lab-2", address: "127.0.0.1:9", key: "pair" }], \(more)
            """)
    }

    deinit {
        desk.remove()
        try? FileManager.default.removeItem(at: keyFiles)
    }

    /// A signed request from the network.
    func send(
        _ method: ControlRequest.Method, _ path: String, _ body: String = "", key: String = "pair"
    ) throws -> Reply {
        nonce += 1
        let secret = [UInt8](repeating: key == "pair" ? 0x5a : 0x6b, count: 32)
        let signing = try LinkKey(id: key, secret: secret, scope: [.peer, .push])
        let octets = Array(body.utf8)
        let signed = SignedRequest(method: method.rawValue, path: path, host: "lab-1:10801").signed(
            by: signing, gateway: "lab-1", at: Clock.unixTime(), nonce: "0123456789abcdef\(nonce)", body: octets.span)
        let values = [signed.key, signed.time, signed.nonce, signed.signature]
        let fields = zip(PushSignature.names.map { $0.lowercased() }, values)
        var request = ControlRequest(
            method: method, target: path, path: [], parameters: [], host: "lab-1:10801",
            signature: Dictionary(uniqueKeysWithValues: fields), isJSON: !body.isEmpty, body: octets,
            source: .remote(SocketAddress(IPAddress(v4: 0x0a09_0005), 40_000)))
        request.path = path.split(separator: "/").map(String.init)
        let answer = desk.administrator.answer(request, &desk.gateway)
        return Reply(status: answer.status, text: answer.body)
    }

    /// What lab-2 tells; `lab` are items and stamps, and the rest is that they are all it knows.
    func tell(_ lab: String, life: Int = 7, reader: Int64? = nil, as id: String = "lab-2") throws -> Reply {
        let reader = reader ?? desk.administrator.startedAt.inMilliseconds
        return try send(
            .put, "/v1/peers/\(id)", "{\"life\":\(life),\"reader\":\(reader),\"complete\":true,\"lab\":\(lab)}")
    }

    /// An assignment with its stamp.
    static func assignment(_ profile: String, at time: Int64, by: String = "lab-2", base: Int64 = 0) -> String {
        """
        {"assignments":[{"device":"\(pixel)","profile":"\(profile)","since":1,"by":"qa"}],
         "stamps":[{"item":["assignment","\(pixel)"],"at":\(time),"by":"\(by)","base":\(base)}]}
        """
    }

    var now: Int64 { Clock.unixTime().inMilliseconds }
    var peer: Peer { desk.administrator.peers.all[0] }
}

@Suite struct PeersTests {
    @Test("what a peer tells counts here: the history names it, and it is not sent back")
    func hears() throws {
        let stand = try PeerStand()
        let reply = try stand.tell(PeerStand.assignment("b", at: stand.now))
        #expect(reply.status == 200 && reply.has("\"refused\":[]"), "\(reply)")
        #expect(stand.desk.ask(.get, "/v1/devices").has("\"profile\":\"b\""))
        #expect(
            stand.desk.ask(.get, "/v1/history").has(
                "\"by\":\"lab-2\",\"how\":\"peer\"", "\(PeerStand.pixel) uses b"))
        #expect(stand.peer.pending.isEmpty)
        // Told again it is nothing new.
        let revision = stand.desk.administrator.store.number
        _ = try stand.tell(PeerStand.assignment("a", at: 5))
        #expect(stand.desk.administrator.store.number == revision)
        #expect(stand.peer.pending.count == 1, "lab-2 lacks our version, which is later")
    }

    @Test("a change here is for the peer, with our stamp")
    func tells() throws {
        let stand = try PeerStand()
        _ = try stand.tell("{}")
        #expect(stand.desk.ask(.put, "/v1/profiles/mine", "{\"upstream\":{\"type\":\"direct\"}}").status == 201)
        #expect(stand.peer.pending == [.profile("mine")])
        let stamp = try #require(stand.desk.administrator.plan.lab.stamps[.profile("mine")])
        #expect(stamp.by == "lab-1" && stamp.at > stand.now - 60_000)
        #expect(stand.desk.ask(.delete, "/v1/profiles/mine").status == 200)
        #expect(stand.peer.pending == [.profile("mine")], "that it is gone is told as well")
        #expect(stand.desk.ask(.get, "/v1/status").has("\"behind\":1", "\"state\":\"heard\""))
    }

    @Test("both changed one device: the later one counts, and the history says in place of what")
    func conflict() throws {
        let stand = try PeerStand()
        let now = stand.now
        _ = try stand.tell(PeerStand.assignment("b", at: now - 5000))
        #expect(
            stand.desk.ask(.post, "/v1/activate", "{\"profile\":\"a\",\"device\":\"\(PeerStand.pixel)\"}").status == 200
        )
        _ = try stand.tell(PeerStand.assignment("b", at: now + 30_000, base: 0))
        #expect(stand.desk.ask(.get, "/v1/history").has("lab-2's change of", "in place of lab-1's of"))
    }

    @Test("a peer is who signs with its key, over the network, under its name")
    func strangers() throws {
        let stand = try PeerStand()
        let body = "{\"life\":7,\"reader\":0,\"complete\":true,\"lab\":{}}"
        #expect(stand.desk.ask(.put, "/v1/peers/lab-2", body).status == 403)
        #expect(try stand.send(.put, "/v1/peers/lab-3", body).status == 403)
        let pusher = try stand.send(.put, "/v1/peers/lab-2", body, key: "ci")
        #expect(pusher.status == 403 && pusher.has("no peer's"), "\(pusher)")
        #expect(stand.peer.heardAt == nil)
        #expect(try stand.send(.put, "/v1/peers/lab-2", body).status == 200)
        #expect(try stand.send(.get, "/v1/peers/lab-2").status == 405)
    }

    @Test(
        "the key of a peer does nothing else",
        arguments: [
            (ControlRequest.Method.get, "/v1/status", ""), (.put, "/v1/config", "{\"active\":\"b\"}"),
            (.post, "/v1/activate", "{\"profile\":\"b\",\"all\":true}"), (.post, "/v1/reload", "{}"),
            (.put, "/v1/profiles/x", "{\"upstream\":{\"type\":\"direct\"}}"),
        ])
    func rights(method: ControlRequest.Method, path: String, body: String) throws {
        let stand = try PeerStand()
        let reply = try stand.send(method, path, body)
        #expect(reply.status == 403 && reply.has("may not push"), "\(reply)")
        #expect(try stand.send(method, path, body, key: "ci").status < 300)
    }

    @Test("a proxy that the peer's key may not name is not taken, and what came with it is")
    func hosts() throws {
        let stand = try PeerStand()
        let now = stand.now
        func profile(_ id: String, _ host: String, _ more: String = "") -> String {
            "{\"id\":\"\(id)\",\"upstream\":{\"type\":\"http\",\"host\":\"\(host)\",\"port\":1\(more)}}"
        }
        let list = [
            profile("good", "w.qa.example"), profile("bad", "evil.example"),
            profile("poor", "w.qa.example", ",\"user\":\"u\",\"passwordFile\":\"not-here\""),
        ].joined(separator: ",")
        let stamps = ["good", "bad", "poor"].map { "{\"item\":[\"profile\",\"\($0)\"],\"at\":\(now),\"by\":\"lab-2\"}" }
        let reply = try stand.tell("{\"profiles\":[\(list)],\"stamps\":[\(stamps.joined(separator: ","))]}")
        #expect(reply.has("profile bad: key pair may not bring a proxy at evil.example:1"), "\(reply)")
        #expect(reply.has("profile poor: its secret is not here; expected the file secrets/not-here"), "\(reply)")
        let profiles = stand.desk.ask(.get, "/v1/profiles")
        #expect(profiles.has("\"id\":\"good\"") && !profiles.has("evil.example") && !profiles.has("\"id\":\"poor\""))
    }

    @Test("before a peer was heard unknown devices are blocked with the reason, and then they are not")
    func waits() throws {
        let stand = try PeerStand()
        let stranger = Device.stranger
        func choice() -> ProfileChoice { stand.desk.administrator.profileRules.choice(for: stranger) }
        #expect(choice() == ProfileChoice(.block, .unheard))
        #expect(stand.desk.administrator.deviceSettings().newcomers == .waiting)
        #expect(stand.desk.ask(.get, "/v1/status").has("has not heard from its peer since it started"))
        // What lab-2 says to the program before this one does not count: it does not know that we may have forgotten.
        _ = try stand.tell("{}", reader: 12)
        #expect(choice().route == .block)
        _ = try stand.tell("{}")
        #expect(choice() == ProfileChoice(.profile("a"), .default))
        #expect(stand.desk.administrator.deviceSettings().newcomers == .served)
        #expect(!stand.desk.ask(.get, "/v1/status").has("has not heard from its peer"))
    }

    @Test("after peerWait unknown devices are treated like any new one, whoever is there")
    func waitsNoLonger() throws {
        let stand = try PeerStand("peerWait: \"0s\",")
        stand.desk.administrator.tendPeers(&stand.desk.gateway)
        #expect(!stand.desk.administrator.peers.isWaiting)
        let stranger = Device.stranger
        #expect(stand.desk.administrator.profileRules.choice(for: stranger).reason == .default)
    }

    @Test("a peer that was started anew is told everything again")
    func startedAnew() throws {
        let stand = try PeerStand()
        _ = try stand.tell(PeerStand.assignment("b", at: stand.now))
        #expect(stand.peer.pending.isEmpty)
        _ = try stand.tell("{}", life: 8)
        #expect(stand.peer.pending == [.assignment(try #require(DeviceIdentity(parsing: PeerStand.pixel)))])
    }

    @Test("without peers nothing is stamped")
    func none() throws {
        let desk = try Desk()
        defer { desk.remove() }
        desk.ask(.put, "/v1/profiles/mine", "{\"upstream\":{\"type\":\"direct\"}}")
        #expect(desk.administrator.plan.lab.stamps.isEmpty && !desk.administrator.plan.lab.profiles.isEmpty)
        #expect(desk.ask(.get, "/v1/status").has("\"peers\":[]"))
    }
}

extension Device {
    /// One that nobody has named.
    fileprivate static var stranger: Device {
        DeviceTable().device(.address(IPAddress(v4: 0x0a09_0063)))
    }
}
