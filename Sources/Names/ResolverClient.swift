/// # How resolvers are asked
///
/// A question that somebody waits for is an **inquiry**. Who asks the same meanwhile joins it. An inquiry goes
/// through rounds: in each, one resolver is asked, or all of them (`race`); each of these askings is an
/// **exchange** with a port and an id of its own. A round that brought no good answer in its time is followed by
/// the next one; exchanges of former rounds stay open until the inquiry ends, so a late answer counts.
///
///     ask ─▶ inquiry ─▶ round ─▶ exchanges ─▶ send …        receive ─▶ the answer, to all who wait
///                         ▲                                 TC ─▶ the same once more over TCP
///                         └── failed, or silent too long
///
/// It holds no socket: what is to be sent, opened and closed are actions for the owner, who opens a socket
/// for each exchange and connects it to the resolver, so that nothing comes in from elsewhere. Of what does
/// come in, another id or another question is passed over and counted, and the wait goes on (RFC 5452, section 9).
///
/// A resolver that failed twice without a sign of life is dead: nobody waits for it any more. When all are dead,
/// askers are told so at once, and once a second one question is sent to see whether that has changed.

public import Addresses
public import Bytes
public import Wire

/// What the owner of a client is to do.
public enum ResolverAction: Equatable, Sendable {
    /// Open a UDP socket to the resolver, from a random port, and send this.
    case send(exchange: UInt64, to: SocketAddress, [UInt8])
    /// Open a TCP connection and send this behind its length.
    case connect(exchange: UInt64, to: SocketAddress, [UInt8])
    /// Close what was opened for the exchange.
    case close(exchange: UInt64)
    /// Tell these askers; nil when no resolver gave an answer (SERVFAIL).
    case answer(tickets: [UInt64], AnswerKey, DNSAnswer?)
    /// The resolver was found dead, or alive again.
    case changed(SocketAddress, isDead: Bool)
}

public struct ResolverClient: Sendable {
    /// What became of a question.
    public enum Admission: Equatable, Sendable {
        case asked, joined
        /// There is no resolver, or all are dead.
        case noResolver
        /// Too many questions wait, or too many askers for this one.
        case overloaded
    }

    /// What happened that nobody waits for.
    public struct Counters: Equatable, Sendable {
        public var sent = 0
        public var overTCP = 0
        public var timeouts = 0
        /// Answers with another id or question, or for nobody: late ones, or forged ones.
        public var strays = 0
        /// Answers that are broken.
        public var malformed = 0

        public init() {}
    }

    struct Inquiry: Sendable {
        var key: AnswerKey
        var question: [UInt8]
        var tickets: [UInt64]
        /// The resolvers of the rounds to come.
        var rounds: [[SocketAddress]]
        /// All that are open.
        var exchanges: [UInt64] = []
        /// Exchanges of this round from which something may still be expected in time.
        var expected = 0
        /// The best of the answers that are none: SERVFAIL and the like.
        var failure: DNSAnswer?
        /// Whether it is only to see whether a dead resolver lives.
        var isProbe = false
    }

    struct Exchange: Sendable {
        var inquiry: UInt64
        var server: SocketAddress
        var id: UInt16
        var isTCP: Bool
        var hasEDNS: Bool
        var sent: Instant
        /// Whether its time is over, and the next round does not wait for it.
        var isOverdue = false
    }

    public private(set) var settings: ResolverSettings
    public internal(set) var servers: [ResolverServer]
    public internal(set) var counters = Counters()

    var inquiries: [UInt64: Inquiry] = [:]
    var byKey: [AnswerKey: UInt64] = [:]
    var exchanges: [UInt64: Exchange] = [:]
    /// Exchanges in the order of their deadlines, for all have the same time; closed ones are passed over.
    var deadlines = Deadlines()
    var actions: [ResolverAction] = []
    private var writer = DNSWriter()
    private var lastNumber: UInt64 = 0

    public init(_ settings: ResolverSettings) {
        self.settings = settings
        servers = settings.servers.map { ResolverServer($0) }
    }

    /// The questions that wait for an answer.
    public var waitingCount: Int { byKey.count }

    /// Whether there is no resolver that answers.
    public var isHopeless: Bool { servers.allSatisfy(\.isDead) }

    /// Takes what is to be done.
    public mutating func takeActions() -> [ResolverAction] {
        defer { actions.removeAll(keepingCapacity: true) }
        return actions
    }

    /// Goes on with other resolvers; those that stay keep what is known of them, and questions go on where they are.
    public mutating func replaceServers(_ addresses: [SocketAddress]) {
        settings.servers = addresses
        servers = addresses.map { address in
            servers.first { $0.address == address } ?? ResolverServer(address)
        }
    }

