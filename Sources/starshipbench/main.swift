/// # starshipbench: the load generator and the upstream of scripts/bench
///
///     client ──▶ gateway under test ──▶ upstream ──▶ server
///
/// Every part is one thread and one epoll, and uses as little of the machine as it can: gateway and load share the
/// processors, so what the load takes the gateway lacks. Clients end by themselves after `--alarm` seconds at the
/// latest; server and upstream run until they are ended, or for that time.

internal import Glibc
internal import LinuxIO

let usage = """
    starshipbench upstream --listen ADDRESS:PORT [--echo]
    starshipbench server --listen ADDRESS [--sink PORT] [--source PORT] [--duplex PORT] [--echo PORT]
    starshipbench client throughput --to ADDRESS:PORT --direction up|down|both [--streams N] [--seconds S]
                                    [--warmup S] [--drain S]
    starshipbench client rate --to ADDRESS:PORT [--at-once N] [--seconds S]
    starshipbench client latency --to ADDRESS:PORT --kind first-byte|ping-pong [--count N] [--limit S]
    starshipbench client hold --to ADDRESS:PORT --count N [--limit S]
    each with --alarm S: end after S seconds whatever happens (a client: 300)
    """

/// Chooses what runs by the first words.
func start(_ words: [String]) throws {
    _ = DescriptorLimit.raise()
    let isClient = words.first == "client"
    let verbs = words.prefix(isClient ? 2 : 1)
    var arguments = try Arguments(words.dropFirst(verbs.count), flags: verbs == ["upstream"] ? ["echo"] : [])
    alarm(UInt32(try arguments.number("alarm", default: isClient ? 300 : 0)))
    switch verbs.joined(separator: " ") {
    case "upstream":
        var upstream = try Upstream(&arguments)
        upstream.run()
    case "server":
        var server = try Server(&arguments)
        server.run()
    case "client throughput":
        var client = try ThroughputClient(&arguments)
        try client.run()
    case "client rate":
        var client = try RateClient(&arguments)
        try client.run()
    case "client latency":
        var client = try LatencyClient(&arguments)
        try client.run()
    case "client hold":
        var client = try HoldClient(&arguments)
        try client.run()
    default: throw UsageError(usage)
    }
}

do {
    try start(Array(CommandLine.arguments.dropFirst()))
} catch let error as UsageError {
    StandardError.write(line: "starshipbench: \(error)")
    exit(64)
} catch {
    StandardError.write(line: "starshipbench: \(error)")
    exit(1)
}
