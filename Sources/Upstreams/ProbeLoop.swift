/// The prober's thread: one poller, and the probes that run.

import Addresses
import Bytes
import LinuxIO

struct ProbeLoop: ~Copyable {
    /// No token of a probe: those have slots from 1 to 127.
    static let bellToken: UInt64 = 0

    private let desk: ProbeDesk
    private var poller: Poller
    private var runs = Slab<ProbeRun>()
    private var waiting: [(request: ProbeRequest, ticket: UInt64)] = []
    private var names: ProbeNames
    private var buffers = DialBuffers()
    private var events = [PolledEvent](repeating: .none, count: 64)

    init(_ poller: consuming Poller, _ desk: ProbeDesk, _ resolver: TargetResolver?) {
        self.poller = poller
        self.desk = desk
        names = ProbeNames(desk, resolver)
    }

    /// The thread's life.
    mutating func run() {
        while true {
            let count = poller.wait(into: &events, until: deadline())
            let now = Clock.now()
            for position in 0..<count {
                let event = events[position]
                guard event.token == Self.bellToken else {
                    take(event, now: now)
                    continue
                }
                guard takeMail(now: now) else { return }
            }
            for handle in handles() where runs[handle].deadline <= now {
                follow(runs[handle].timeout(buffers: &buffers, now: now), of: handle, now: now)
            }
            startWaiting(now: now)
        }
    }

    private func deadline() -> Instant? {
        var earliest = Instant.never
        for handle in handles() { earliest = min(earliest, runs[handle].deadline) }
        return earliest == .never ? nil : earliest
    }

    private func handles() -> [Handle] {
        var handles: [Handle] = []
        for index in 0..<runs.capacity {
            if let handle = runs.handle(at: index) { handles.append(handle) }
        }
        return handles
    }

    /// Takes what others have left; false when it is time to end.
    private mutating func takeMail(now: Instant) -> Bool {
        let mail = desk.collect()
        guard !mail.isStopped else { return false }
        waiting += mail.requests
        for ticket in mail.cancelled { cancel(ticket) }
        for answer in names.answers(and: mail.resolutions) {
            for handle in answer.askers where runs.contains(handle) {
                follow(runs[handle].resolved(answer.result, buffers: &buffers, now: now), of: handle, now: now)
            }
        }
        return true
    }

    private mutating func cancel(_ ticket: UInt64) {
        let before = waiting.count
        waiting.removeAll { $0.ticket == ticket }
        for _ in waiting.count..<before { desk.drop() }
        for handle in handles() where runs[handle].result.ticket == ticket {
            _ = runs.remove(handle)
            desk.drop()
        }
    }

    private mutating func startWaiting(now: Instant) {
        while runs.count < Prober.limit, !waiting.isEmpty {
            let (request, ticket) = waiting.removeFirst()
            let handle = runs.insert(ProbeRun(request, ticket: ticket, now: now))
            follow(runs[handle].start(buffers: &buffers, now: now), of: handle, now: now)
        }
    }

    private mutating func take(_ event: PolledEvent, now: Instant) {
        let handle = Handle(
            index: UInt32(truncatingIfNeeded: event.token >> 8) & 0xff_ffff,
            generation: UInt32(truncatingIfNeeded: event.token >> 32))
        // A late event for a probe that has ended.
        guard runs.contains(handle) else { return }
        let slot = UInt8(truncatingIfNeeded: event.token)
        follow(runs[handle].ready(slot: slot, event, buffers: &buffers, now: now), of: handle, now: now)
    }

    /// Does what a probe asks for.
    private mutating func follow(_ progress: ProbeProgress, of handle: Handle, now: Instant) {
        switch progress {
        case .waiting: break
        case .register(let descriptor, let slot, let needsWritable):
            let events: Interest = needsWritable ? .everything : .reading
            // Without it the probe runs into its deadline.
            try? poller.add(descriptor, token: token(handle, slot), events: events, edge: true)
        case .watchWriting(let descriptor, let slot):
            try? poller.modify(descriptor, token: token(handle, slot), events: .everything, edge: true)
        case .needsName(let name, let isTarget):
            guard !names.ask(name, isTarget: isTarget, for: handle, at: now) else { return }
            let answer = Result<[IPAddress], ResolutionError>.failure(.temporary)
            follow(runs[handle].resolved(answer, buffers: &buffers, now: now), of: handle, now: now)
        case .finished:
            let result = runs[handle].result
            _ = runs.remove(handle)
            desk.put(result)
        }
    }

    private func token(_ handle: Handle, _ slot: UInt8) -> UInt64 {
        UInt64(handle.generation) << 32 | UInt64(handle.index) << 8 | UInt64(slot)
    }
}
