/// The test program that sets up the gateway namespace's network as a plan says.

import Foundation

public final class NetworkDriver {
    public let program: LabProgram
    private let lab: Lab
    private let plan: URL
    private let state: URL

    /// Starts it with a plan, a line a setting, and waits until it stands.
    public init(_ lab: Lab, _ plan: String, path: String? = nil) throws {
        self.lab = lab
        self.plan = lab.directory.appending(path: "plan")
        state = lab.directory.appending(path: "network.state")
        try plan.write(to: self.plan, atomically: true, encoding: .utf8)
        let environment = path.map { ["env", "PATH=\($0):/usr/sbin:/usr/bin:/sbin:/bin"] } ?? []
        program = try lab.start(
            .gateway, environment + ["\(Lab.binaries)/networkdriver", "run", state.path, self.plan.path])
        try program.waitFor("applied", within: 60)
    }

    /// Runs it with a plan that is refused, and returns what it says.
    public static func refusal(_ lab: Lab, _ plan: String, path: String? = nil) throws -> String {
        do {
            _ = try NetworkDriver(lab, plan, path: path)
        } catch {
            let text = "\(error)"
            guard let line = text.split(separator: "\n").first(where: { $0.contains("error: ") }) else { throw error }
            return String(line)
        }
        throw LabError("the plan was not refused: \(plan)")
    }

    /// Gives it another plan, and waits until that stands or is refused.
    public func update(_ text: String) throws {
        try text.write(to: plan, atomically: true, encoding: .utf8)
        let before = count("update")
        program.signal(.hangUp)
        guard Lab.wait(until: { count("update") > before }) else { throw LabError("no update: \(program.output)") }
    }

    /// Ends it the orderly way; everything is undone then.
    public func stop() throws {
        program.signal(.terminate)
        let result = try program.wait(within: 30)
        guard result.status == 0 else { throw LabError("networkdriver: \(result.output.suffix(2000))") }
    }

    public func kill() { program.end(.kill) }

    /// What `starshipd cleanup` does.
    public static func cleanup(_ lab: Lab) throws {
        let state = lab.directory.appending(path: "network.state")
        let result = try lab.run(.gateway, ["\(Lab.binaries)/networkdriver", "cleanup", state.path])
        guard result.status == 0 else { throw LabError("cleanup: \(result.output)\(result.errors)") }
    }

    // What it says

    public func lines(_ start: String) -> [String] {
        program.output.split(separator: "\n").filter { $0.hasPrefix(start) }.map { String($0) }
    }

    private func count(_ start: String) -> Int { lines(start).count }

    /// Waits until a packet has arrived in the TUN device, and says whether one has.
    public func hasPacket(_ text: String, within seconds: Double = Lab.patience) -> Bool {
        Lab.wait(seconds) { lines("packet ").contains { $0.contains(text) } }
    }

    public func hasNotice(_ text: String, within seconds: Double = Lab.patience) -> Bool {
        Lab.wait(seconds) { lines("notice: ").contains { $0.contains(text) } }
    }
}

extension Lab {
    /// Everything of a namespace's network that somebody could leave behind.
    public func listings(_ place: Place = .gateway) throws -> String {
        let commands = [
            "ip -j -4 rule", "ip -j -6 rule", "ip -j -4 route show table all", "ip -j -6 route show table all",
            "ip -j addr", "nft -j list ruleset", "sysctl -a 2>/dev/null | grep -E '^net\\.ipv[46]\\.'",
        ]
        let result = try run(place, ["bash", "-c", commands.joined(separator: "; echo; ")])
        // Handles count up, and the lifetime of an address goes down.
        return result.output.split(separator: "\n").filter { !$0.contains("nf_conntrack") }.joined(separator: "\n")
    }

    /// Runs a line of the shell in a namespace; it must succeed.
    @discardableResult
    public func shell(_ place: Place, _ line: String) throws -> String {
        let result = try run(place, ["bash", "-euc", line])
        guard result.status == 0 else { throw LabError("\(line): \(result.errors)") }
        return result.output
    }
}
