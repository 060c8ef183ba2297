/// Conversations over TCP, stated as steps: what one side sends, waits for and closes (`Tests/Programs/talk.py`
/// plays them).

import Foundation

/// How the device reaches the gateway.
public enum Way: String, CaseIterable, Sendable, CustomStringConvertible {
    case tunnel
    case socks

    public var description: String { rawValue }
}

/// One step of one side; its texts hold one character for each byte.
public struct Step: Encodable, Sendable {
    private let values: [String: Value]

    private enum Value: Encodable, Sendable {
        case text(String)
        case number(Double)

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .text(let text): try container.encode(text)
            case .number(let number):
                if number == number.rounded() {
                    try container.encode(Int(number))
                } else {
                    try container.encode(number)
                }
            }
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(values)
    }

    private init(_ verb: String, _ texts: [String: String] = [:], _ numbers: [String: Double] = [:]) {
        values = texts.merging(["do": verb]) { first, _ in first }.mapValues { .text($0) }
            .merging(numbers.mapValues { .number($0) }) { first, _ in first }
    }

    /// Reads a head to its blank line; it must match a regular expression.
    public static func expect(_ pattern: String, within: Double = 30) -> Step {
        Step("expect", ["pattern": pattern], ["within": within])
    }

    /// Reads exactly these bytes.
    public static func receive(_ text: String, within: Double = 30) -> Step {
        Step("receive", ["text": text], ["within": within])
    }

    /// Reads that many bytes of the counter pattern, at most `rate` of them a second.
    public static func receiveBytes(_ count: Int, rate: Double = 0, within: Double = 60) -> Step {
        Step("receiveBytes", [:], ["count": Double(count), "rate": rate, "within": within])
    }

    public enum End: String, Sendable {
        case fin
        case reset
    }

    /// Reads to the end of the stream, which must be of that kind.
    public static func receiveEnd(_ how: End? = nil, within: Double = 30) -> Step {
        Step("receiveEnd", how.map { ["how": $0.rawValue] } ?? [:], ["within": within])
    }

    /// Sends a text, in pieces of `chunk` bytes with a gap in seconds between them if wanted.
    public static func send(_ text: String, chunk: Int = 0, gap: Double = 0) -> Step {
        Step("send", ["text": text], ["chunk": Double(chunk), "gap": gap])
    }

    /// Sends that many bytes of the counter pattern, or of one text again and again.
    public static func sendBytes(_ count: Int, filledWith fill: String? = nil) -> Step {
        Step("sendBytes", fill.map { ["fill": $0] } ?? [:], ["count": Double(count)])
    }

    /// Sends a text every so often for so long.
    public static func drip(_ text: String, every: Double, for seconds: Double) -> Step {
        Step("drip", ["text": text], ["every": every, "seconds": seconds])
    }

    public static func pause(_ seconds: Double) -> Step { Step("pause", [:], ["seconds": seconds]) }

    /// Sends back what comes, until the end of the stream.
    public static func echo(for seconds: Double = 600) -> Step { Step("echo", [:], ["seconds": seconds]) }

    /// Sends so many bytes and waits for them to come back, again and again.
    public static func pingPong(bytes: Int, count: Int, gap: Double = 0) -> Step {
        Step("pingPong", [:], ["bytes": Double(bytes), "count": Double(count), "gap": gap])
    }

    /// Has the program print a text on standard error (`LabProgram.waitFor`).
    public static func say(_ text: String) -> Step { Step("say", ["text": text]) }

    public static let halfClose = Step("halfClose")
    public static func close(_ how: End) -> Step { Step("close", ["how": how.rawValue]) }

    /// The reply that opens a tunnel.
    public static let established = send("HTTP/1.1 200 Connection established\r\n\r\n")
    /// Reads a CONNECT.
    public static let connect = expect("^CONNECT ")
}

/// What one side of one connection saw.
public struct Talk: Decodable {
    public let number: Int
    /// Client: whether the connection (and SOCKS request) succeeded, why not, how long that took.
    public let opened: Bool?
    public let cause: String?
    public let reply: Int?
    public let openSeconds: Double?
    /// When that was known, and when the end came, in seconds since 1970.
    public let openedAt: Double?
    public let endedAt: Double?
    /// How long the last text that was waited for took.
    public let receiveSeconds: Double?
    private let failed: String?
    public let heads: [String]?
    /// The first 64 KiB of what was received beside heads.
    public let data: String?
    public let count: Int?
    public let ended: String?
    public let endSeconds: Double?
    public let median: Double?
    public let p99: Double?

