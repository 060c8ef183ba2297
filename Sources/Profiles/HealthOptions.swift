/// How upstreams are probed: what a configuration says about it, for all of them and for one profile.
///
/// The object at the top of the file is laid over the defaults, a profile's own over that. A page (a URL, with the
/// answer that is expected from it) is one thing: whoever names another URL says anew what its answer is.

public import Bytes
public import Health

/// Everything that probes want to know.
public struct HealthOptions: Equatable, Sendable {
    /// What is asked for through the upstream; nil: it is connected to and nothing more, so green is out of reach.
    public var page: Page?
    public var via = Via.auto
    /// Between two rounds of probes.
    public var interval = Interval.seconds(30)
    /// For one probe, from its first step to its last; at most the interval.
    public var timeout = Interval.seconds(10)
    /// A right answer that takes longer is slow; at most the timeout.
    public var slow = Interval.seconds(2)
    /// An assignment whose upstream is red for so long ends; nil: it stays.
    public var giveUp: Interval? = .seconds(600)

    /// A page, and what its answer must be.
    public struct Page: Equatable, Sendable {
        public var url: PageURL
        /// The answer's status is one of them.
        public var statuses = [200]
        /// A text that the answer's body has in it; each `*` stands for any octets, or for none.
        public var body: String?

        /// What a last answer can have: an interim one is never that (RFC 9110, section 15.2).
        static let possibleStatuses = 200...599
        /// The most statuses.
        static let statusLimit = 16
        /// The most octets of the text.
        static let bodyLimit = 256

        public init(_ url: PageURL) { self.url = url }
    }

    /// How the page is asked for through an HTTP proxy.
    public enum Via: String, CaseIterable, Sendable {
        /// By CONNECT, and after a 403 or 405 in absolute form.
        case auto
        case connect
        case absolute
    }

    public init() {}
}

extension HealthOptions {
    /// The part that decides about colours.
    public var settings: HealthSettings {
        var settings = HealthSettings()
        settings.interval = interval
        settings.timeout = timeout
        settings.slow = slow
        settings.hasPage = page != nil
        return settings
    }
}

/// One `health` object as it is written: each key is nil where it is not there.
public struct HealthKeys: Equatable, Sendable {
    public var url: PageURL?
    public var status: [Int]?
    public var body: String?
    public var via: HealthOptions.Via?
    public var interval: Interval?
    public var timeout: Interval?
    public var slow: Interval?
    public var giveUp: GiveUp?

    /// When streams to a red upstream are refused at once.
    public enum GiveUp: Equatable, Sendable {
        case never
        case after(Interval)
    }

    public init() {}

    /// These keys, and another's settings where there are none.
    ///
    /// A time that is not written gives way to one that is: a short interval shortens the timeout.
    public func laid(over base: HealthOptions) -> HealthOptions {
        var options = base
        if let url { options.page = HealthOptions.Page(url) }
        if let status { options.page?.statuses = status }
        if let body { options.page?.body = body }
        options.via = via ?? base.via
        options.interval = interval ?? base.interval
        options.timeout = timeout ?? min(base.timeout, options.interval)
        options.slow = slow ?? min(base.slow, options.timeout)
        switch giveUp {
        case .never: options.giveUp = nil
        case .after(let time): options.giveUp = time
        case nil: break
        }
        return options
    }
}

extension Configuration {
    /// How a profile's upstream is probed; nil: not at all.
    ///
    /// Of a group's only `giveUp` means anything: its members are probed, each as its own profile says.
    public func health(of profile: Profile) -> HealthOptions? { profile.health?.laid(over: health) }
}
