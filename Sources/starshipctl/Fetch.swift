/// Fetching one document by plain http, past the tunnel and past our own name service.
///
/// The configuration that would mend a dead proxy must not be fetched through that proxy: the sockets bear the daemon's
/// mark, and names are asked of the resolvers themselves, so that no answer is a fake address.

import Addresses
import Bytes
import Commands
import Control
import LinuxIO
import Wire

struct Fetch {
    private let address: WebAddress
    private let limit: Int
    /// Asked one after the other; without any the system's resolver is.
    var resolvers: [SocketAddress] = []
    var mark: UInt32?

    /// The time for everything, names included.
    static let time = Interval.seconds(5)
    /// The time that one resolver has before the next one is asked.
    static let patience = Interval.milliseconds(1500)

    init(_ address: WebAddress, limit: Int) {
        self.address = address
        self.limit = limit
    }

    /// Reads a resolver as the daemon's status names it, with or without a port.
    static func resolver(_ text: String) -> SocketAddress? {
        IPAddress(parsing: text).map { SocketAddress($0, 53) } ?? SocketAddress(parsing: text)
    }

    /// The body of a reply with status 200; nothing else counts, and no redirect is followed.
    func run() throws(FetchError) -> [UInt8] {
        let deadline = Clock.now() + Self.time
        var last = FetchError.noAddress("has no address")
        for host in try addresses(until: deadline) {
            do throws(FetchError) {
                let reply = try exchange(with: SocketAddress(host, address.port), until: deadline)
                guard reply.status == 200 else {
                    throw FetchError.status(reply.status, FetchError.beginning(reply.body))
                }
                return reply.body
            } catch {
                // The next address may be better only where this one gave no answer at all.
                guard case .connection = error else { throw error }
                last = error
            }
        }
        throw last
    }

    private func exchange(with server: SocketAddress, until deadline: Instant) throws(FetchError) -> ControlReply {
        let socket: Socket
        do throws(SystemCallError) {
            socket = try Socket.connectTCP(to: server, mark: mark)
        } catch {
            throw .connection("\(error)")
        }
        do throws(ExchangeError) {
            return try HTTPExchange.run(socket, request: address.request, limit: limit, until: deadline)
        } catch {
            switch error {
            case .system(let error): throw .connection("\(server): \(error.errno)")
            case .timeout: throw .late
            case .torn, .tooLarge, .malformed, .status: throw .exchange(error)
            }
        }
    }

    // MARK: Names

    private func addresses(until deadline: Instant) throws(FetchError) -> [IPAddress] {
        switch address.host {
        case .address(let address): return [address]
        case .name(let name):
            return try resolvers.isEmpty
                ? systemAddresses(of: name, until: deadline) : askedAddresses(of: name, until: deadline)
        }
    }

    /// Asks one resolver after the other; the first that answers decides.
    private func askedAddresses(of name: String, until deadline: Instant) throws(FetchError) -> [IPAddress] {
        for resolver in resolvers {
            let limit = min(deadline, Clock.now() + Self.patience)
            for type in [DNSType.address4, .address6] {
                guard let answer = NameQuestion(name: name, type: type, mark: mark).ask(resolver, until: limit) else {
                    break
                }
                switch answer {
                case .addresses(let addresses) where !addresses.isEmpty: return addresses
                case .unknownName: throw .noAddress("does not exist, says \(resolver.address)")
                case .addresses: continue
                }
            }
        }
        let asked = resolvers.map { "\($0.address)" }.joined(separator: ", ")
        throw .noAddress("was not resolved by \(asked)")
    }

    /// The system's resolver: where the gateway has no name service of its own, it is an honest one.
    private func systemAddresses(of name: String, until deadline: Instant) throws(FetchError) -> [IPAddress] {
        let wakeUp: WakeUp
        let resolver: NameResolver
        do throws(SystemCallError) {
            wakeUp = try WakeUp()
            resolver = try NameResolver(wakeUp: wakeUp, threads: 1)
        } catch {
            throw .connection("\(error)")
        }
        _ = resolver.resolve(name, ticket: 0)
        _ = wakeUp.wait(atMost: deadline - Clock.now())
        guard let answer = resolver.nextResult() else { throw .late }
        guard case .success(let addresses) = answer.result else { throw .noAddress("does not resolve") }
        return addresses
    }
}

/// Why nothing was fetched.
enum FetchError: Error, CustomStringConvertible {
    case noAddress(String)
    case connection(String)
    case late
    case exchange(ExchangeError)
    /// With the first characters of the body.
    case status(Int, String)

    var description: String {
        switch self {
        case .noAddress(let reason): "the host's name \(reason); expected one that resolves"
        case .connection(let reason): "found no connection (\(reason)); expected a web server there"
        case .late: "found no answer within 5 s; expected the document"
        case .exchange(let error): "\(error)"
        case .status(let status, let beginning):
            "found status \(status)\(beginning.isEmpty ? "" : ", \"\(beginning)\""); expected 200"
                + (status / 100 == 3 ? " (redirects aren't followed: push the address that it leads to)" : "")
        }
    }

    /// The first 80 characters that can be printed, on one line.
    static func beginning(_ body: [UInt8]) -> String {
        let text = String(decoding: body.prefix(1024), as: UTF8.self)
        let printable = text.unicodeScalars.map { $0 == "\n" || $0 == "\t" ? " " : $0 }.filter {
            $0.properties.generalCategory != .control && $0 != "\u{fffd}"
        }
        var beginning = ""
        for scalar in printable.prefix(80) { beginning.unicodeScalars.append(scalar) }
        return beginning
    }
}
