/// Whether somebody answers questions about names at all, whatever the answer.

import Addresses
import Bytes
import LinuxIO

struct NameProbe {
    var mark: UInt32?

    /// Asks twice, for a datagram may be lost; any answer to the question counts, a refusal too.
    func answers(_ server: SocketAddress, _ name: String, type: UInt16, within time: Interval) -> Bool {
        let deadline = Clock.now() + time
        let half = Clock.now() + .milliseconds(time.milliseconds / 2)
        return asks(server, name, type, until: half) || asks(server, name, type, until: deadline)
    }

    private func asks(_ server: SocketAddress, _ name: String, _ type: UInt16, until deadline: Instant) -> Bool {
        guard let question = NameExchange.question(name, type: type) else { return false }
        let isAnswered = NameExchange(mark: mark).ask(server, question, until: deadline) { message, id in
            // QR of the flags: an answer, and none of somebody else's questions.
            let isAnswer =
                message.count >= 12 && UInt16(message[0]) << 8 | UInt16(message[1]) == id && message[2] & 0x80 != 0
            return isAnswer ? true : nil
        }
        return isAnswered ?? false
    }
}
