/// Questions of the gateway itself: the addresses of a name that a worker dials.

import Addresses
import Bytes
import LinuxIO
import Names
import Wire

/// A question that is on its way, once for each family.
struct NameLookup: Sendable {
    var request: NameRequest
    var waiting = 2
    var addresses: [IPAddress] = []
    /// Whether a resolver said anything, if only that there is nothing.
    var isAnswered = false
}

extension NameServer {
    mutating func collectRequests() {
        let (requests, isStopped) = desk.collect()
        if isStopped { isStopping = true }
        for request in requests { look(up: request) }
    }

    private mutating func look(up request: NameRequest) {
        counters.lookups += 1
        let name = request.name.lowercased()
        var question: [UInt8] = []
        guard DNSName.write(name, into: &question) else { return reply(request, .failure(.unknownName)) }
        let handle = lookups.insert(NameLookup(request: request))
        for type in [DNSType.address4, .address6] { ask(name, question, type, for: handle) }
    }

    private mutating func ask(_ name: String, _ question: [UInt8], _ type: DNSType, for lookup: Handle) {
        // A query as a client would send it: with RD, and nothing else.
        var message: [UInt8] = [0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0]
        message += question + [0, UInt8(type.rawValue), 0, 1]
        guard let query = try? DNSQuery.parse(message.span) else { return finish(lookup, type, nil) }
        switch rules.plan(for: query, verdict: { _ in .real(maximumTTL: nil) }) {
        case .addresses(let own):
            lookups[lookup].addresses += own.filter { $0.isIPv4 == (type == .address4) }
            finish(lookup, isAnswered: true)
        case .forward:
            let asked = Array(message[..<query.questionEnd])
            forward(PendingQuery(asker: .lookup(lookup), device: Self.gatewayItself, query: query, asked: asked))
        case .nonexistent, .empty, .pointer, .fake: finish(lookup, isAnswered: true)
        case .refused: finish(lookup, isAnswered: false)
        }
    }

    /// Takes the answer for one family.
    mutating func finish(_ lookup: Handle, _ type: DNSType, _ answer: DNSAnswer?) {
        let isFailure = answer.map { $0.code != .noError && $0.code != .nameError } ?? true
        lookups[lookup].addresses += answer?.addresses.filter { $0.isIPv4 == (type == .address4) } ?? []
        finish(lookup, isAnswered: !isFailure)
    }

    private mutating func finish(_ lookup: Handle, isAnswered: Bool) {
        lookups[lookup].waiting -= 1
        if isAnswered { lookups[lookup].isAnswered = true }
        guard lookups[lookup].waiting == 0 else { return }
        let found = lookups.remove(lookup)
        // IPv4 first: what has no IPv6 of its own would wait for it.
        let addresses = found.addresses.filter(\.isIPv4) + found.addresses.filter { !$0.isIPv4 }
        if !addresses.isEmpty { return reply(found.request, .success(addresses)) }
        reply(found.request, .failure(found.isAnswered ? .unknownName : .temporary))
    }

    private func reply(_ request: NameRequest, _ result: Result<[IPAddress], ResolutionError>) {
        request.reply(Resolution(ticket: request.ticket, name: request.name, result: result))
    }
}
