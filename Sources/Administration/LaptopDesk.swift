/// Laptops that offer the proxy that runs on them: what is being tried, what was found, and the codes that phones scan.
///
///     laptop confirms ──▶ LintJob, on a thread of its own ──▶ its page looks again ──▶ Offer ──▶ one phone takes it
///
/// All of it is kept in memory alone: a code lives for ten minutes, and another one is a click away.

import Bytes
import Devices
import LinuxIO
import Page
import Profiles
import Synchronization
import Upstreams
import Wire

/// A proxy that is being tried, beside everything else.
final class LintJob: Sendable {
    private let found = Mutex<LintReport?>(nil)

    /// What was found, once it has ended.
    var report: LintReport? { found.withLock { $0 } }

    /// Starts a thread for it; nil where there is none to be had.
    init?(_ plan: LintPlan, by lint: @escaping @Sendable (LintPlan) -> LintReport) {
        do throws(SystemCallError) {
            try WorkerThread.startDetached(name: "lint") { [self] in
                let report = lint(plan)
                found.withLock { $0 = report }
            }
        } catch {
            return nil
        }
    }

    /// Tries a proxy out; a call that the kernel refuses is one more thing that was found.
    static func lint(_ plan: LintPlan) -> LintReport {
        do throws(SystemCallError) {
            return try Lint.run(plan)
        } catch {
            var report = LintReport(server: plan.server)
            report.checks = [LintCheck(.connect, .bad, "\(error)")]
            return report
        }
    }
}

struct LaptopDesk {
    /// What a laptop waits for, or has.
    enum Stage {
        case trying(LintJob)
        /// It is no proxy that the gateway could use.
        case failed(LintReport)
        case offering(once: String)
    }

    /// A laptop that has confirmed.
    struct Stand {
        var laptop: DeviceIdentity
        var server: Profiles.Upstream.Server
        var stage: Stage
        var at: Instant
    }

    /// A code for one phone.
    struct Offer {
        /// Its nonce.
        var once: String
        var laptop: DeviceIdentity
        /// As the phone gets it, but for its id.
        var profile: Profile
        var report: LintReport
        /// To the page, at the address of the gateway that the laptop knows.
        var link: Link
        /// When it ends, by the clock that does not jump, and in seconds since 1970 for those who look.
        var end: Instant
        var expires: Int64
        /// Who has taken it.
        var takenBy: String?
    }

    /// How long a code is good.
    static let codeTime = Interval.seconds(600)
    /// Those that are remembered; the oldest makes room.
    static let limit = 64
    /// Proxies that are tried at a time.
    static let jobLimit = 4

    /// What signs the codes: nobody has it, and it ends with the program.
    let key: LinkKey
    private(set) var stands: [Stand] = []
    private(set) var offers: [Offer] = []
    /// Threads that may still be at work.
    private var jobs: [LintJob] = []
    /// How a proxy is tried.
    var lint: @Sendable (LintPlan) -> LintReport = LintJob.lint

    init() {
        var random = SystemRandom()
        var secret: [UInt8] = []
        for _ in 0..<4 { Self.append(random.next(), to: &secret) }
        let id = "own-" + String(random.next() as UInt64, radix: 36)
        guard let key = try? LinkKey(id: id, secret: secret) else { preconditionFailure("a key for every host") }
        self.key = key
    }

    private static func append(_ word: UInt64, to octets: inout [UInt8]) {
        for shift in stride(from: UInt64(0), to: 64, by: 8) { octets.append(UInt8(truncatingIfNeeded: word >> shift)) }
    }

    func stand(of laptop: DeviceIdentity) -> Stand? { stands.first { $0.laptop == laptop } }

    func offer(_ once: String) -> Offer? { offers.first { $0.once == once } }

