/// What the workers say about themselves when somebody asks, as one line of JSON.

import Addresses
import Bytes

/// One worker's state at one moment.
struct WorkerReport: Sendable {
    let worker: Int
    let counters: Counters
    /// With what open flows have carried.
    var tally: FlowTally
    var flows = 0
    var halfOpen = 0
    var lingering = 0
    var datagramFlows = 0
    var chunksUsed = 0
    var chunksResident = 0
    var states: [String: Int] = [:]
    /// Open flows by the id of their profile, and by their client's address.
    var profiles: [String: Int] = [:]
    var devices: [IPAddress: Int] = [:]

    init(worker: Int, counters: Counters, tally: FlowTally) {
        self.worker = worker
        self.counters = counters
        self.tally = tally
    }
}

enum Snapshot {
    /// What was learned about the active upstream.
    struct Learned {
        /// It refuses CONNECT to port 80, so plain http goes to it in absolute form.
        var usesAbsoluteForm = false
        /// It has rejected the credentials, which rest for a while.
        var rejectsCredentials = false
        /// Nothing gets through it.
        var isLost = false
        /// It shows certificates of its own.
        var decrypts = false
    }

    /// What decides, and what is known of names.
    struct Routing {
        var mode = ""
        var capture = ""
        /// Which rule or setting forces everything into the TUN device.
        var because: String?
        /// Who answers connectivity checks: `direct`, `upstream` or `answer`.
        var connectivity = "direct"
        var fakeNames = 0
        var seenAnswers = 0
        var counters: [(name: String, value: Int)] = []
        /// What is not as it should be about the network, and is not ours to change.
        var notices: [String] = []
        /// Which devices want a resolver of their own, and what to change on them.
        var insists: [String] = []
    }

    /// The reports added up: counters, flows by state, close reasons by kind.
    static func json(
        _ reports: [WorkerReport], profile: String, learned: Learned = Learned(), routing: Routing = Routing(),
        descriptors: Int, residentKiB: Int
    ) -> String {
        var counters = Dictionary(routing.counters.map { ($0.name, $0.value) }, uniquingKeysWith: +)
        var states: [String: Int] = [:]
        var reasons: [String: Int] = [:]
        for report in reports {
            for counter in report.counters.named { counters[counter.name, default: 0] += counter.value }
            states.merge(report.states, uniquingKeysWith: +)
            reasons.merge(report.tally.reasons, uniquingKeysWith: +)
        }
        let fields = [
            "\"event\":\"snapshot\"", "\"profile\":\(quoted(profile))", "\"workers\":\(reports.count)",
            "\"mode\":\(quoted(routing.mode))", "\"capture\":\(quoted(routing.capture))",
            "\"capture_because\":\(routing.because.map(quoted) ?? "null")",
            "\"connectivity\":\(quoted(routing.connectivity))",
            "\"fake_names\":\(routing.fakeNames)",
            "\"seen_answers\":\(routing.seenAnswers)",
            "\"http80\":\(learned.usesAbsoluteForm ? "\"absolute\"" : "\"connect\"")",
            "\"credentials_rejected\":\(learned.rejectsCredentials)",
            "\"upstream_lost\":\(learned.isLost)", "\"upstream_decrypts\":\(learned.decrypts)",
            "\"flows\":\(sum(reports, \.flows))", "\"half_open\":\(sum(reports, \.halfOpen))",
            "\"lingering\":\(sum(reports, \.lingering))", "\"udp_flows\":\(sum(reports, \.datagramFlows))",
            "\"buffer_bytes_used\":\(sum(reports, \.chunksUsed) * BufferPool.chunkSize)",
            "\"buffer_bytes_resident\":\(sum(reports, \.chunksResident) * BufferPool.chunkSize)",
            "\"descriptors\":\(descriptors)", "\"resident_kib\":\(residentKiB)", "\"states\":\(object(states))",
            "\"notices\":\(list(routing.notices))", "\"insists\":\(list(routing.insists))",
            "\"reasons\":\(object(reasons))", "\"counters\":\(object(counters))",
        ]
        return "{\(fields.joined(separator: ","))}"
    }

    private static func sum(_ reports: [WorkerReport], _ part: KeyPath<WorkerReport, Int>) -> Int {
        reports.reduce(0) { $0 + $1[keyPath: part] }
    }

    private static func object(_ values: [String: Int]) -> String {
        let pairs = values.sorted { $0.key < $1.key }.map { "\(quoted($0.key)):\($0.value)" }
        return "{\(pairs.joined(separator: ","))}"
    }

    private static func list(_ texts: [String]) -> String { "[\(texts.map(quoted).joined(separator: ","))]" }

    private static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": result += "\\\(scalar)"
            case "\u{0}"..."\u{1f}":
                let code = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - code.count) + code
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
