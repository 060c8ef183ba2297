/// What the lab has decided while the gateway ran: it is kept in the store, laid over the administrator's file, and
/// never written into it.

public import Devices

/// The lab's half of what the gateway is told.
///
/// The other half is the configuration file: on the same profile id or device name the file's wins.
public struct LabState: Equatable, Sendable {
    /// The id of the gateway's default profile; nil: what the file's `active` says.
    public var active: String?
    /// Profiles that were pushed.
    public var profiles: [Profile] = []
    /// Names that people gave to devices.
    public var devices: [NamedDevice] = []
    /// At most one for each device.
    public var assignments: [Assignment] = []
    /// Which of the profiles are proxies that people have brought along for one device.
    public var own: [OwnProxy] = []
    /// Nonces of links that work a single time, kept until the link has ended.
    public var spent: [SpentNonce] = []
    /// The change that is taken back unless somebody confirms it; one at a time.
    public var unconfirmed: Unconfirmed?
    /// Where there are peers: when each item was changed or taken out, and by which gateway.
    public var stamps: [SharedItem: SharedStamp] = [:]

    /// A change on trial.
    public struct Unconfirmed: Equatable, Sendable {
        /// The revision that made it.
        public var revision: Int
        /// The one before it.
        public var former: Int
        /// When it is taken back, in seconds since 1970.
        public var until: Int64

        public init(revision: Int, former: Int, until: Int64) {
            self.revision = revision
            self.former = former
            self.until = until
        }
    }

    /// A nonce that was used.
    public struct SpentNonce: Equatable, Sendable {
        /// The key that signed it.
        public var key: String
        public var once: String
        /// When the link ends, in seconds since 1970.
        public var expires: Int64

        public init(key: String, once: String, expires: Int64) {
            self.key = key
            self.once = once
            self.expires = expires
        }
    }

    public init() {}
}
