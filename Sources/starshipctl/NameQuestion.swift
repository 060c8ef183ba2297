/// One question to one resolver over UDP.

import Addresses
import Bytes
import LinuxIO
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
    ///
    /// The socket is connected, with a port drawn by the kernel: nothing comes in from elsewhere. What has another id
    /// or question is passed over, and the wait goes on (RFC 5452, section 9).
    func ask(_ resolver: SocketAddress, until deadline: Instant) -> Answer? {
        var random = SystemRandom()
        let id = UInt16.random(in: .min ... .max, using: &random)
        var question: [UInt8] = []
        guard DNSName.write(name, into: &question) else { return .unknownName }
        question += [UInt8(type.rawValue >> 8), UInt8(type.rawValue & 255), 0, 1]
        var writer = DNSWriter()
        writer.begin(asking: question.span, id: id, bits: DNSHeader.Bits.recursionDesired)
        writer.finish(nil)
        guard let socket = try? DatagramSocket.connect(to: resolver, mark: mark), var poller = try? Poller(),
            (try? poller.add(socket.descriptor.number, token: 0, events: .readable)) != nil,
            socket.send(writer.bytes.span) == .sent
        else { return nil }
        var events = [PolledEvent.none]
        while poller.wait(into: &events, until: deadline) > 0 {
            var buffer = [UInt8](repeating: 0, count: 4096)
            var space = buffer.mutableSpan
            guard case .datagram(let datagram) = socket.receive(into: &space) else { return nil }
            let message = Array(buffer.prefix(datagram.count))
            if let answer = read(message, id, question) { return answer }
        }
        return nil
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
