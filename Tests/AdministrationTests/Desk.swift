/// An administrator and a gateway without devices, asked as over the control socket.

import Bytes
import Foundation
import Gateway
import LinuxIO
import Page
import Profiles
import TestSupport
import Upstreams

@testable import Administration
@testable import Control

/// What was answered.
struct Reply: CustomStringConvertible {
    var status: Int
    var text: String

    var description: String { "\(status) \(text)" }

    /// Whether each piece of JSON stands in the answer.
    func has(_ pieces: String...) -> Bool { pieces.allSatisfy(text.contains) }
}

final class Desk {
    let directory: URL
    var administrator: Administrator
    var gateway: Gateway

    static let profiles = """
        { id: "a", upstream: { type: "http", host: "127.0.0.1", port: 9 }, selfService: true },
        { id: "b", name: "Bee", upstream: { type: "direct" } }
        """

    /// Starts anew, or on what another one has left in a directory.
    init(_ more: String = "", on former: URL? = nil) throws {
        directory = former ?? URL(filePath: "/tmp/starship-desk-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        if former == nil { try Self.write(directory, Self.profiles, more) }
        administrator = try Administrator(Self.options(directory), version: "test")
        let settings = try administrator.settings()
        gateway = try Gateway.start(settings)
    }

    deinit { gateway.stop() }

    /// Removes what is on the disk; for the last one of a test.
    func remove() { try? FileManager.default.removeItem(at: directory) }

    private static func options(_ directory: URL) throws -> CommandLineOptions {
        try CommandLineOptions.parse(["run", "--config", directory.appending(path: "c.json5").path])
    }

    /// A configuration has at least one way in; this one is used by nobody.
    private static func write(
        _ directory: URL, _ profiles: String, _ more: String,
        network: String = "tun: false, network: { setup: \"none\" },"
    ) throws {
        let text = """
            { \(network) socks: { listen: "\(Loopback.next()):1080" }, control: false, clock: "trust", gateway: "lab-1",
              state: "\(directory.path)/state", log: { level: "error" }, \(more)
              profiles: [\(profiles)], active: "a" }
            """
        try text.write(to: directory.appending(path: "c.json5"), atomically: true, encoding: .utf8)
    }

    /// Writes another file for the next reload.
    func edit(_ profiles: String = Desk.profiles, _ more: String = "", network: String? = nil) throws {
        guard let network else { return try Self.write(directory, profiles, more) }
        try Self.write(directory, profiles, more, network: network)
    }

    func put(_ name: String, _ text: String) throws -> String {
        let file = directory.appending(path: name)
        try text.write(to: file, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        return file.path
    }

    /// Asks as root does over the Unix socket.
    @discardableResult
    func ask(_ method: ControlRequest.Method, _ target: String, _ body: String? = nil) -> Reply {
        let parts = target.split(separator: "?", maxSplits: 1)
        var request = ControlRequest(
            method: method, target: target, path: [], parameters: [], host: "gateway", signature: [:],
            isJSON: body != nil, body: Array((body ?? "").utf8),
            source: .local(PeerCredentials(user: 0, group: 0, process: 1)))
        request.path = parts[0].split(separator: "/").map { (try? PercentCoding.decode($0)) ?? "" }
        for pair in parts.dropFirst().flatMap({ $0.split(separator: "&") }) {
            let sides = pair.split(separator: "=", maxSplits: 1).map(String.init)
            request.parameters.append(ControlRequest.Parameter(name: sides[0], value: sides[1]))
        }
        let answer = administrator.answer(request, &gateway)
        return Reply(status: answer.status, text: answer.body)
    }

    /// Asks for a page as a browser does.
    func visit(_ visit: PageVisit) -> PageAnswer {
        // Who looks after upstreams is not there, so nothing waits for one.
        administrator.answer(visit, &gateway) ?? .line("", status: 500)
    }

    /// Reads another file for what devices are told, as if the gateway had been started with it.
    func restart(_ profiles: String = Desk.profiles, _ more: String, network: String) throws {
        try Self.write(directory, profiles, more, network: network)
        administrator = try Administrator(Self.options(directory), version: "test")
    }

    /// Has it look after upstreams, as it does while it serves.
    func lookAfterUpstreams() throws { administrator.desk = try HealthDesk(resolvingTargets: nil) }

    /// The answer that was promised, once probes have brought it; nil after 20 s.
    func promised() -> Reply? {
        for _ in 0..<200 {
            _ = administrator.desk?.prober.bell.wait(atMost: .milliseconds(100))
            administrator.collectProbes(&gateway)
            if let answer = administrator.deliveries.popLast()?.answer {
                return Reply(status: answer.status, text: answer.body)
            }
        }
        return nil
    }

    /// Has the time be over that somebody had to confirm a change.
    func endConfirmation() {
        guard let unconfirmed = administrator.plan.lab.unconfirmed else { return }
        administrator.takeBack(unconfirmed, because: "nobody confirmed it in time", &gateway)
    }

    /// Lets the administrator see to what is due at a time of the calendar.
    func seeToIt(at second: Int64) { administrator.endLeases(second, &gateway) }
}
