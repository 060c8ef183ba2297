/// A bad link between device and gateway: what the emulator does to packets, each way.

import Foundation

public struct BadLink: Sendable, CustomStringConvertible {
    /// Shares of the packets, 0 to 1.
    public var loss = 0.0
    public var reorder = 0.0
    public var duplicate = 0.0
    public var corrupt = 0.0
    /// Milliseconds each way.
    public var delay = 0
    public var seed: UInt64 = 1

    public init(
        loss: Double = 0, reorder: Double = 0, duplicate: Double = 0, corrupt: Double = 0, delay: Int = 0,
        seed: UInt64 = 1
    ) {
        self.loss = loss
        self.reorder = reorder
        self.duplicate = duplicate
        self.corrupt = corrupt
        self.delay = delay
        self.seed = seed
    }

    public var description: String {
        let shares = [("loss", loss), ("reorder", reorder), ("duplicates", duplicate), ("corruption", corrupt)]
            .filter { $0.1 > 0 }.map { "\($0.0) \(Int($0.1 * 100))%" }
        return (shares + (delay > 0 ? ["\(delay) ms"] : [])).joined(separator: ", ")
    }
}

extension Lab {
    static func join(_ name: String, by link: BadLink) throws -> LabProgram {
        throw LabError("no emulator")
    }
}
