/// What the API can be asked: one case for each method of each path.

public import Bytes

/// A request whose path, parameters and keys make sense; whether it can be carried out is seen by who does it.
public enum ControlCall: Equatable, Sendable {
    case status
    case profiles
    case profile(String)
    /// The certificate of its proxy.
    case authority(profile: String)
    /// The body is the profile in the configuration's notation.
    case putProfile(String, confirm: Int?)
    case deleteProfile(String, moveTo: String?)
    case activate(Activation)
    case release(Scope, Manner)
    case devices
    case device(String)
    /// Nil: the device's name is forgotten.
    case name(device: String, String?)
    /// What a device wanted last.
    case requests(device: String)
    case putLists(ListWish)
    /// Has a device's names be collected for two minutes.
    case learn(device: String)
    case learned(device: String)
    case configuration
    /// The body is the overlay.
    case putConfiguration(confirm: Int?)
    case reload
    case rollBack(Int)
    case confirm(Int)
    case history
    case differences
    case export
    case makeLink(LinkWish)
    case applyLink(LinkUse)
    case flows(FlowQuestion)
    case explain(Explained)
    case why(device: String, host: String?)
    /// What is wanted of the machine's network.
    case network
    case startCapture(CaptureWish)
    case stopCapture
    case description
    /// Events from now on, or from the one behind a number.
    case events(since: Int?)
    case probe(ProbeWish)
    /// For Prometheus.
    case metrics
    /// What another gateway of the lab has decided; the body is a `SharedUpdate`.
    case hear(peer: String)

    /// Whom a switch moves.
    public enum Scope: Equatable, Sendable {
        /// A name, a MAC or an address.
        case device(String)
        /// The gateway's default; with `override` also those that have a profile of their own.
        case all(override: Bool)
    }

    /// How flows whose way has changed end.
    public struct Manner: Equatable, Sendable {
        /// How long those that move may take to fall idle; zero: all end at once.
        public var drain = Interval.seconds(2)

        public init() {}
    }

    /// How long an assignment lasts.
    public enum Duration: Equatable, Sendable {
        /// As the configuration says.
        case usual
        case time(Interval)
        case forever
    }

    /// What a device is to send direct, and to have proxied; nil: that list stays.
    public struct ListWish: Equatable, Sendable {
        public var device: String
        public var direct: [String]?
        public var proxied: [String]?
        public var manner = Manner()
    }

    /// Which profile somebody is to have.
    public struct Activation: Equatable, Sendable {
        public var profile: String
        public var scope: Scope
        public var duration = Duration.usual
        public var manner = Manner()
        /// Taken back after so many seconds unless it is confirmed.
        public var confirm: Int?
    }

    /// A link that is to be looked at or used.
    public struct LinkUse: Equatable, Sendable {
        public var link: String
        /// Nil with `isCheck` alone.
        public var scope: Scope?
        public var duration = Duration.usual
        public var manner = Manner()
        /// Says what it would do, and does nothing.
        public var isCheck = false
    }

    /// A link that is to be written.
    public struct LinkWish: Equatable, Sendable {
        /// What the link brings.
        public enum Content: Equatable, Sendable {
            case profile(String)
            case proxy(Proxy)
        }

        /// A proxy of its own, signed with a key.
        public struct Proxy: Equatable, Sendable {
            public var name: String?
            public var type: String
            public var host: String
            public var port: Int
            public var domains: [String]
            public var key: String
            public var duration: Interval
            public var isForThisGateway: Bool
            public var isForOnce: Bool
        }

        public var content: Content
        /// The host of `http://HOST/a?`; nil: `starship://activate?`.
        public var page: String?
    }

    /// Which flows are to be listed.
    public struct FlowQuestion: Equatable, Sendable {
        public var device: String?
        public var profile: String?
        /// The most flows that are listed.
        public var limit = 200
    }

    /// The flow that is to be explained.
    public struct Explained: Equatable, Sendable {
        public var host: String
        public var port: Int?
        public var device: String?
        public var isUDP = false
    }

    /// Which packets are to be captured, and into which file.
    public struct CaptureWish: Equatable, Sendable {
        /// A file name alone, in the state directory's `captures`.
        public var file: String?
        public var filter: String?
        public var snap: Int?
        public var size: Int?
        public var files: Int?
    }

    /// Which upstream is to be tried, and with which pages.
    public struct ProbeWish: Equatable, Sendable {
        /// Nil: the gateway's default.
        public var profile: String?
        /// Pages to be tried one after the other in place of the profile's own; the first that answers is chosen.
        public var pages: [String] = []
    }
}
