/// Which part of the load generator runs, by the first words of the command line.

internal import Glibc
internal import LinuxIO

enum Command {
    static let usage = """
        starshipbench upstream --listen ADDRESS:PORT [--echo]
        starshipbench server --listen ADDRESS [--sink PORT] [--source PORT] [--duplex PORT] [--echo PORT]
        starshipbench client throughput --to ADDRESS:PORT --direction up|down|both [--streams N] [--seconds S]
                                        [--warmup S] [--drain S]
        starshipbench client rate --to ADDRESS:PORT [--at-once N] [--seconds S]
        starshipbench client latency --to ADDRESS:PORT --kind first-byte|ping-pong [--count N] [--limit S]
        starshipbench client hold --to ADDRESS:PORT --count N [--at-once N] [--limit S]
        starshipbench routing --matcher index|linear|dictionary [--suffixes N] [--seconds S]
        each with --alarm S: end after S seconds whatever happens (a client: 300)
        """

    /// Chooses what runs by the first words.
    static func run(_ words: [String]) throws {
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
        case "routing":
            var bench = try RoutingBench(&arguments)
            try bench.run()
        default: throw UsageError(usage)
        }
    }
}
