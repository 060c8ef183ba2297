/// # What the lab's other gateways have been told
///
/// For each peer the desk has the items that it has not confirmed: never more than there are, however long it is away.
/// Whatever changes here is pending for each peer at once, and told with the next turn of the loop; with nothing to
/// tell, an empty update goes out every two seconds, so that both know of each other.
///
///     change ──▶ pending ──▶ PeerCourier ──▶ the peer's answer ──▶ no longer pending
///     a peer that was started anew (another `life`) ──▶ everything is pending

import Bytes
import LinuxIO
import Profiles

/// One peer, and what is known of it.
struct Peer {
    let options: PeerOptions
    /// What it has not confirmed.
    var pending: Set<SharedItem>
    /// What is on its way to it, with the signature that its answer belongs to; nil: nothing is.
    var sent: (stamps: [SharedItem: SharedStamp], signature: PushSignature)?
    /// When it last said something that it has signed.
    var heardAt: Instant?
    /// When its program was started, as it says; 0 before it has said so.
    var life: Int64 = 0
    /// Whether it has told this program everything that it knows.
    var isSynchronised = false
    /// When it is told something next.
    var dueAt: Instant
    /// When everything is told again, whatever it has confirmed.
    var allDueAt: Instant
    /// Why it could not be told.
    var failure: String?
    /// What it has not taken, and why.
    var refused: [String] = []

    /// Whether it has been silent for longer than it should be.
    func isSilent(at now: Instant) -> Bool { heardAt.map { now - $0 > PeerDesk.silence } ?? true }
}

struct PeerDesk {
    /// Between two updates with nothing in them, and before one that failed is tried again.
    static let beat = Interval.seconds(2)
    /// After so long without a word a peer is called silent.
    static let silence = Interval.seconds(10)
    /// What a peer refused, or lost, is told again after so long.
    static let allAgain = Interval.seconds(600)
    static let waitWords = "peers: this gateway has not heard from its peer since it started"

    var all: [Peer] = []
    /// Nil without peers, and without a descriptor for it: nobody is told anything then.
    let courier: PeerCourier?
    /// How long devices that are unknown here wait for what peers know.
    let waitsUntil: Instant
    private(set) var hasWaited = false

    init() {
        courier = nil
        waitsUntil = Instant(nanoseconds: 0)
    }

    init(_ peers: [PeerOptions], telling items: Set<SharedItem>, waiting time: Interval, since now: Instant) {
        all = peers.map { Peer(options: $0, pending: items, dueAt: now, allDueAt: now + Self.allAgain) }
        courier = peers.isEmpty ? nil : try? PeerCourier()
        waitsUntil = now + time
    }

    var isEmpty: Bool { all.isEmpty }

    /// Whether a device that is unknown here may be known to a peer that has not been heard.
    var isWaiting: Bool { !all.isEmpty && !hasWaited && !all.contains(where: \.isSynchronised) }

    /// Ends the wait once its time is over; says whether it has ended just now.
    mutating func endWait(at now: Instant) -> Bool {
        guard isWaiting, now >= waitsUntil else { return false }
        hasWaited = true
        return true
    }

    /// When something is to be done.
    var deadline: Instant {
        let next = all.filter { $0.sent == nil }.map(\.dueAt).min() ?? .never
        return isWaiting ? min(next, waitsUntil) : next
    }

    func index(of id: String) -> Int? { all.firstIndex { $0.options.id == id } }

    /// Has all peers be told of items, but for the one that an item's version is from.
    mutating func tell(_ stamps: [SharedItem: SharedStamp], at now: Instant) {
        for (item, stamp) in stamps {
            for index in all.indices where all[index].options.id != stamp.by {
                all[index].pending.insert(item)
                all[index].dueAt = now
            }
        }
    }
}
