/// What each cause says about the upstream.

/// How much a failure weighs.
enum Weight: Equatable, Sendable {
    /// The upstream gave no answer: none to a SYN, none to CONNECT, or none that makes sense.
    case miss
    /// It answered that it does not want us.
    case rejection
    /// It answered, and the request behind it failed.
    case answer
    /// The gateway itself could not try.
    case hindrance
    /// It is no failure of a try at all.
    case none
}

extension Cause {
    var weight: Weight {
        switch self {
        case .noUplink, .nameUnknown, .portClosed, .unreachable: .miss
        case .silent(let step), .closed(let step), .malformed(let step, _): step == .page ? .answer : .miss
        case .credentialsRejected, .schemesNotSupported: .rejection
        case .refused, .socksRefused, .originFailing, .wrongPage, .slow: .answer
        case .gateway: .hindrance
        case .stale, .neverTried, .notVerified, .wayAround: .none
        }
    }

    /// Whether a gateway that has no way out sees this of every upstream.
    ///
    /// A refusal is not among them: somebody has sent it.
    var isWantOfUplink: Bool {
        switch self {
        case .noUplink, .nameUnknown, .unreachable, .silent(.connect): true
        default: false
        }
    }

    /// Whether a good proxy shows this of a page whose server is down.
    var isBehindProxy: Bool {
        switch self {
        case .originFailing, .silent(.page), .closed(.page): true
        default: false
        }
    }
}
