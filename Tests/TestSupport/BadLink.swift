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

extension BadLink {
    /// The emulator's options (`Tests/LinkEmulator`).
    var options: [String] {
        let shares = [("--loss", loss), ("--reorder", reorder), ("--duplicate", duplicate), ("--corrupt", corrupt)]
        return shares.filter { $0.1 > 0 }.flatMap { [$0.0, "\($0.1)"] } + ["--delay", "\(delay)", "--seed", "\(seed)"]
    }
}

extension Lab {
    /// Joins device and gateway by the emulator, then makes the other links.
    static func emulate(_ link: BadLink, in name: String, _ directory: URL) throws -> LabProgram {
        try script("spaces", name)
        let command = ["\(binaries)/linkemulator", "--left", "\(name)-device:eth0", "--right", "\(name)-gateway:lan"]
        let program = try LabProgram(
            command + link.options, in: directory, environment: ProcessInfo.processInfo.environment)
        try program.waitFor("ready")
        try script("links", name)
        return program
    }
}
