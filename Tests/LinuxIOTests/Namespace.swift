/// Tests of devices run in network namespaces of their own, each on a thread of its own.

import Glibc
import LinuxIO
import Synchronization
import Testing

enum Namespace {
    /// Whether this machine lets us make namespaces and TUN devices.
    static let isAvailable =
        (try? run {
            guard let device = try? TunnelDevice.open(name: "probe%d", queues: 1) else { return false }
            return device.queueCount == 1
        }) ?? false

    /// Runs `body` in a new network namespace and returns what it found.
    static func run<Finding: Sendable>(_ body: @escaping @Sendable () throws -> Finding) throws -> Finding {
        let box = Box<Finding>()
        let thread = try WorkerThread.start(name: "namespace") {
            box.content.withLock { content in
                content = Result {
                    try NetworkNamespace.enterNew()
                    return try body()
                }
            }
        }
        thread.join()
        return try #require(box.content.withLock { $0 }).get()
    }

    /// Runs ip(8) in the namespace of this thread.
    static func ip(_ arguments: String) throws {
        let status = try Tool.run("ip", arguments.split(separator: " ").map(String.init))
        try #require(status == 0, "ip \(arguments)")
    }
}

private final class Box<Finding: Sendable>: Sendable {
    let content = Mutex<Result<Finding, any Error>?>(nil)
}
