/// A phone with a browser, in front of the page.

import Addresses
import Bytes
import Control
import Devices
import Gateway
import LinuxIO
import Profiles
import Testing

@testable import Administration
@testable import Page

/// What a browser got.
struct PageReply: CustomStringConvertible {
    var status: Int
    var html: String
    /// Where it is sent.
    var location: String?

    var description: String { "\(status) \(location ?? "") \(html)" }

    func has(_ pieces: String...) -> Bool { pieces.allSatisfy(html.contains) }

    /// The token in the form for a path; nil where there is no such form.
    func token(_ action: String) -> String? {
        guard let form = html.firstRange(of: "action=\"\(action)\""),
            let start = html[form.upperBound...].firstRange(of: "name=\"token\" value=\"")?.upperBound
        else { return nil }
        return String(html[start...].prefix { $0 != "\"" })
    }
}

/// An address; 0.0.0.0 for what is none.
func numeric(_ text: String) -> IPAddress { IPAddress(parsing: text) ?? IPAddress(v4: 0) }

struct Phone {
    let desk: Desk
    var address: String
    /// Under which name it knows the gateway.
    var host = "10.9.0.1"

    /// Puts a phone on the LAN, with a MAC of its own.
    init(_ desk: Desk, _ address: String, mac: String? = nil, host: String = "10.9.0.1") {
        (self.desk, self.address, self.host) = (desk, address, host)
        guard let mac, let mac = MACAddress(parsing: mac), let place = IPAddress(parsing: address) else { return }
        desk.administrator.devices.note(
            Sighting(address: place, mac: mac, interface: "wlan0", seen: Clock.unixTime().seconds))
    }

    private var place: IPAddress { numeric(address) }

    var identity: DeviceIdentity { desk.administrator.devices.identity(at: place) ?? .address(place) }

    var assignment: Assignment? { desk.administrator.devices.device(identity).assignment }

    /// The profile that its flows get; nil: the default.
    var routed: String? {
        let administrator = desk.administrator
        return administrator.deviceSettings().profiles[place].map {
            administrator.plan.effective.configuration.profiles[$0].id
        }
    }

    func get(_ target: String) -> PageReply { send(PageHead(method: "GET", host: host), target) }

    /// Sends a form from a page of ours, with the token that such a page has.
    @discardableResult
    func post(_ action: PageAction, _ values: (String, String)..., token: String? = nil) -> PageReply {
        let token =
            token
            ?? desk.administrator.pageTokens.text(
                device: "\(identity)", action: action, at: Clock.unixTime().seconds)
        return submit(action.rawValue, values + [("token", token)], origin: "http://\(host)")
    }

    /// Sends a form as any page on the Internet can have a browser do.
    func submit(_ path: String, _ values: [(String, String)], origin: String?) -> PageReply {
        let body = Self.body(values)
        let head = PageHead(
            method: "POST", host: host, origin: origin, contentType: "application/x-www-form-urlencoded",
            bodyCount: body.count)
        return send(head, "/\(path)", body)
    }

    /// A form as it comes, with a number of its own.
    func visit(_ action: PageAction, _ values: (String, String)...) -> PageVisit {
        let head = PageHead(method: "POST", host: host, origin: "http://\(host)")
        let body = Self.body(values + [("token", "")])
        return visit(head, "/\(action.rawValue)", body, number: 42)
    }

    private static func body(_ values: [(String, String)]) -> [UInt8] {
        let pairs = values.map { "\(PercentCoding.encode($0.0))=\(PercentCoding.encode($0.1))" }
        return Array(pairs.joined(separator: "&").utf8)
    }

    private func visit(_ head: PageHead, _ target: String, _ body: [UInt8], number: UInt64 = 0) -> PageVisit {
        let ours: Set<IPAddress> = [IPAddress(v4: 0x0a09_0001), IPAddress(high: 0xfd00_0000_0000_0000, low: 1)]
        let local = place.isIPv4 ? IPAddress(v4: 0x0a09_0001) : IPAddress(high: 0xfd00_0000_0000_0000, low: 1)
        return PageVisit(
            head: head, target: target, body: body, client: SocketAddress(place, 40_000), local: local,
            addresses: ours, number: number)
    }

    private func send(_ head: PageHead, _ target: String, _ body: [UInt8] = []) -> PageReply {
        let answer = desk.visit(visit(head, target, body))
        return PageReply(
            status: answer.status, html: String(decoding: answer.body, as: UTF8.self), location: answer["Location"])
    }
}

extension Desk {
    /// Profiles for everybody and not, one of them of a proxy that decrypts.
    static let pageProfiles = """
        { id: "a", upstream: { type: "http", host: "127.0.0.1", port: 9 }, selfService: true },
        { id: "b", name: "Bee", upstream: { type: "direct" }, selfService: true },
        { id: "qa", name: "Whistle QA", upstream: { type: "http", host: "127.0.0.1", port: 10, kind: "whistle" },
          domains: ["shop.example"], selfService: true },
        { id: "locked", name: "Locked", upstream: { type: "http", host: "127.0.0.1", port: 11 } }
        """

    /// A gateway with these profiles.
    static func forPages(_ more: String = "") throws -> Desk {
        let desk = try Desk()
        try desk.edit(pageProfiles, more)
        let read = desk.ask(.post, "/v1/reload")
        try #require(read.status == 200, "\(read)")
        return desk
    }

    /// What the store counts; nothing has changed while it is the same.
    var revision: Int { administrator.store.number }
}
