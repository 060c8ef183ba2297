/// Numbers in the order of their last use, in O(1) a step.
///
/// The links of all numbers stand in one array; a `Chain` is the two ends of one order. So a thousand chains cost
/// their ends, and a number that moves to the newest end allocates nothing.

/// The ends of one order; both are `UseOrder.none` while it is empty.
struct Chain: Sendable {
    fileprivate(set) var oldest = UseOrder.none
    fileprivate(set) var newest = UseOrder.none
}

/// The links between small numbers, each of which is in at most one chain.
struct UseOrder: Sendable {
    /// No number.
    static let none = UInt32.max

    private struct Links: Sendable {
        var older = UseOrder.none
        var newer = UseOrder.none
    }

    private var links: [Links] = []

    /// The number that was used next after this one.
    func newer(than number: UInt32) -> UInt32 { links[Int(number)].newer }

    /// Makes the number the newest of a chain; it must not be in any.
    mutating func append(_ number: UInt32, to chain: inout Chain) {
        while links.count <= Int(number) { links.append(Links()) }
        links[Int(number)] = Links(older: chain.newest, newer: Self.none)
        if chain.newest == Self.none { chain.oldest = number } else { links[Int(chain.newest)].newer = number }
        chain.newest = number
    }

    /// Takes the number out of the chain that it is in.
    mutating func remove(_ number: UInt32, from chain: inout Chain) {
        let link = links[Int(number)]
        if link.older == Self.none { chain.oldest = link.newer } else { links[Int(link.older)].newer = link.newer }
        if link.newer == Self.none { chain.newest = link.older } else { links[Int(link.newer)].older = link.older }
        links[Int(number)] = Links()
    }
}