    /// Asks a question, in its wire form with the asker's letters; the ticket comes back with the answer.
    public mutating func ask(
        _ key: AnswerKey, question: [UInt8], ticket: UInt64, now: Instant,
        random: inout some RandomNumberGenerator
    ) -> Admission {
        probeTheDead(key, question, now, &random)
        if isHopeless { return .noResolver }
        if let number = byKey[key] {
            guard inquiries[number, default: .none].tickets.count < settings.askerLimit else { return .overloaded }
            inquiries[number]?.tickets.append(ticket)
            return .joined
        }
        guard inquiries.count < settings.questionLimit else { return .overloaded }
        let number = nextNumber()
        inquiries[number] = Inquiry(key: key, question: question, tickets: [ticket], rounds: rounds())
        byKey[key] = number
        nextRound(of: number, now, &random)
        return .asked
    }

    /// The resolvers to ask, round by round: each of them, and a single one twice, for a datagram may be lost.
    private func rounds() -> [[SocketAddress]] {
        let living = servers.filter { !$0.isDead }.map(\.address)
        switch settings.order {
        case .race: return [living, living]
        case .ordered: return living.count == 1 ? [living, living] : living.map { [$0] }
        }
    }

    private mutating func probeTheDead(
        _ key: AnswerKey, _ question: [UInt8], _ now: Instant, _ random: inout some RandomNumberGenerator
    ) {
        for index in servers.indices where servers[index].takeProbe(at: now) {
            let number = nextNumber()
            inquiries[number] = Inquiry(
                key: key, question: question, tickets: [], rounds: [[servers[index].address]], isProbe: true)
            nextRound(of: number, now, &random)
        }
    }

    private mutating func nextNumber() -> UInt64 {
        lastNumber += 1
        return lastNumber
    }

    /// Begins the next round, or ends the inquiry when there is none.
    mutating func nextRound(of number: UInt64, _ now: Instant, _ random: inout some RandomNumberGenerator) {
        guard let inquiry = inquiries[number] else { return }
        guard let round = inquiry.rounds.first else { return finish(number, with: inquiry.failure) }
        inquiries[number]?.rounds.removeFirst()
        for address in round {
            let hasEDNS = !(servers.first { $0.address == address }?.lacksEDNS ?? false)
            open(address, for: number, isTCP: false, hasEDNS: hasEDNS, now, &random)
        }
    }

    /// Begins an exchange.
    mutating func open(
        _ address: SocketAddress, for number: UInt64, isTCP: Bool, hasEDNS: Bool, _ now: Instant,
        _ random: inout some RandomNumberGenerator
    ) {
        guard let inquiry = inquiries[number] else { return }
        let id = UInt16.random(in: .min ... .max, using: &random)
        let exchange = nextNumber()
        exchanges[exchange] = Exchange(
            inquiry: number, server: address, id: id, isTCP: isTCP, hasEDNS: hasEDNS, sent: now)
        inquiries[number]?.exchanges.append(exchange)
        inquiries[number]?.expected += 1
        deadlines.append(exchange, at: now + settings.timeout)
        writer.begin(asking: inquiry.question.span, id: id, bits: inquiry.key.bits & AnswerKey.flags)
        let edns = EDNS(payloadSize: DNSWriter.payloadSize, wantsSignatures: inquiry.key.wantsSignatures)
        writer.finish(hasEDNS ? edns : nil)
        counters.sent += 1
        if isTCP { counters.overTCP += 1 }
        actions.append(
            isTCP
                ? .connect(exchange: exchange, to: address, writer.bytes)
                : .send(exchange: exchange, to: address, writer.bytes))
    }
}

extension ResolverClient.Inquiry {
    /// Stands where there is none; nothing joins it.
    fileprivate static let none = Self(key: AnswerKey(name: "", type: .address4), question: [], tickets: [], rounds: [])
}

/// Exchanges whose times are all the same length, so that they end in the order in which they began.
struct Deadlines: Sendable {
    private var list: [(exchange: UInt64, deadline: Instant)] = []
    private var first = 0

    mutating func append(_ exchange: UInt64, at deadline: Instant) { list.append((exchange, deadline)) }

    /// The next deadline, not earlier than it was appended.
    var next: (exchange: UInt64, deadline: Instant)? { first < list.count ? list[first] : nil }

    mutating func removeFirst() {
        first += 1
        if first * 2 > list.count, first > 64 || first == list.count {
            list.removeFirst(first)
            first = 0
        }
    }
}
