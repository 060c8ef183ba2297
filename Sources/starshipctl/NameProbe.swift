/// Whether somebody answers questions about names at all, whatever the answer.

import Addresses
import Bytes
import LinuxIO
import Wire

struct NameProbe {
    var mark: UInt32?

    /// Asks twice, for a datagram may be lost; any answer to the question counts, a refusal too.
    func answers(_ server: SocketAddress, _ name: String, type: UInt16, within time: Interval) -> Bool {
        let deadline = Clock.now() + time
        let half = Clock.now() + .milliseconds(time.milliseconds / 2)
        return asks(server, name, type, until: half) || asks(server, name, type, until: deadline)
    }

    private func asks(_ server: SocketAddress, _ name: String, _ type: UInt16, until deadline: Instant) -> Bool {
        var random = SystemRandom()
        let id = UInt16.random(in: .min ... .max, using: &random)
        var question: [UInt8] = []
        // The root has the empty name.
        if name == "." {
            question.append(0)
        } else if !DNSName.write(name, into: &question) {
            return false
        }
        question += [UInt8(type >> 8), UInt8(type & 255), 0, 1]
        var writer = DNSWriter()
        writer.begin(asking: question.span, id: id, bits: DNSHeader.Bits.recursionDesired)
        writer.finish(nil)
        guard let socket = try? DatagramSocket.connect(to: server, mark: mark), var poller = try? Poller(),
            (try? poller.add(socket.descriptor.number, token: 0, events: .readable)) != nil,
            socket.send(writer.bytes.span) == .sent
        else { return false }
        var events = [PolledEvent.none]
        while poller.wait(into: &events, until: deadline) > 0 {
            var buffer = [UInt8](repeating: 0, count: 4096)
            var space = buffer.mutableSpan
            guard case .datagram(let datagram) = socket.receive(into: &space) else { return false }
            let message = Array(buffer.prefix(datagram.count))
            // QR of the flags: an answer, and none of somebody else's questions.
            if message.count >= 12, UInt16(message[0]) << 8 | UInt16(message[1]) == id, message[2] & 0x80 != 0 {
                return true
            }
        }
        return false
    }
}
