/// One question to a resolver over UDP, and what comes back; `NameQuestion` and `NameProbe` say what they make of it.

import Addresses
import Bytes
import LinuxIO
import Wire

struct NameExchange {
    var mark: UInt32?

    /// The question as it stands in a message; nil for what can be no name.
    static func question(_ name: String, type: UInt16) -> [UInt8]? {
        var question: [UInt8] = []
        // The root has the empty name.
        if name == "." {
            question.append(0)
        } else if !DNSName.write(name, into: &question) {
            return nil
        }
        return question + [UInt8(type >> 8), UInt8(type & 255), 0, 1]
    }

    /// Asks and waits until `read` makes something of a message that came; nil where none came in time that it could.
    ///
    /// The socket is connected, with a port drawn by the kernel: nothing comes in from elsewhere. What has another id
    /// or question is passed over, and the wait goes on (RFC 5452, section 9): `read` says nil to it.
    func ask<Answer>(
        _ resolver: SocketAddress, _ question: [UInt8], until deadline: Instant,
        _ read: (_ message: [UInt8], _ id: UInt16) -> Answer?
    ) -> Answer? {
        var random = SystemRandom()
        let id = UInt16.random(in: .min ... .max, using: &random)
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
            if let answer = read(Array(buffer.prefix(datagram.count)), id) { return answer }
        }
        return nil
    }
}
