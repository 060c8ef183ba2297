/// What addresses a name has, as one resolver says.

import Addresses
import Bytes
import Wire

struct NameQuestion {
    var name: String
    var type: DNSType
    var mark: UInt32?

    enum Answer {
        /// Perhaps none of this type.
        case addresses([IPAddress])
        case unknownName
    }

    /// Asks and waits; nil where no good answer came in time.
    func ask(_ resolver: SocketAddress, until deadline: Instant) -> Answer? {
        guard let question = NameExchange.question(name, type: type.rawValue) else { return .unknownName }
        return NameExchange(mark: mark).ask(resolver, question, until: deadline) { message, id in
            read(message, id, question)
        }
    }

    /// Nil for what answers something else.
    private func read(_ message: [UInt8], _ id: UInt16, _ question: [UInt8]) -> Answer? {
        guard let header = try? DNSHeader.parse(message.span), header.id == id,
            let answer = try? DNSAnswer.parse(message.span, to: question.span)
        else { return nil }
        if answer.code == .nameError { return .unknownName }
        guard answer.code == .noError, let kept = try? DNSHeader.parse(answer.message.span) else { return nil }
        var records = DNSRecords(kept, at: answer.questionEnd)
        var addresses: [IPAddress] = []
        while let record = try? records.next(in: answer.message.span) {
            // The names on the way (CNAME) are the resolver's business; its addresses are of the name that was asked.
            if record.section == .answer, record.type == type, let address = record.address(in: answer.message.span) {
                addresses.append(address)
            }
        }
        return .addresses(addresses)
    }
}
