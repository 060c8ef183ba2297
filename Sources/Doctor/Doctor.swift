/// # Doctor: what is wrong with this machine or this configuration, what that means, and what mends it
///
///     kernel, files, tools, the daemon ── reading ──▶ Sight ── checks ──▶ Findings, in the order of their harm
///
/// Reading (`Sight+…`) changes nothing and judges nothing: what could not be looked at is nil, with the reason in
/// `Sight.unseen`. Each check is a function from what was read to findings, so it is tested with the texts of real
/// systems. What the machine's network should be is the daemon's own plan (`NetworkPlan`), compared by the same code
/// that makes it (`NetworkExamination`).
///
/// `starshipctl report` puts all that into one text for a bug report; `Redaction` takes secrets out of it.

/// What was looked at; the order is that of the harm: what breaks all traffic comes first.
public enum Check: String, CaseIterable, Sendable, Comparable {
    case service
    case configuration
    case kernel
    case tunnel
    case tools
    case forwarding
    case filters
    case redirects
    case settings
    case routes
    case rules
    case firewall
    case foreignFirewall
    case otherRules
    case conflict
    case interfaces
    case uplink
    case upstream
    case names
    case mtu
    case ipv6
    case otherTunnels
    case descriptors
    case conntrack
    case memory
    case disk
    case clock
    case managers
    case versions
    case access

    public static func < (left: Check, right: Check) -> Bool { left.place < right.place }

    private var place: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}

/// One thing that was looked at.
public struct Finding: Equatable, Sendable {
    /// How bad it is.
    public enum Grade: String, CaseIterable, Sendable {
        case ok
        /// It works, and may not for long.
        case notice
        case wrong
        /// It could not be looked at.
        case unseen
    }

    public var check: Check
    public var grade: Grade
    /// What was found, in one line.
    public var words: String
    /// What it means for the lab.
    public var meaning: String
    /// What mends it: lines for a root shell on this machine.
    public var mending: [String]
    /// What is to be done where no command of this machine can.
    public var advice: String?

    public init(
        _ check: Check, _ grade: Grade, _ words: String, meaning: String = "", mending: [String] = [],
        advice: String? = nil
    ) {
        self.check = check
        self.grade = grade
        self.words = words
        self.meaning = meaning
        self.mending = mending
        self.advice = advice
    }
}

/// All findings.
public struct Diagnosis: Equatable, Sendable {
    /// Wrong ones first, then notices, then what was not seen; within a grade what breaks more comes first.
    public let findings: [Finding]

    public init(_ findings: [Finding]) {
        let grades: [Finding.Grade] = [.wrong, .notice, .unseen, .ok]
        self.findings = grades.flatMap { grade in
            findings.enumerated().filter { $0.element.grade == grade }
                .sorted { ($0.element.check, $0.offset) < ($1.element.check, $1.offset) }.map(\.element)
        }
    }

    /// The worst that was found; what was not seen is no fault.
    public var grade: Finding.Grade {
        if findings.contains(where: { $0.grade == .wrong }) { return .wrong }
        return findings.contains { $0.grade == .notice } ? .notice : .ok
    }

    public func findings(_ grade: Finding.Grade) -> [Finding] { findings.filter { $0.grade == grade } }

    /// Looks at everything that was read.
    public init(of sight: Sight) {
        var findings: [Finding] = []
        findings += ServiceChecks.findings(sight) + KernelChecks.findings(sight) + NetworkChecks.findings(sight)
        findings += PathChecks.findings(sight) + UpstreamChecks.findings(sight) + NameChecks.findings(sight)
        findings += MachineChecks.findings(sight) + ManagerChecks.findings(sight) + VersionChecks.findings(sight)
        findings += sight.unseen.map { Finding($0.check, .unseen, $0.reason) }
        self.init(findings)
    }
}
