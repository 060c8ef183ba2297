/// # What became of the names that a device wanted
///
/// Each worker has a book of its own, and the DNS service has one behind the lock that it takes for each question
/// anyway:
/// so no flow waits for another thread. What the kernel forwards reaches no worker; of it the question is known alone.
///
///     flow accepted, refused, ended ──▶ a worker's book ─┐
///     question answered ──▶ the DNS service's book ──────┴──▶ Gateway.requests(of:): the last 30, the newest first

import Addresses
public import Bytes

/// A name, or an address without one, and what became of a device's wish for it; the same again is counted.
public struct DeviceRequest: Sendable {
    /// Where it went.
    public enum Fate: String, CaseIterable, Sendable {
        /// To an upstream, which may have said no.
        case proxied
        /// Dialled by the gateway.
        case direct
        /// The DNS service gave the real answer, and more is not known: the kernel forwards what follows.
        case asked
        /// A connectivity check that the gateway answers itself.
        case answered
        /// By a rule, or for want of a name.
        case refused
    }

    /// What was wanted, as a flow has it: a text is made when somebody asks.
    enum Subject: Equatable, Sendable {
        case name(String)
        case address(IPAddress)
    }

    var subject: Subject
    /// Of the latest flow; nil for a question.
    public var port: UInt16?
    public var fate: Fate
    /// The id of the profile that decided.
    public var profile: String?
    /// What decided; nil where the mode did.
    var decider: RouteRule?
    /// Why the latest one that has ended did, in the words of the flow log.
    public var outcome: String?
    /// It never got through, and `outcome` says why.
    public var hasFailed = false
    public var count = 1
    /// How many are still open.
    public var open = 0
    /// Octets from the device and to it, of flows that have ended.
    public var up: UInt64 = 0
    public var down: UInt64 = 0
    /// When the latest one began.
    public var at: Instant
    /// Of an entry of a book: its number, and that of the latest which was noted in it.
    fileprivate var number: UInt32 = 0
    fileprivate var latest: UInt32 = 0

    init(_ subject: Subject, _ fate: Fate, at: Instant) {
        self.subject = subject
        self.fate = fate
        self.at = at
    }

    /// Lower-case A-labels, or an address.
    public var name: String {
        switch subject {
        case .name(let name): name
        case .address(let address): address.description
        }
    }

    /// The rule that decided, in words; nil where the mode did.
    public var rule: String? { decider.map { RequestBook.cut($0.description) } }

    /// Whether both are one entry: the same name with the same fate.
    func isLike(_ other: DeviceRequest) -> Bool {
        fate == other.fate && hasFailed == other.hasFailed && subject == other.subject
            && (!hasFailed || outcome == other.outcome)
    }

    /// Takes in an earlier one that is like it.
    mutating func count(_ former: DeviceRequest) {
        count += former.count
        open += former.open
        up += former.up
        down += former.down
        outcome = outcome ?? former.outcome
    }

    /// Takes in a later one that is like it.
    fileprivate mutating func follow(_ later: DeviceRequest) {
        let former = self
        self = later
        number = former.number
        count(former)
    }
}

/// What one thread knows of devices' wishes.
struct RequestBook: Sendable {
    /// How many devices are remembered; over it all is forgotten, and what is active comes back at once.
    static let deviceLimit = 2048
    /// How many entries each of them has.
    static let length = 30
    /// How much of a text is kept, in characters: a proxy's words and a rule's file may be long.
    private static let textLimit = 120

    /// In no order: `latest` says which came last.
    private var entries: [IPAddress: [DeviceRequest]] = [:]
    private var lessons: [IPAddress: Lesson] = [:]
    private var noted: UInt32 = 0

    /// Notes a flow that has begun, or that was refused, or a question; returns the number of its entry, for `noteEnd`.
    @discardableResult mutating func note(_ request: DeviceRequest, of device: IPAddress) -> UInt32 {
        if entries.count >= Self.deviceLimit, entries[device] == nil { entries.removeAll(keepingCapacity: true) }
        noted &+= 1
        var request = request
        request.outcome = request.outcome.map(Self.cut)
        (request.number, request.latest) = (noted, noted)
        return Self.note(request, in: &entries[device, default: []])
    }