    /// Has a laptop's proxy tried; false where too many are tried already.
    mutating func begin(
        _ plan: LintPlan, _ server: Profiles.Upstream.Server, of laptop: DeviceIdentity, at now: Instant
    )
        -> Bool
    {
        if let stand = stand(of: laptop), stand.server == server, case .trying(let job) = stand.stage, job.report == nil
        {
            return true
        }
        jobs.removeAll { $0.report != nil }
        guard jobs.count < Self.jobLimit, let job = LintJob(plan, by: lint) else { return false }
        jobs.append(job)
        stands.removeAll { $0.laptop == laptop }
        if stands.count >= Self.limit { stands.removeFirst() }
        stands.append(Stand(laptop: laptop, server: server, stage: .trying(job), at: now))
        return true
    }

    mutating func set(_ stage: Stage, of laptop: DeviceIdentity) {
        for index in stands.indices where stands[index].laptop == laptop { stands[index].stage = stage }
    }

    /// Keeps a code; one that the same laptop has shown before counts no more.
    mutating func keep(_ offer: Offer) {
        offers.removeAll { $0.laptop == offer.laptop && $0.takenBy == nil }
        if offers.count >= Self.limit { offers.removeFirst() }
        offers.append(offer)
        set(.offering(once: offer.once), of: offer.laptop)
    }

    /// Notes who has taken a code: it is good for nobody from now on.
    mutating func take(_ once: String, for device: String) {
        for index in offers.indices where offers[index].once == once { offers[index].takenBy = device }
    }

    /// Forgets what a laptop has confirmed: its address is another one.
    mutating func forget(_ laptop: DeviceIdentity) {
        stands.removeAll { $0.laptop == laptop }
        offers.removeAll { $0.laptop == laptop && $0.takenBy == nil }
    }
}

extension LintReport {
    /// The profile that fits what was found, for a device that gets it.
    func profile(id: String, name: String, _ server: Profiles.Upstream.Server) -> Profile {
        var profile = Profile(id: id, name: name, upstream: Profiles.Upstream(type: .http, server: server))
        for setting in settings {
            switch (setting.key, setting.value) {
            case ("type", .text(let word)): profile.upstream.type = .init(rawValue: word) ?? .http
            case ("kind", .text(let word)): profile.upstream.kind = .init(rawValue: word) ?? .other
            case ("http80", .text(let word)): profile.upstream.plainHTTP = .init(rawValue: word) ?? .auto
            case ("halfClose", .text(let word)): profile.upstream.halfClose = .init(rawValue: word) ?? .pass
            case ("identify", .flag(let flag)): profile.upstream.identify = flag
            case ("connectName", .text(let word)): profile.routes.connectName = .init(rawValue: word) ?? .evidence
            default: break
            }
        }
        return profile
    }
}

extension LintReport {
    /// What was tried, as the page shows it; what works with remarks works.
    var findings: [LaptopView.Finding] {
        let tried = checks.map { check in
            let isGood: Bool? =
                switch check.verdict {
                case .good, .odd: true
                case .bad: false
                case .unknown: nil
                }
            return LaptopView.Finding(isGood: isGood, words: "\(check.name.label): \(check.words)")
        }
        // Notes are advice for profiles, but for a proxy that lets nobody in.
        return type == nil ? tried + notes.map { LaptopView.Finding(isGood: nil, words: $0) } : tried
    }

    /// Why it is no proxy, in a few words.
    var obstacle: String {
        checks.first { $0.verdict == .bad }?.words ?? "found no proxy at \(server); expected one that takes connections"
    }
}

extension LintCheck.Name {
    fileprivate var label: String {
        switch self {
        case .name: "its name"
        case .connect: "connection"
        case .login: "login"
        case .port443: "https"
        case .port80: "http"
        case .otherPort: "another port"
        case .framing: "form of its answers"
        case .firstOctets: "first words of a server"
        case .halfClose: "half-closed streams"
        case .unknownHost: "a host that is not there"
        case .certificate: "certificate"
        case .idle: "silence"
        }
    }
}
