/// The page's port follows the file while the gateway runs.

import Addresses
import Bytes
import LinuxIO
import Testing

@testable import Administration
@testable import Control

@Suite("Moving the page")
struct PageMoveTests {
    private static let network = "network: { setup: \"gateway\", lan: [\"nosuch0\"] },"

    /// A port that somebody has, for as long as the socket lives.
    private static func taken() throws -> PageDoor {
        PageDoor(try Socket.listen(on: SocketAddress(IPAddress(v4: 0), 0)))
    }

    private static func port(of door: PageDoor) throws -> UInt16 { try #require(door.socket.localAddress?.port) }

    /// A port that nobody has just now.
    private static func free() throws -> UInt16 { try port(of: taken()) }

    private static func desk(_ port: UInt16) throws -> Desk {
        let desk = try Desk()
        try desk.restart(Desk.pageProfiles, "page: { port: \(port) },", network: network)
        return desk
    }

    private static func reload(_ desk: Desk, _ page: String) throws -> Reply {
        try desk.edit(Desk.pageProfiles, page, network: network)
        return desk.ask(.post, "/v1/reload")
    }

    @Test("another port is open before the answer says so, and hosts with it are ours")
    func moves() throws {
        let (before, after) = (try Self.free(), try Self.free())
        let desk = try Self.desk(before)
        defer { desk.remove() }
        #expect(Phone(desk, "10.9.0.2", host: "10.9.0.1:\(before)").get("/").status == 200)
        let answer = try Self.reload(desk, "page: { port: \(after) },")
        #expect(answer.status == 200 && !answer.has("\"page\""), "\(answer)")
        guard case .open(let doors)? = desk.administrator.pageMove else {
            Issue.record("nothing was opened")
            return
        }
        #expect(try doors.allSatisfy { try Self.port(of: $0) == after })
        #expect(Phone(desk, "10.9.0.2", host: "10.9.0.1:\(after)").get("/").status == 200)
        #expect(Phone(desk, "10.9.0.2", host: "10.9.0.1:\(before)").get("/").status == 421)
        #expect(Phone(desk, "10.9.0.2").get("/").status == 200)
    }

    @Test("a port that can't be had is refused with its place, and the page stays where it is")
    func refused() throws {
        let (before, door) = (try Self.free(), try Self.taken())
        let taken = try Self.port(of: door)
        let desk = try Self.desk(before)
        defer { desk.remove() }
        let answer = try Self.reload(desk, "page: { port: \(taken) },")
        #expect(answer.status == 409 && answer.has("page.port", "\(taken)", "can't be listened on"), "\(answer)")
        #expect(desk.administrator.pageMove == nil && desk.administrator.plan.pagePort == before)
        #expect(Phone(desk, "10.9.0.2", host: "10.9.0.1:\(before)").get("/").status == 200)
        withExtendedLifetime(door) {}
    }

    @Test("a page that is turned off is closed, and one that stays does not move")
    func closes() throws {
        let port = try Self.free()
        let desk = try Self.desk(port)
        defer { desk.remove() }
        #expect(try Self.reload(desk, "page: { port: \(port), viewers: [\"10.9.0.0/24\"] },").status == 200)
        #expect(desk.administrator.pageMove == nil)
        #expect(try !Self.reload(desk, "page: false,").has("\"page\""))
        guard case .close? = desk.administrator.pageMove else {
            Issue.record("it was not closed")
            return
        }
        #expect(desk.administrator.plan.pagePort == nil)
    }

    @Test("where the routes for devices are to go, the page goes with them at the next start, and the answer says so")
    func restart() throws {
        let port = try Self.free()
        let desk = try Self.desk(port)
        defer { desk.remove() }
        try desk.edit(Desk.pageProfiles)
        let answer = desk.ask(.post, "/v1/reload")
        #expect(answer.status == 200 && answer.has("\"page\"", "\"network\""), "\(answer)")
        #expect(desk.administrator.pageMove == nil && desk.administrator.plan.pagePort == port)
    }
}