    /// What went wrong on this side: the connection itself or the step that failed; nil when all came about.
    public var problem: String? {
        if opened == false { return "not open: \(cause ?? "") \(reply.map { "reply \($0)" } ?? "")" }
        return failed
    }

    static func read(_ output: String) throws -> [Talk] {
        try output.split(separator: "\n").map { try JSONDecoder().decode(Talk.self, from: Data($0.utf8)) }
            .sorted { $0.number < $1.number }
    }
}

/// A scripted proxy that is running.
public struct ScriptedProxy {
    public static let port = 8118
    private let program: LabProgram

    /// What it saw on the connections that have ended, in the order of their beginning.
    public var talks: [Talk] { get throws { try Talk.read(program.output) } }

    /// Waits until so many connections have ended, and returns what was seen on them.
    public func finished(_ count: Int = 1, within seconds: Double = 30) throws -> [Talk] {
        guard try Lab.wait(seconds, until: { try talks.count >= count }) else {
            throw LabError("of \(count) connections \(try talks.count) had ended at the proxy: \(program.errors)")
        }
        return try talks
    }

    /// Plays the proxy in the internet, or with another address a server at the origin.
    public init(_ lab: Lab, at address: String = Upstream.address, port: Int = port, _ conversations: [[Step]]) throws {
        let input = String(decoding: try JSONEncoder().encode(conversations), as: UTF8.self)
        let command = Lab.python(["talk.py", "proxy", address, "\(port)"])
        let place: Lab.Place = address == Upstream.address ? .internet : .origin
        program = try lab.start(place, command, input: input)
        try lab.waitForPort(port, of: address, in: place)
    }

    public func end() { program.end(.kill) }
}

extension Lab {
    private struct Job: Encodable {
        let to: [Either]
        let socks: [Either]?
        let parallel: Int
        let receiveBuffer: Int?
        let within: Double
        let steps: [Step]
    }

    private enum Either: Encodable {
        case text(String)
        case number(Int)

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .text(let text): try container.encode(text)
            case .number(let number): try container.encode(number)
            }
        }
    }

    /// Where the gateway's SOCKS5 server listens for the device.
    public static let socksAddress = "10.9.0.1"
    public static let socksPort = 10808

    /// Starts clients on the device that play some steps.
    public func startClient(
        _ way: Way, to host: String = "198.51.100.10", port: Int = 443, parallel: Int = 1, receiveBuffer: Int? = nil,
        patience: Double = 40, _ steps: [Step]
    ) throws -> LabProgram {
        let socks: [Either]? = way == .socks ? [.text(Self.socksAddress), .number(Self.socksPort)] : nil
        let job = Job(
            to: [.text(host), .number(port)], socks: socks, parallel: parallel, receiveBuffer: receiveBuffer,
            within: patience, steps: steps)
        let input = String(decoding: try JSONEncoder().encode(job), as: UTF8.self)
        return try start(.device, Self.python(["talk.py", "client"]), input: input)
    }

    /// Plays one client's steps to their end.
    public func client(
        _ way: Way, to host: String = "198.51.100.10", port: Int = 443, receiveBuffer: Int? = nil,
        patience: Double = 40, within seconds: Double = 90, _ steps: [Step]
    ) throws -> Talk {
        let program = try startClient(
            way, to: host, port: port, receiveBuffer: receiveBuffer, patience: patience, steps)
        return try Talk.of(program, within: seconds)[0]
    }

    /// Speaks with the SOCKS5 server itself, byte by byte.
    public func socksBytes(_ steps: [Step]) throws -> Talk {
        try client(.tunnel, to: Self.socksAddress, port: Self.socksPort, steps)
    }
}

extension Talk {
    /// Waits for clients to end, and returns what each saw.
    public static func of(_ program: LabProgram, within seconds: Double = 90) throws -> [Talk] {
        let result = try program.wait(within: seconds)
        let talks = try read(result.output)
        guard result.status == 0, !talks.isEmpty else { throw LabError("the client: \(result.errors)") }
        return talks
    }
}
