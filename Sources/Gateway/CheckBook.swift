/// # What was seen of self-checks
///
/// A page has a browser fetch three images, each under the check's nonce; who sees one of them, or the question for its
/// name, writes it down where it is: each worker in a book of its own, the DNS service behind the lock that it has
/// anyway, the page on the control thread. `Gateway.selfCheck` gathers what they know.

import Addresses
import Bytes
import LinuxIO
import Synchronization

/// One thing that was seen.
struct CheckNote: Equatable, Sendable {
    enum Event: Sendable {
        /// The DNS service was asked for the check's name.
        case asked
        /// The DNS service was asked for the name's IPv6 address.
        case askedForIPv6
        /// The image was fetched by its name.
        case cameByName
        /// The image was fetched through the TUN device, over IPv4.
        case cameByRoute
        /// The image was fetched through the TUN device, over IPv6.
        case cameByIPv6
    }

    var nonce: String
    var event: Event
    /// Who asked or fetched.
    var device: IPAddress
    /// The first time.
    var at: Instant
}

/// What one thread has seen.
struct CheckBook: Sendable {
    /// How many notes are kept, and how many of one address: nobody can write others' out of the book.
    static let limit = 1024
    static let limitPerDevice = 64
    static let lifetime = Interval.seconds(600)

    /// The earliest first.
    private var notes: [CheckNote] = []

    mutating func note(_ nonce: String, _ event: CheckNote.Event, by device: IPAddress, at now: Instant) {
        guard let nonce = Self.nonce(nonce) else { return }
        notes.removeFirst(notes.firstIndex { !Self.isOver($0, at: now) } ?? notes.count)
        var own = 0
        for note in notes where note.device == device {
            if note.event == event, note.nonce == nonce { return }
            own += 1
        }
        if own >= Self.limitPerDevice, let first = notes.firstIndex(where: { $0.device == device }) {
            notes.remove(at: first)
        } else if notes.count >= Self.limit {
            notes.removeFirst()
        }
        notes.append(CheckNote(nonce: nonce, event: event, device: device, at: now))
    }

    func notes(of nonce: String, at now: Instant) -> [CheckNote] {
        guard let nonce = Self.nonce(nonce) else { return [] }
        return notes.filter { $0.nonce == nonce && !Self.isOver($0, at: now) }
    }

    private static func isOver(_ note: CheckNote, at now: Instant) -> Bool { now - note.at >= lifetime }

    /// A nonce as books have it, since browsers write names in lower case; nil for what is none.
    static func nonce(_ text: String) -> String? {
        let isNonce = text.utf8.allSatisfy { octet in
            switch octet {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: false
            }
        }
        return isNonce && (1...63).contains(text.utf8.count) ? text.lowercased() : nil
    }
}

/// Where workers put what they have seen of one check.
final class CheckBox: Sendable {
    let nonce: String
    private let content = Mutex<(notes: [CheckNote], workers: Int)>(([], 0))
    private let control: WakeUp

    init(_ nonce: String, waking control: WakeUp) {
        self.nonce = nonce
        self.control = control
    }

    func put(_ notes: [CheckNote]) {
        content.withLock { content in
            content.notes += notes
            content.workers += 1
        }
        control.wake()
    }

    var workers: Int { content.withLock { $0.workers } }
    var notes: [CheckNote] { content.withLock { $0.notes } }
}