    private static func note(_ request: DeviceRequest, in list: inout [DeviceRequest]) -> UInt32 {
        if let place = list.firstIndex(where: request.isLike) {
            list[place].follow(request)
            return list[place].number
        }
        if list.count < length {
            // At once what it may take in the end: what a gateway takes is not to grow by the hour.
            if list.isEmpty { list.reserveCapacity(length) }
            list.append(request)
        } else if let oldest = list.indices.min(by: { list[$0].latest < list[$1].latest }) {
            list[oldest] = request
        }
        return request.number
    }

    /// Notes how a flow that got through has ended; its entry may have made room for later ones.
    mutating func noteEnd(
        _ number: UInt32, up: UInt64, down: UInt64, _ outcome: String, of device: IPAddress
    ) {
        guard let found = entries.index(forKey: device),
            let place = entries.values[found].firstIndex(where: { $0.number == number })
        else { return }
        Self.end(&entries.values[found][place], up, down, outcome)
    }

    private static func end(_ entry: inout DeviceRequest, _ up: UInt64, _ down: UInt64, _ outcome: String) {
        entry.open = max(0, entry.open - 1)
        entry.up += up
        entry.down += down
        entry.outcome = cut(outcome)
    }

    fileprivate static func cut(_ text: String) -> String {
        text.utf8.count <= textLimit ? text : String(text.prefix(textLimit - 1)) + "…"
    }

    func requests(of devices: Set<IPAddress>) -> [DeviceRequest] { devices.flatMap { entries[$0] ?? [] } }

    /// What several books say, the newest first; a question that a direct flow has followed says nothing more.
    static func joined(_ requests: [DeviceRequest]) -> [DeviceRequest] {
        var joined: [DeviceRequest] = []
        for request in requests.sorted(by: { ($0.at, $0.latest) > ($1.at, $1.latest) }) {
            if let place = joined.firstIndex(where: request.isLike) {
                joined[place].count(request)
            } else if request.fate != .asked
                || !joined.contains(where: { $0.fate == .direct && $0.subject == request.subject })
            {
                joined.append(request)
            }
        }
        return Array(joined.prefix(length))
    }

    // MARK: Learning

    /// How many devices are learned about at a time; one more, and the lesson that ends first is forgotten.
    static let lessonLimit = 64

    /// Has a device's names be collected until then.
    mutating func learn(_ device: IPAddress, until: Instant) {
        if lessons.count >= Self.lessonLimit, lessons[device] == nil,
            let first = lessons.min(by: { $0.value.until < $1.value.until })?.key
        {
            lessons[first] = nil
        }
        lessons[device] = Lesson(until: until)
    }

    /// Takes a name for the lesson about a device, if there is one.
    mutating func take(_ name: String, of device: IPAddress, at now: Instant) {
        guard !lessons.isEmpty, let until = lessons[device]?.until, now < until else { return }
        lessons[device]?.take(name)
    }

    func lessons(of devices: Set<IPAddress>) -> [Lesson] { devices.compactMap { lessons[$0] } }

    /// Forgets what devices wanted, and ends the lessons about them.
    mutating func forget(_ devices: Set<IPAddress>) {
        for device in devices { (entries[device], lessons[device]) = (nil, nil) }
    }
}

/// The names that one device wanted for a while.
struct Lesson: Sendable {
    let until: Instant
    private(set) var names: [String] = []
    /// There were more than are kept.
    private(set) var isCut = false
    private var known: Set<String> = []

    init(until: Instant) { self.until = until }

    mutating func take(_ name: String) {
        guard !known.contains(name) else { return }
        guard names.count < LearnedNames.limit else {
            isCut = true
            return
        }
        names.append(name)
        known.insert(name)
    }
}

/// The names that a device has asked for or opened in a time.
public struct LearnedNames: Equatable, Sendable {
    /// The most that are kept.
    public static let limit = 256

    public var asked: Set<String> = []
    public var opened: Set<String> = []
    /// There were more than are kept.
    public var isCut = false

    public init() {}

    /// All of them in the order of the alphabet, cut to the limit.
    public var names: [String] { Array(asked.union(opened).sorted().prefix(Self.limit)) }

    mutating func join(_ lesson: Lesson, asked isAsked: Bool) {
        if isAsked { asked.formUnion(lesson.names) } else { opened.formUnion(lesson.names) }
        isCut = isCut || lesson.isCut || asked.union(opened).count > Self.limit
    }
}
