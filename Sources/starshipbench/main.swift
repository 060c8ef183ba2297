/// # starshipbench: the load generator and the upstream of scripts/bench
///
///     client ──▶ gateway under test ──▶ upstream ──▶ server
///
/// Every part is one thread and one epoll, and uses as little of the machine as it can: gateway and load share the
/// processors, so what the load takes the gateway lacks. Clients end by themselves after `--alarm` seconds at the
/// latest; server and upstream run until they are ended, or for that time.

internal import Glibc
internal import LinuxIO

do {
    try Command.run(Array(CommandLine.arguments.dropFirst()))
} catch let error as UsageError {
    StandardError.write("starshipbench: \(error)\n")
    exit(64)
} catch {
    StandardError.write("starshipbench: \(error)\n")
    exit(1)
}
