/// What comes back from resolvers: answers, failures, silence.

import Addresses
public import Bytes
import Wire

extension ResolverClient {
    /// When `timeout` has to be called at the latest.
    public mutating func nextDeadline() -> Instant? {
        while let next = deadlines.next {
            if let exchange = exchanges[next.exchange], !exchange.isOverdue { return next.deadline }
            deadlines.removeFirst()
        }
        return nil
    }

    /// Takes a message that came for an exchange, over TCP without its length.
    public mutating func receive(
        _ message: Span<UInt8>, for number: UInt64, now: Instant, random: inout some RandomNumberGenerator
    ) {
        guard let exchange = exchanges[number], let inquiry = inquiries[exchange.inquiry],
            let header = try? DNSHeader.parse(message), header.isResponse, header.id == exchange.id
        else {
            counters.strays += 1
            return
        }
        let answer: DNSAnswer
        do throws(WireError) {
            answer = try DNSAnswer.parse(message, to: inquiry.question.span)
        } catch .inconsistent(.question) {
            counters.strays += 1
            return
        } catch {
            // It has the right id, so it may be from the resolver; a better one may still come.
            counters.malformed += 1
            if exchange.isTCP { failed(number, now: now, random: &random) }
            return
        }
        heard(exchange.server, now)
        take(answer, exchange, number, now, &random)
    }

    private mutating func take(
        _ answer: DNSAnswer, _ exchange: Exchange, _ number: UInt64, _ now: Instant,
        _ random: inout some RandomNumberGenerator
    ) {
        let isConfused = [.formatError, .notImplemented, .badVersion].contains(answer.code)
        if isConfused, exchange.hasEDNS {
            // RFC 6891, section 7: who does not know EDNS is asked without.
            return replace(number, isTCP: exchange.isTCP, hasEDNS: false, now, &random)
        }
        if answer.isTruncated, !exchange.isTCP {
            return replace(number, isTCP: true, hasEDNS: exchange.hasEDNS, now, &random)
        }
        if !exchange.hasEDNS, !isConfused, let index = servers.firstIndex(where: { $0.address == exchange.server }) {
            servers[index].lacksEDNS = true
        }
        if answer.code == .noError || answer.code == .nameError {
            return finish(exchange.inquiry, with: answer)
        }
        inquiries[exchange.inquiry]?.failure = answer
        settle(number, now, &random)
    }

    /// Asks the same resolver again in another way, in place of an exchange.
    private mutating func replace(
        _ number: UInt64, isTCP: Bool, hasEDNS: Bool, _ now: Instant, _ random: inout some RandomNumberGenerator
    ) {
        guard let exchange = exchanges[number] else { return }
        open(exchange.server, for: exchange.inquiry, isTCP: isTCP, hasEDNS: hasEDNS, now, &random)
        settle(number, now, &random)
    }

    /// Takes the network's word that an exchange brings nothing: refused, unreachable, closed.
    public mutating func failed(_ number: UInt64, now: Instant, random: inout some RandomNumberGenerator) {
        guard let exchange = exchanges[number] else { return }
        // One that refuses TCP may be as alive as any: it was its own answer that led there.
        if !exchange.isTCP { change(exchange.server) { $0.refused() } }
        settle(number, now, &random)
    }

    /// Goes on where the time is over.
    public mutating func timeout(now: Instant, random: inout some RandomNumberGenerator) {
        while let next = deadlines.next, next.deadline <= now {
            deadlines.removeFirst()
            guard let exchange = exchanges[next.exchange], !exchange.isOverdue else { continue }
            counters.timeouts += 1
            if !exchange.isTCP { change(exchange.server) { $0.wasSilent(since: exchange.sent) } }
            // It stays open: its answer is as good when it comes during the next round.
            exchanges[next.exchange]?.isOverdue = true
            expectOneLess(exchange.inquiry, now, &random)
        }
    }

    /// Closes an exchange from which nothing more is expected.
    private mutating func settle(_ number: UInt64, _ now: Instant, _ random: inout some RandomNumberGenerator) {
        guard let exchange = exchanges.removeValue(forKey: number) else { return }
        actions.append(.close(exchange: number))
        inquiries[exchange.inquiry]?.exchanges.removeAll { $0 == number }
        if !exchange.isOverdue { expectOneLess(exchange.inquiry, now, &random) }
    }

    private mutating func expectOneLess(_ number: UInt64, _ now: Instant, _ random: inout some RandomNumberGenerator) {
        inquiries[number]?.expected -= 1
        guard let inquiry = inquiries[number], inquiry.expected == 0 else { return }
        // A dead resolver is not waited for, whatever the plan was.
        if !inquiry.isProbe {
            let dead = servers.filter(\.isDead).map(\.address)
            inquiries[number]?.rounds = inquiry.rounds.map { $0.filter { !dead.contains($0) } }.filter { !$0.isEmpty }
        }
        nextRound(of: number, now, &random)
    }

    /// Ends an inquiry and tells everybody who waits.
    mutating func finish(_ number: UInt64, with answer: DNSAnswer?) {
        guard let inquiry = inquiries.removeValue(forKey: number) else { return }
        for exchange in inquiry.exchanges {
            exchanges[exchange] = nil
            actions.append(.close(exchange: exchange))
        }
        if !inquiry.isProbe { byKey[inquiry.key] = nil }
        if !inquiry.tickets.isEmpty || answer != nil {
            actions.append(.answer(tickets: inquiry.tickets, inquiry.key, answer))
        }
    }

    private mutating func heard(_ address: SocketAddress, _ now: Instant) {
        change(address) { $0.heard(at: now) }
    }

    /// Notes something about a resolver, and tells when that changes whether it is dead.
    private mutating func change(_ address: SocketAddress, _ note: (inout ResolverServer) -> Void) {
        guard let index = servers.firstIndex(where: { $0.address == address }) else { return }
        let wasDead = servers[index].isDead
        note(&servers[index])
        if servers[index].isDead != wasDead {
            actions.append(.changed(address, isDead: servers[index].isDead))
        }
    }
}
