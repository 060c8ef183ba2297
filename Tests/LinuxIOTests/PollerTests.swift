/// Events, tokens, deadlines, and how other threads get in.

import Bytes
import Glibc
import LinuxIO
import Synchronization
import Testing

@Suite("Poller")
struct PollerTests {
    @Test func eachEventCarriesItsToken() throws {
        let pair = try Socket.pair()
        var poller = try Poller()
        let token: UInt64 = 0xdead_beef_0000_0001
        try poller.add(pair.first.descriptor.number, token: token, events: .readable)
        try poller.add(pair.second.descriptor.number, token: 2, events: [.readable, .writable])
        var events = [PolledEvent](repeating: .none, count: 8)
        var count = poller.wait(into: &events, until: Clock.now())
        #expect(count == 1)
        #expect(events[0].token == 2)
        #expect(events[0].writable && !events[0].readable && !events[0].hungUp)
        try poller.modify(pair.second.descriptor.number, token: 2, events: [])
        _ = pair.second.write([1].span)
        count = poller.wait(into: &events, until: Clock.now())
        #expect(count == 1)
        #expect(events[0].token == token)
        #expect(events[0].readable)
        poller.remove(pair.first.descriptor.number)
        count = poller.wait(into: &events, until: Clock.now())
        #expect(count == 0)
    }

    @Test func aFinishedPeerIsSeenWithoutReading() throws {
        let pair = try Socket.pair()
        var poller = try Poller()
        try poller.add(pair.first.descriptor.number, token: 1, events: .peerFinished)
        pair.second.shutdownSend()
        var events = [PolledEvent.none]
        let count = poller.wait(into: &events, until: Clock.now() + .seconds(20))
        #expect(count == 1)
        #expect(events[0].hungUp && !events[0].readable)
    }

    @Test func anEdgeIsReportedOnce() throws {
        let pair = try Socket.pair()
        var poller = try Poller()
        try poller.add(pair.first.descriptor.number, token: 1, events: .readable, edge: true)
        _ = pair.second.write([1].span)
        var events = [PolledEvent.none]
        let first = poller.wait(into: &events, until: Clock.now())
        let second = poller.wait(into: &events, until: Clock.now())
        #expect(first == 1)
        #expect(second == 0)
    }

    @Test("never wakes before the deadline", arguments: [0, 1, 300_000, 2_500_000] as [Int64])
    func deadline(nanoseconds: Int64) throws {
        var poller = try Poller()
        var events = [PolledEvent.none]
        let deadline = Clock.now() + .nanoseconds(nanoseconds)
        let count = poller.wait(into: &events, until: deadline)
        let now = Clock.now()
        #expect(count == 0)
        #expect(now >= deadline)
    }

    @Test func anOldKernelWakesItInWholeMilliseconds() throws {
        let waited = Seen()
        let thread = try WorkerThread.start(name: "old kernel") {
            guard (try? KernelRefusal.preciseWait.install()) != nil, var poller = try? Poller() else { return }
            var events = [PolledEvent.none]
            let start = Clock.now()
            guard poller.wait(into: &events, until: start + .microseconds(1200)) == 0 else { return }
            waited.interval.withLock { $0 = Clock.now() - start }
        }
        thread.join()
        let interval = waited.interval.withLock { $0 }
        #expect(interval >= .milliseconds(2))
        #expect(interval < .seconds(2))
    }

    @Test func anotherThreadWakesIt() throws {
        let wakeUp = try WakeUp()
        var poller = try Poller()
        try poller.add(wakeUp.descriptor.number, token: 1, events: .readable)
        let thread = try WorkerThread.start(name: "ringer") {
            for _ in 0..<3 { wakeUp.wake() }
        }
        var events = [PolledEvent.none]
        let woken = poller.wait(into: &events, until: Clock.now() + .seconds(20))
        thread.join()
        wakeUp.clear()
        let silent = poller.wait(into: &events, until: Clock.now())
        #expect(woken == 1)
        #expect(silent == 0)
    }

    @Test func aThreadOwnsWhatItIsGiven() throws {
        let pair = try Socket.pair()
        let number = pair.first.descriptor.number
        let seen = Seen()
        let thread = try WorkerThread.start(name: "a name that is far too long", owning: pair.takeFirst()) { socket in
            seen.number.withLock { $0 = socket.descriptor.number }
            seen.name.withLock { $0 = (try? SmallFile.read("/proc/thread-self/comm", limit: 64)) ?? [] }
        }
        thread.join()
        let (inThread, name) = (seen.number.withLock { $0 }, seen.name.withLock { $0 })
        #expect(inThread == number)
        #expect(String(decoding: name, as: UTF8.self) == "a name that is \n")
    }

    @Test func signalsAreEvents() async {
        await #expect(processExitsWith: .success) { try Reception.receiveAll() }
    }
}

private enum Reception {
    static func receiveAll() throws {
        let signals = try Signals()
        // To this thread: the test library has started others before, which do not block them.
        for number in [SIGHUP, SIGUSR1, SIGTERM, SIGINT] { raise(number) }
        var seen: Set<Signal> = []
        while let signal = signals.next() { seen.insert(signal) }
        precondition(seen == Set(Signal.allCases))
        // A closed peer is an outcome, not the end of the process.
        let pair = try Socket.pair()
        let first = pair.takeFirst()
        precondition(unsafe write(first.descriptor.number, "x", 1) == -1 && errno == EPIPE)
    }
}

private final class Seen: Sendable {
    let interval = Mutex(Interval.zero)
    let number = Mutex<CInt>(-1)
    let name = Mutex<[UInt8]>([])
}
