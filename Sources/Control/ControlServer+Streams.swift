/// Answers that take their time: streams of events, and those that were promised.

public import Bytes
internal import LinuxIO

extension ControlServer {
    /// The most streams at a time.
    public static let streamLimit = 32

    /// Tells everybody who listens.
    public mutating func publish(_ event: ControlEvent, now: Instant) {
        history.add(event)
        for place in 0..<connections.capacity {
            guard let handle = connections.handle(at: place), connections[handle].session.isStream else { continue }
            pump(handle, now)
        }
    }

    /// How many listen.
    public var streams: Int {
        var count = 0
        for place in 0..<connections.capacity {
            guard let handle = connections.handle(at: place), connections[handle].session.isStream else { continue }
            count += 1
        }
        return count
    }

    /// Keeps the promise of `ControlAnswer.later`; a client that is gone is passed over.
    ///
    /// The answer is sent by the next `serve`.
    public mutating func deliver(_ answer: ControlAnswer, for ticket: UInt64, now: Instant) {
        for place in 0..<connections.capacity {
            guard let handle = connections.handle(at: place), connections[handle].ticket == ticket else { continue }
            connections[handle].ticket = nil
            give(answer, to: handle, now)
            return watch(handle, .writable)
        }
    }

    /// Answers the request that is under way.
    mutating func give(_ answer: ControlAnswer, to handle: Handle, _ now: Instant) {
        switch answer.content {
        case .json, .document: break
        case .later(let ticket): connections[handle].ticket = ticket
        case .events:
            guard streams < Self.streamLimit else {
                streamsRefused += 1
                let full = ControlError(
                    .unavailable, "found \(Self.streamLimit) streams of events already; expected fewer: end one")
                return connections[handle].session.answer(ControlAnswer(full), now: now)
            }
        }
        connections[handle].session.answer(answer, now: now)
    }

    /// Sends a stream what there is for it.
    ///
    /// It ends when its client does: also one that has only finished sending would be a reader that nobody can tell
    /// from none. A client that is too slow is dropped; it asks again, and is told that it has missed something.
    mutating func pump(_ handle: Handle, _ now: Instant) {
        if connections[handle].client.isGone { return drop(handle) }
        while connections[handle].session.fill(from: history, now: now) {
            let output = connections[handle].session.output
            if output.isEmpty { return watch(handle, .reading) }
            switch connections[handle].client.socket.write(output.span) {
            case .bytes(let count):
                connections[handle].client.active = now
                _ = connections[handle].session.sent(count, now: now)
            case .wouldBlock: return watch(handle, [.writable, .peerFinished])
            case .failed: return drop(handle)
            }
        }
        drop(handle)
    }
}
