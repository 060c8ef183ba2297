/// Destination ports, and the first rule that wants one.

struct PortTable: Sendable {
    /// For each port its lowest rule; empty until there is one.
    private var rules: [UInt32] = []
    /// For each port the next one from there that has no rule yet, or a hint that leads to it.
    private var nextFree: [UInt32] = []

    var isEmpty: Bool { rules.isEmpty }

    /// Adds ports; rules come in the order of their numbers, so a port that has one keeps it.
    mutating func add(_ ports: ClosedRange<UInt16>, rule: UInt32) {
        if rules.isEmpty {
            rules = [UInt32](repeating: noRule, count: 65536)
            nextFree = Array(0...65536)
        }
        var port = free(from: Int(ports.lowerBound))
        while port <= Int(ports.upperBound) {
            rules[port] = rule
            nextFree[port] = UInt32(port + 1)
            port = free(from: port + 1)
        }
    }

    func first(_ port: UInt16) -> UInt32 { rules.isEmpty ? noRule : rules[Int(port)] }

    /// Follows the hints and shortens them on the way.
    private mutating func free(from port: Int) -> Int {
        var root = port
        while Int(nextFree[root]) != root { root = Int(nextFree[root]) }
        var step = port
        while step != root { (step, nextFree[step]) = (Int(nextFree[step]), UInt32(root)) }
        return root
    }
}
