/// # Whose address it is, when nobody has said so yet
///
/// The kernel's news of a neighbour go to the control thread, which may be busy; the neighbour's first packet goes to a
/// worker, its first question to the DNS service. Where a device is known by its MAC, and an address is none that the
/// policy knows, whoever has to judge asks the kernel. Who comes to a LAN asks for the gateway's MAC first, and by that
/// the kernel has its entry before the first packet is handed on. Who goes on from one more address, with a MAC that it
/// remembers, is unknown to the kernel too until that has asked for it: such a first packet is judged as a stranger's.
///
///     address ─▶ the policy's settings ─ no ▶ answers of a moment ago ─ no ▶ the kernel ─▶ MAC ─▶ what it has
///
/// Anybody on the LAN can make up addresses, so an answer counts for a while, also "nobody's", and only so many
/// questions are asked: over that an address is judged as unknown, which is what it was without all this.

import Addresses
import Bytes
import LinuxIO
import Synchronization

final class NeighbourSight: Sendable {
    /// A MAC, and where it is.
    typealias Station = RoutingSettings.Devices.Station

    /// How long an answer counts: an address may go to another device, whose news come as well.
    static let patience = Interval.seconds(1)
    /// How long nobody has an address; much shorter than the second after which a SYN comes again.
    static let patienceWithNobody = Interval.milliseconds(100)
    /// How many questions are asked in one such time; each takes some 15 µs.
    static let questions = 256
    /// How many answers are remembered; over it all are forgotten.
    static let capacity = 4096

    private struct Book {
        var answers: [IPAddress: (station: Station?, until: Instant)] = [:]
        var asked = 0
        var countsSince = Instant(nanoseconds: 0)
    }

    private let book = Mutex(Book())
    private let ask: @Sendable (IPAddress) -> Station?
    private let now: @Sendable () -> Instant

    init(_ ask: @escaping @Sendable (IPAddress) -> Station?, now: @escaping @Sendable () -> Instant = { Clock.now() }) {
        self.ask = ask
        self.now = now
    }

    /// Asks the kernel, about the network namespace of this thread and devices of these interfaces; empty: of all.
    ///
    /// Nil where there is no netlink.
    static func kernel(_ interfaces: [String]) -> NeighbourSight? {
        guard let kernel = try? Kernel() else { return nil }
        return NeighbourSight({ address in
            // A gateway's own uplink has neighbours too, and none of them is a device of the lab.
            guard let found = kernel.question.ask(address), interfaces.isEmpty || interfaces.contains(found.interface)
            else { return nil }
            return Station(mac: found.hardware, interface: found.interface)
        })
    }

    /// A class, because a closure can't hold what must not be copied; used under the book's lock alone.
    private final class Kernel: Sendable {
        let question: NeighbourQuestion

        init() throws(SystemCallError) { question = try NeighbourQuestion() }
    }

    /// Whose an address is.
    func station(at address: IPAddress) -> Station? {
        guard !address.isLoopback else { return nil }
        let now = now()
        return book.withLock { book in
            if let known = book.answers[address], known.until > now { return known.station }
            if now - book.countsSince >= Self.patienceWithNobody { (book.countsSince, book.asked) = (now, 0) }
            guard book.asked < Self.questions else { return nil }
            book.asked += 1
            if book.answers.count >= Self.capacity { book.answers.removeAll(keepingCapacity: true) }
            let station = ask(address)
            book.answers[address] = (station, now + (station == nil ? Self.patienceWithNobody : Self.patience))
            return station
        }
    }
}
