/// Networks, and the first rule that wants an address.

import Addresses

/// Networks of both families; `seal` comes after the last of them and before the first question.
struct PrefixTable: Sendable {
    private var v4 = PrefixTree()
    private var v6 = PrefixTree()

    var isEmpty: Bool { v4.isEmpty && v6.isEmpty }

    mutating func add(_ prefix: IPPrefix, rule: UInt32) {
        if prefix.base.isIPv4 { v4.add(prefix, rule: rule) } else { v6.add(prefix, rule: rule) }
    }

    mutating func seal() {
        v4.seal()
        v6.seal()
    }

    /// The lowest rule with a network that the address is in, or `noRule`.
    func first(_ address: IPAddress) -> UInt32 { address.isIPv4 ? v4.first(address) : v6.first(address) }

    /// The network of that rule that the address is in.
    func prefix(of rule: UInt32, around address: IPAddress) -> IPPrefix? {
        address.isIPv4 ? v4.prefix(of: rule, around: address) : v6.prefix(of: rule, around: address)
    }

    /// All networks with the rules that want them, in order of address.
    var all: [(prefix: IPPrefix, rule: UInt32)] { v4.all + v6.all }
}

/// Networks of one family, which are nested or apart: each knows the next larger one around it.
///
/// They lie in the order of their first addresses, the larger before the smaller. The network around an address that
/// lies last in that order is found by bisection, and holds the lowest rule of itself and all around it.
private struct PrefixTree: Sendable {
    private struct Node {
        var prefix: IPPrefix
        var rule: UInt32
        /// The lowest rule of this network and of those around it.
        var lowest: UInt32
        var parent: Int32
    }

    private var nodes: [Node] = []

    var isEmpty: Bool { nodes.isEmpty }

    var all: [(prefix: IPPrefix, rule: UInt32)] { nodes.map { ($0.prefix, $0.rule) } }

    mutating func add(_ prefix: IPPrefix, rule: UInt32) {
        nodes.append(Node(prefix: prefix, rule: rule, lowest: rule, parent: -1))
    }

    mutating func seal() {
        nodes.sort { left, right in
            let (a, b) = (left.prefix, right.prefix)
            if a.base.high != b.base.high { return a.base.high < b.base.high }
            if a.base.low != b.base.low { return a.base.low < b.base.low }
            return a.length != b.length ? a.length < b.length : left.rule < right.rule
        }
        var kept = 0
        for index in nodes.indices {
            // Of equal networks the first rule stays.
            if kept > 0, nodes[kept - 1].prefix == nodes[index].prefix { continue }
            nodes[kept] = nodes[index]
            kept += 1
        }
        nodes.removeLast(nodes.count - kept)
        var around: Int32 = -1
        for index in nodes.indices {
            while around >= 0, !nodes[Int(around)].prefix.contains(nodes[index].prefix.base) {
                around = nodes[Int(around)].parent
            }
            nodes[index].parent = around
            nodes[index].lowest = around < 0 ? nodes[index].rule : min(nodes[index].rule, nodes[Int(around)].lowest)
            around = Int32(index)
        }
    }

    func first(_ address: IPAddress) -> UInt32 {
        innermost(address).map { nodes[$0].lowest } ?? noRule
    }

    func prefix(of rule: UInt32, around address: IPAddress) -> IPPrefix? {
        var next = innermost(address)
        while let index = next {
            if nodes[index].rule == rule { return nodes[index].prefix }
            next = nodes[index].parent < 0 ? nil : Int(nodes[index].parent)
        }
        return nil
    }

    private func innermost(_ address: IPAddress) -> Int? {
        var (low, high) = (0, nodes.count)
        while low < high {
            let middle = (low + high) / 2
            let base = nodes[middle].prefix.base
            if (base.high, base.low) <= (address.high, address.low) { low = middle + 1 } else { high = middle }
        }
        var index = low - 1
        while index >= 0, !nodes[index].prefix.contains(address) { index = Int(nodes[index].parent) }
        return index < 0 ? nil : index
    }
}
