/// The command line of the link emulator.

/// Where one end of the link is.
struct End {
    /// As `ip netns` names it; empty for the namespace of the emulator itself.
    var namespace: String
    var interface: String
}

/// What the link does to the packets of one direction.
struct Impairment {
    var loss = 0.0
    var reorder = 0.0
    var duplicate = 0.0
    var corrupt = 0.0
    /// Nanoseconds.
    var delay: Int64 = 0
    var jitter: Int64 = 0
    var reorderHold: Int64 = 1_000_000
    /// Nanoseconds an octet takes on the wire; 0 when the rate is not limited.
    var nanosecondsPerOctet = 0.0
    /// The most packets in the link at a time.
    var limit = 10_000
    var corruptsAnywhere = false
}

/// Why the command line was refused.
struct UsageError: Error {
    let text: String
}

struct Options {
    static let usage = """
        usage: linkemulator --left [NETNS:]IFACE --right [NETNS:]IFACE [options]

        Joins two TUN devices, one in each network namespace, packet by packet, and impairs the packets.
        The devices are made where they do not exist, and set up with --mtu and --queue-length by ip(8);
        addresses and routes are the caller's, after the line {"ready":true} on standard output. A device made
        before (ip tuntap add mode tun) keeps its addresses and outlives the emulator.

          --tap                Ethernet frames (TAP) instead of IP packets
          --mtu N              MTU of both devices (1500)
          --queue-length N     txqueuelen of both devices (5000)
          --seed N             the same seed gives the n-th packet of a direction the same fate (1)

        Each of these also with --up- (left to right alone) or --down- (right to left alone) before its name:

          --loss P             probability, 0 to 1 (or 3%), that a packet is dropped
          --duplicate P        … that it is delivered twice
          --corrupt P          … that one bit behind the IP header is flipped: TCP, UDP and ICMP checksums see it
          --corrupt-anywhere   the bit may be in the IP header too
          --reorder P          … that it is held back, so that later ones overtake it
          --reorder-hold MS    held back for more than 0 and up to so long (1)
          --delay MS           time on the way; fractions are allowed
          --jitter MS          0 to so much more, without overtaking
          --rate MBIT          serialised at so many 10^6 bits a second
          --limit N            at most so many packets in the link, others are dropped (10000)

        Ends with SIGTERM, SIGINT or the end of standard input (a pipe), and prints counters as one line of
        JSON; SIGUSR1 prints them on the way.
        """

    var left = End(namespace: "", interface: "")
    var right = End(namespace: "", interface: "")
    var isTap = false
    var mtu = 1500
    var queueLength = 5000
    var seed: UInt64 = 1
    /// Left to right.
    var up = Impairment()
    /// Right to left.
    var down = Impairment()

    init(_ arguments: [String]) throws(UsageError) {
        var rest = arguments[...]
        while let option = rest.popFirst() {
            guard option.hasPrefix("--") else { throw UsageError(text: "unexpected \(option)") }
            try take(String(option.dropFirst(2)), &rest)
        }
        guard !left.interface.isEmpty, !right.interface.isEmpty else {
            throw UsageError(text: "--left and --right are needed")
        }
    }

    private mutating func take(_ name: String, _ rest: inout ArraySlice<String>) throws(UsageError) {
        switch name {
        case "left": left = try Self.end(&rest)
        case "right": right = try Self.end(&rest)
        case "tap": isTap = true
        case "mtu": mtu = try Self.number(name, &rest)
        case "queue-length": queueLength = try Self.number(name, &rest)
        case "seed": seed = try Self.number(name, &rest)
        case _ where name.hasPrefix("up-"): try up.take(String(name.dropFirst(3)), &rest)
        case _ where name.hasPrefix("down-"): try down.take(String(name.dropFirst(5)), &rest)
        default:
            var again = rest
            try up.take(name, &rest)
            try down.take(name, &again)
        }
    }

    private static func end(_ rest: inout ArraySlice<String>) throws(UsageError) -> End {
        guard let text = rest.popFirst() else { throw UsageError(text: "an interface is missing") }
        guard let colon = text.firstIndex(of: ":") else { return End(namespace: "", interface: text) }
        return End(namespace: String(text[..<colon]), interface: String(text[text.index(after: colon)...]))
    }

    static func number<Value: LosslessStringConvertible>(
        _ name: String, _ rest: inout ArraySlice<String>
    ) throws(UsageError) -> Value {
        guard let text = rest.popFirst(), let value = Value(text) else {
            throw UsageError(text: "--\(name) needs a number")
        }
        return value
    }
}

extension Impairment {
    /// Takes one option, whose name has lost its dashes and direction.
    mutating func take(_ name: String, _ rest: inout ArraySlice<String>) throws(UsageError) {
        switch name {
        case "loss": loss = try Self.probability(name, &rest)
        case "reorder": reorder = try Self.probability(name, &rest)
        case "duplicate": duplicate = try Self.probability(name, &rest)
        case "corrupt": corrupt = try Self.probability(name, &rest)
        case "corrupt-anywhere": corruptsAnywhere = true
        case "delay": delay = try Self.milliseconds(name, &rest)
        case "jitter": jitter = try Self.milliseconds(name, &rest)
        case "reorder-hold": reorderHold = try Self.milliseconds(name, &rest)
        case "limit": limit = try Options.number(name, &rest)
        case "rate":
            let megabits: Double = try Options.number(name, &rest)
            guard megabits > 0 else { throw UsageError(text: "--rate must be above 0") }
            nanosecondsPerOctet = 8000 / megabits
        default: throw UsageError(text: "unknown option --\(name)")
        }
    }

    private static func probability(_ name: String, _ rest: inout ArraySlice<String>) throws(UsageError) -> Double {
        let isPercent = rest.first?.hasSuffix("%") ?? false
        if isPercent, let text = rest.popFirst() { rest = [String(text.dropLast())] + rest }
        let value: Double = try Options.number(name, &rest)
        let probability = isPercent ? value / 100 : value
        guard probability >= 0, probability <= 1 else { throw UsageError(text: "--\(name) is a probability") }
        return probability
    }

    private static func milliseconds(_ name: String, _ rest: inout ArraySlice<String>) throws(UsageError) -> Int64 {
        let value: Double = try Options.number(name, &rest)
        guard value >= 0, value < 1e6 else { throw UsageError(text: "--\(name) is a time in milliseconds") }
        return Int64(value * 1e6)
    }
}
