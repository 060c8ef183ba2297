/// One connection to a proxy, and one question: is it there, and is it a proxy?

import Addresses
import Bytes
import Doctor
import LinuxIO
import Profiles
import Wire

struct ProxyProbe {
    var mark: UInt32?
    var resolvers: [SocketAddress]

    private static let patience = Interval.seconds(4)

    func answer(_ profile: Profile, _ configuration: Configuration) -> Sight.UpstreamSight.Answer {
        guard let server = profile.upstream.server else { return .answered(status: nil) }
        let addresses: [IPAddress]
        switch server.host {
        case .address(let address): addresses = [address]
        case .name(let name):
            addresses = self.addresses(of: name)
            if addresses.isEmpty { return .unresolved("no resolver knows \(name)") }
        }
        let page = configuration.health(of: profile)?.page?.url
        let isSOCKS = profile.upstream.type == .socks5
        let question =
            isSOCKS
            ? greeting(profile) : page.map { Self.connect("\(Profiles.Upstream.Server(host: $0.host, port: $0.port))") }
        var last = Sight.UpstreamSight.Answer.silent
        for address in addresses {
            last = ask(SocketAddress(address, server.port), question, isSOCKS: isSOCKS)
            if case .answered = last { return last }
        }
        return last
    }

    private static func connect(_ target: String) -> [UInt8] {
        Array("CONNECT \(target) HTTP/1.1\r\nHost: \(target)\r\n\r\n".utf8)
    }

    /// The ways of logging in that the profile has (RFC 1928, section 3).
    private func greeting(_ profile: Profile) -> [UInt8] {
        profile.upstream.credentials == nil ? [5, 1, 0] : [5, 2, 0, 2]
    }

    private func addresses(of name: String) -> [IPAddress] {
        for resolver in resolvers {
            for type in [DNSType.address4, .address6] {
                let question = NameQuestion(name: name, type: type, mark: mark)
                guard let answer = question.ask(resolver, until: Clock.now() + Fetch.patience) else { break }
                if case .addresses(let found) = answer, !found.isEmpty { return found }
            }
        }
        // /etc/hosts, and whatever else the system asks.
        guard let wakeUp = try? WakeUp(), let system = try? NameResolver(wakeUp: wakeUp, threads: 1) else { return [] }
        _ = system.resolve(name, ticket: 0)
        _ = wakeUp.wait(atMost: Self.patience)
        guard let result = system.nextResult()?.result, case .success(let found) = result else { return [] }
        return found
    }

    // MARK: The conversation

    private func ask(_ server: SocketAddress, _ question: [UInt8]?, isSOCKS: Bool) -> Sight.UpstreamSight.Answer {
        do throws(SystemCallError) {
            let socket = try Socket.connectTCP(to: server, mark: mark)
            var poller = try Poller()
            try poller.add(socket.descriptor.number, token: 0, events: .everything)
            return converse(socket, &poller, question, isSOCKS: isSOCKS)
        } catch {
            return .failed("\(error.errno)")
        }
    }

    private func converse(
        _ socket: borrowing Socket, _ poller: inout Poller, _ question: [UInt8]?, isSOCKS: Bool
    ) -> Sight.UpstreamSight.Answer {
        let deadline = Clock.now() + Self.patience
        var events = [PolledEvent.none]
        guard poller.wait(into: &events, until: deadline) > 0 else { return .failed("no answer to a SYN in 4 s") }
        if let reason = socket.connectError() { return .failed("\(reason)") }
        guard let question else { return .answered(status: nil) }
        guard socket.write(question.span) == .bytes(question.count) else { return .failed("it closed the connection") }
        try? poller.modify(socket.descriptor.number, token: 0, events: .readable)
        var said: [UInt8] = []
        while poller.wait(into: &events, until: deadline) > 0 {
            switch socket.read(appendingTo: &said, limit: 4096) {
            case .bytes:
                if let status = Self.status(said, isSOCKS: isSOCKS) { return .answered(status: status) }
                if said.count > 1024 { return .failed("it speaks another protocol") }
            case .wouldBlock: continue
            case .end: return .failed("it closed the connection without an answer")
            case .failed(let reason): return .failed("\(reason)")
            }
        }
        return .silent
    }

    /// The status of an HTTP answer, or the method that SOCKS5 chose; nil: more is needed, or it is neither.
    private static func status(_ said: [UInt8], isSOCKS: Bool) -> Int? {
        if isSOCKS { return said.count >= 2 && said[0] == 5 ? Int(said[1]) : nil }
        let text = String(decoding: said.prefix(32), as: UTF8.self)
        guard text.hasPrefix("HTTP/1."), text.utf8.count >= 12 else { return nil }
        return Int(text.dropFirst(9).prefix(3))
    }
}
