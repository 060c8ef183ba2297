/// What `watch` hears: the stream of events, and a poll every second that corrects it. Nothing here waits but `hear`.

import Bytes
import Commands
import Control
import LinuxIO
import Profiles

/// The daemon's side of a watch: one stream, one question at a time, one wish at a time.
struct Watcher: ~Copyable {
    /// What has come since the last call.
    enum News {
        case answer(Found, WatchQuestion)
        case event(ReceivedEvent, Found)
        /// What became of a wish.
        case done(Rendered)
        case failed(String)
        /// There is no daemon.
        case lost(ControlClientError)
        /// Keys, or a notice of the terminal, may be there.
        case terminal
    }

    /// Tokens of the poller.
    private enum Token {
        static let stream: UInt64 = 1
        static let question: UInt64 = 2
        static let wish: UInt64 = 3
        static let terminal: UInt64 = 4
    }

    /// Between two polls.
    private static let pause = Interval.seconds(1)
    /// An answer to a poll that takes longer is none.
    private static let patience = Interval.seconds(5)
    /// A switch drains for 30 s at most, and a probe takes up to a minute.
    private static let wishPatience = Interval.seconds(90)
    /// What asks for a poll at once has to leave this much between two of them.
    private static let breath = Interval.milliseconds(200)
    /// So many polls share one look at the devices, of which there may be many.
    private static let deviceTurn = 5

    private let client: ControlClient
    private let style: Style
    /// What is polled.
    private let questions: [WatchQuestion]
    private var poller: Poller
    private var events = [PolledEvent](repeating: .none, count: 8)

    private var stream: EventStream?
    private var lastEvent: String?
    /// When the stream is tried again; a daemon without one is asked seldom.
    private var listensAt = Clock.now()

    private var question: HTTPExchange?
    private var asked = WatchQuestion.status
    /// What is still to be asked in this turn.
    private var left: [WatchQuestion] = []
    private var pollsAt = Clock.now()
    private var polledAt = Clock.now()
    private var answersBy = Instant.never
    private var turns = 0

    private var wish: HTTPExchange?
    private var answer = Answer.document
    private var wishEnds = Instant.never

    init(_ client: ControlClient, asking questions: [WatchQuestion], _ style: Style) throws(SystemCallError) {
        self.client = client
        self.style = style
        self.questions = questions
        poller = try Poller()
    }

    /// Watches a descriptor of the terminal.
    func watch(_ descriptor: CInt) throws(SystemCallError) {
        try poller.add(descriptor, token: Token.terminal, events: .readable)
    }

    // MARK: Waiting

    /// Waits until something has come, but not longer than until `deadline`, and returns it.
    mutating func hear(until deadline: Instant, _ moment: Moment) -> [News] {
        var news: [News] = []
        begin(&news)
        let limit = news.isEmpty ? min(deadline, nextDeadline) : Clock.now()
        let count = poller.wait(into: &events, until: limit)
        for event in events[..<count] {
            switch event.token {
            case Token.stream: takeEvents(&news)
            case Token.question: advanceQuestion(&news)
            case Token.wish: advanceWish(&news, moment)
            default: news.append(.terminal)
            }
        }
        expire(&news)
        return news
    }

    private var nextDeadline: Instant {
        let poll = question == nil ? pollsAt : answersBy
        return min(poll, wish == nil ? .never : wishEnds, stream == nil ? listensAt : .never)
    }

    /// Begins what is due.
    private mutating func begin(_ news: inout [News]) {
        let now = Clock.now()
        if stream == nil, listensAt <= now { listen() }
        guard question == nil, left.first != nil || pollsAt <= now else { return }
        if left.isEmpty {
            left = questions.filter { $0 != .devices || turns % Self.deviceTurn == 0 }
            turns += 1
            (polledAt, pollsAt) = (now, now + Self.pause)
        }
        asked = left.removeFirst()
        answersBy = now + Self.patience
        do throws(ControlClientError) {
            question = try begin(asked.request, Token.question)
        } catch {
            lose(error, &news)
        }
    }

    private func begin(_ request: APIRequest, _ token: UInt64) throws(ControlClientError) -> HTTPExchange {
        let exchange = try client.begin(request.method, request.target, body: request.body)
        try add(exchange.descriptor, token, exchange.interest)
        return exchange
    }

