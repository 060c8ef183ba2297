/// Names to addresses with the system's resolver (getaddrinfo), which blocks, on threads of its own.

public import Addresses
internal import CLinux
internal import Glibc
internal import Synchronization

/// Why a name has no address.
public enum ResolutionError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The name does not exist or has no address.
    case unknownName
    /// The resolver did not answer or failed; asking again may help.
    case temporary
    /// The system's resolver is broken, in its own words.
    case failed(String)

    public var description: String {
        switch self {
        case .unknownName: "the name does not resolve"
        case .temporary: "the resolver does not answer"
        case .failed(let text): text
        }
    }
}

/// The answer to one question.
public struct Resolution: Equatable, Sendable {
    /// What the asker gave, to find its own again.
    public let ticket: UInt64
    public let name: String
    /// In the order of preference (RFC 6724).
    public let result: Result<[IPAddress], ResolutionError>

    public init(ticket: UInt64, name: String, result: Result<[IPAddress], ResolutionError>) {
        self.ticket = ticket
        self.name = name
        self.result = result
    }
}

/// A bounded queue of questions and a few threads that answer them.
///
/// Threads start with the first question. Answers wait until the owner, woken by `wakeUp`, fetches them.
public final class NameResolver: Sendable {
    private let desk: Desk
    private let threadLimit: Int
    private let running = Mutex(0)

    /// The most questions that may wait.
    public let capacity: Int

    /// A resolver that rings `wakeUp` after each answer.
    public init(wakeUp: WakeUp, threads: Int = 2, capacity: Int = 256) throws(SystemCallError) {
        desk = try Desk(wakeUp: wakeUp)
        threadLimit = threads
        self.capacity = capacity
    }

    deinit { desk.close() }

    /// Asks for the addresses of a name, or returns false when too many questions wait already.
    public func resolve(_ name: String, ticket: UInt64) -> Bool {
        guard let waiting = desk.add(ticket, name, capacity: capacity) else { return false }
        hire(forWaiting: waiting)
        return true
    }

    /// The next answer, or nil when there is none yet.
    public func nextResult() -> Resolution? { desk.takeAnswer() }

    /// Starts one more thread while questions wait and the limit is not reached.
    private func hire(forWaiting waiting: Int) {
        running.withLock { running in
            guard running == 0 || waiting > running, running < threadLimit else { return }
            let desk = desk
            do {
                try WorkerThread.startDetached(name: "resolver", stackSize: 256 * 1024) { desk.serve() }
                running += 1
            } catch  where running == 0 {
                desk.failAll(.failed("\(error)"))
            } catch {
                // The threads that run already answer this question too.
            }
        }
    }
}

/// What the asker and the answering threads share.
private final class Desk: Sendable {
    private struct Papers {
        var questions: [(ticket: UInt64, name: String)] = []
        var answers: [Resolution] = []
        var isClosed = false
    }

    private let papers = Mutex(Papers())
    private let wakeUp: WakeUp
    /// An eventfd that counts questions: a thread that reads it sleeps until there is one.
    private let bell: OwnedDescriptor

    init(wakeUp: WakeUp) throws(SystemCallError) {
        self.wakeUp = wakeUp
        let number = eventfd(0, CInt(EFD_SEMAPHORE | EFD_CLOEXEC))
        guard number >= 0 else { throw .last("eventfd") }
        bell = OwnedDescriptor(owning: number)
    }

    /// Adds a question and returns how many wait, or nil when too many do.
    func add(_ ticket: UInt64, _ name: String, capacity: Int) -> Int? {
        let waiting: Int? = papers.withLock { papers in
            guard papers.questions.count < capacity else { return nil }
            papers.questions.append((ticket, name))
            return papers.questions.count
        }
        if waiting != nil { ring(1) }
        return waiting
    }

    func takeAnswer() -> Resolution? {
        papers.withLock { $0.answers.isEmpty ? nil : $0.answers.removeFirst() }
    }

    func failAll(_ error: ResolutionError) {
        papers.withLock { papers in
            papers.answers += papers.questions.map {
                Resolution(ticket: $0.ticket, name: $0.name, result: .failure(error))
            }
            papers.questions = []
        }
        wakeUp.wake()
    }

    /// Sends every thread home as soon as it has finished what it does.
    func close() {
        papers.withLock { $0.isClosed = true }
        ring(UInt64(UInt32.max))
    }

    private func ring(_ count: UInt64) {
        var count = count
        _ = retrying { unsafe write(bell.number, &count, 8) }
    }

    /// A thread's life.
    func serve() {
        while true {
            var count: UInt64 = 0
            guard retrying({ unsafe read(bell.number, &count, 8) }) == 8 else { return }
            let (question, isClosed) = papers.withLock { papers in
                (papers.questions.isEmpty ? nil : papers.questions.removeFirst(), papers.isClosed)
            }
            if isClosed { return }
            guard let question else { continue }
            let answer = Resolution(
                ticket: question.ticket, name: question.name, result: Self.addresses(of: question.name))
            papers.withLock { $0.answers.append(answer) }
            wakeUp.wake()
        }
    }

    private static func addresses(of name: String) -> Result<[IPAddress], ResolutionError> {
        var hints = unsafe addrinfo()
        unsafe hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
        var first: UnsafeMutablePointer<addrinfo>?
        let code = unsafe getaddrinfo(name, nil, &hints, &first)
        guard code == 0 else { return .failure(reason(code)) }
        defer { unsafe freeaddrinfo(first) }
        var found: [IPAddress] = []
        var next = unsafe first
        while let entry = unsafe next {
            unsafe next = entry.pointee.ai_next
            guard let system = unsafe entry.pointee.ai_addr, let address = unsafe SocketAddress(system: system)
            else { continue }
            if !found.contains(address.address) { found.append(address.address) }
        }
        return found.isEmpty ? .failure(.unknownName) : .success(found)
    }

    private static func reason(_ code: CInt) -> ResolutionError {
        switch code {
        case EAI_NONAME: return .unknownName
        case EAI_AGAIN: return .temporary
        case EAI_SYSTEM: return .failed("\(ErrorNumber.last)")
        case -5: return .unknownName  // EAI_NODATA: the name exists and has no address.
        default: return unsafe .failed(String(cString: gai_strerror(code)))
        }
    }
}
