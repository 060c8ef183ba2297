/// Makes the machine's network what a plan says, follows what changes, and takes everything back.

import Addresses
import Bytes
import LinuxIO

/// The one owner of our rules, routes, addresses and settings in this network namespace.
///
/// All calls run tools and wait for them: nothing for a worker. A call that throws has changed nothing.
public struct NetworkSetup: ~Copyable {
    /// What a call found and did.
    public struct Report: Equatable, Sendable {
        /// What is not as it should be, and is not ours to change.
        public var notices: [NetworkNotice] = []
        /// What was done, line by line; empty when everything was there.
        public var done: [String] = []
    }

    let statePath: String
    let tools: SystemTools
    public internal(set) var plan: NetworkPlan?
    /// What the firewall was given, and what it shows of it.
    var firewall = ""
    /// What nft(8) showed of our table when it was made, without the elements of its sets; nil: there is none.
    public internal(set) var firewallListing: String?
    var lent: [NetworkPlan.Lent] = []
    /// Settings that are not as they should be and that this process may not make.
    var protected: [NetworkNotice] = []
    /// Connections that `host` found; later ones have their marks.
    var standing: StandingConnections?

    /// Nothing is done yet; `statePath` is where the kernel's former settings are kept.
    public init(statePath: String = NetworkNames.statePath, tools: SystemTools = SystemTools()) {
        self.statePath = statePath
        self.tools = tools
    }

    /// Makes everything as the plan says: at the start, at a switch, over what a crash has left.
    ///
    /// Only what differs is touched.
    public mutating func apply(_ plan: NetworkPlan) throws(NetworkError) -> Report {
        try Self.validate(plan)
        guard plan.setup != .none else {
            try undo()
            self.plan = plan
            return Report()
        }
        let machine = try Self.machine()
        if let conflict = Conflict.first(plan, machine) { throw conflict }
        guard machine.link(plan.tunnel) != nil else { throw .noTunnel(plan.tunnel) }
        if plan.setup == .host, standing == nil { standing = try Self.standingConnections(tools) }
        let script = NetworkScript(plan, on: machine, standing: standing ?? StandingConnections())
        // Whoever asks for the same plan again (a reload) wants what others have changed made good, too.
        if firewallListing != nil, try tools.listing(.ownTable) != firewallListing {
            firewall = ""
        }
        var report = Report()
        report.done = try carryOut(script, on: machine, lent: plan.lent)
        if !report.done.isEmpty { Self.forgetStranded(plan, on: machine) }
        self.plan = plan
        report.notices = protected + (try notices(plan, machine))
        return report
    }

    /// Makes everything as the plan says again, after something has changed (`NetworkMonitor`).
    ///
    /// Unlike at the start, a conflict or a missing device is a notice: what stands goes on standing.
    public mutating func refresh() throws(NetworkError) -> Report {
        guard let plan, plan.setup != .none else { return Report() }
        let machine = try Self.machine()
        let script = NetworkScript(plan, on: machine, standing: standing ?? StandingConnections())
        if try tools.listing(.ownTable) != firewallListing { firewall = "" }
        var report = Report()
        report.done = try carryOut(script, on: machine, lent: plan.lent)
        if !report.done.isEmpty { Self.forgetStranded(plan, on: machine) }
        report.notices = protected + (try notices(plan, machine))
        return report
    }

    /// Takes everything back.
    public mutating func undo() throws(NetworkError) {
        plan = nil
        firewall = ""
        firewallListing = nil
        lent = []
        standing = nil
        try Self.cleanup(statePath: statePath, tools: tools)
    }

    // Finding out

    static func machine() throws(NetworkError) -> KernelNetwork {
        do throws(SystemCallError) { return try KernelNetwork.read() } catch { throw .system(error) }
    }

    static func standingConnections(_ tools: SystemTools) throws(NetworkError) -> StandingConnections {
        do throws(SystemCallError) {
            return StandingConnections(reading: try tools.run(.connections).output)
        } catch {
            throw .system(error)
        }
    }

    /// A name becomes a word of a line of ip(8), of nft(8) and of a path.
    static func validate(_ plan: NetworkPlan) throws(NetworkError) {
        for name in [plan.tunnel] + plan.lan.map(\.interface) + plan.uplinks {
            let isSafe = name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && !"\"'\\/*;{}#$,".utf8.contains($0) }
            guard isSafe, (1...15).contains(name.utf8.count), name != ".", name != "..", !name.hasPrefix("-") else {
                throw .interfaceName(name)
            }
        }
    }
}