    private func add(_ descriptor: CInt, _ token: UInt64, _ interest: Interest) throws(ControlClientError) {
        do throws(SystemCallError) {
            try poller.add(descriptor, token: token, events: interest)
        } catch {
            throw .exchange(socket: client.socket, .system(error))
        }
    }

    private mutating func expire(_ news: inout [News]) {
        let now = Clock.now()
        if question != nil, answersBy <= now { lose(.exchange(socket: client.socket, .timeout), &news) }
        if wish != nil, wishEnds <= now {
            wish = nil
            news.append(.failed("\(ExchangeError.timeout)"))
        }
    }

    /// Gives up what was asked; the next poll finds out whether there is a daemon again.
    private mutating func lose(_ error: ControlClientError, _ news: inout [News]) {
        question = nil
        stream = nil
        left = []
        let now = Clock.now()
        (pollsAt, listensAt) = (now + Self.pause, now + Self.pause)
        news.append(.lost(error))
    }

    // MARK: Events

    private mutating func listen() {
        do throws(ControlClientError) {
            let opened = try client.listen(since: lastEvent)
            try add(opened.descriptor, Token.stream, .reading)
            stream = consume opened
        } catch {
            // The polls say whether there is a daemon.
            listensAt = Clock.now() + Self.pause
        }
    }

    private mutating func takeEvents(_ news: inout [News]) {
        guard var open = stream.take() else { return }
        do throws(ExchangeError) {
            guard let received = try open.take() else { return leaveStream(for: Self.pause) }
            lastEvent = open.lastID ?? lastEvent
            for event in received {
                guard let data = try? JSON5Reader.read(Array(event.data.utf8).span) else { continue }
                news.append(.event(event, Found(data)))
            }
            if !received.isEmpty { pollSoon() }
            stream = consume open
        } catch {
            // A daemon that knows no events will not learn it soon.
            if case .status = error { leaveStream(for: .seconds(30)) } else { leaveStream(for: Self.pause) }
        }
    }

    private mutating func leaveStream(for time: Interval) {
        listensAt = Clock.now() + time
        pollSoon()
    }

    /// Has what has happened seen at once, however much that is.
    private mutating func pollSoon() { pollsAt = min(pollsAt, max(Clock.now(), polledAt + Self.breath)) }

    // MARK: Questions and wishes

    private mutating func advanceQuestion(_ news: inout [News]) {
        guard var open = question.take() else { return }
        do throws(ExchangeError) {
            if let reply = try open.advance() {
                // A daemon that refuses to say something is there, and the rest is asked.
                guard reply.isSuccess, let value = try? JSON5Reader.read(reply.body.span) else { return }
                news.append(.answer(Found(value), asked))
                return
            }
            try? poller.modify(open.descriptor, token: Token.question, events: open.interest)
            question = consume open
        } catch {
            lose(.exchange(socket: client.socket, error), &news)
        }
    }

    /// Asks for something; one wish at a time.
    mutating func ask(_ request: APIRequest, _ answer: Answer) -> String? {
        guard wish == nil else { return "wait for the last one" }
        self.answer = answer
        wishEnds = Clock.now() + Self.wishPatience
        do throws(ControlClientError) {
            wish = try begin(request, Token.wish)
            return nil
        } catch {
            return "\(error)"
        }
    }

    private mutating func advanceWish(_ news: inout [News], _ moment: Moment) {
        guard var open = wish.take() else { return }
        do throws(ExchangeError) {
            if let reply = try open.advance() {
                news.append(outcome(of: reply, moment))
                pollSoon()
                return
            }
            try? poller.modify(open.descriptor, token: Token.wish, events: open.interest)
            wish = consume open
        } catch {
            news.append(.failed("\(error)"))
        }
    }

    private func outcome(of reply: ControlReply, _ moment: Moment) -> News {
        guard let value = try? JSON5Reader.read(reply.body.span) else { return .failed("found no JSON in the answer") }
        guard reply.isSuccess else { return .failed(Found(value).error ?? "found status \(reply.status)") }
        return .done(answer.render(value, style, moment))
    }
}
