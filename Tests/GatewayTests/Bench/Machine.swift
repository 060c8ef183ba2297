/// A real worker, turned by the test instead of by its thread, and the device's end of its queue.

import Addresses
import Bytes
import Flows
import LinuxIO
import Upstreams

@testable import Gateway

final class Machine {
    let index: Int
    var worker: Worker
    private let device: TunnelQueue
    private var events = [PolledEvent](repeating: .none, count: Poller.batch)
    private var buffer = PacketBuffer()
    /// The lines that the worker has said.
    private(set) var log = ""

    init(_ index: Int, shared: Shared, hasVirtioHeader: Bool) throws {
        self.index = index
        let pair = try TunnelPair(hasVirtioHeader: hasVirtioHeader)
        let seed = WorkerSeed(
            index: index, shared: shared, queue: pair.gateway, poller: try Poller(),
            resolver: try NameResolver(wakeUp: shared.mailboxes[index].bell))
        try seed.watch()
        worker = Worker(seed)
        device = pair.device
    }

    /// One turn of the worker's loop; returns whether there was anything to do, or will be at once.
    func turn(at now: Instant) -> Bool {
        let count = worker.poller.wait(into: &events, until: Clock.now())
        worker.turn(events, count, at: now)
        log += String(decoding: worker.logSink.takeBytes(), as: UTF8.self)
        return count > 0 || worker.tunnelHasMore || !worker.touched.isEmpty
    }

    func write(_ message: [UInt8]) throws {
        let outcome = device.write(message.span)
        guard outcome == .written else { throw BenchError("the queue takes nothing: \(outcome)") }
    }

    /// The next message that the worker wrote.
    func read() -> [UInt8]? {
        guard case .packet(let count) = device.read(into: &buffer) else { return nil }
        return Array(buffer.storage[..<count])
    }

    // What is looked at in tests, as plain values.
    var flows: Int { worker.flows.count }
    var halfOpen: Int { worker.halfOpen.count }
    var datagramFlows: Int { worker.datagrams.count }
    var lingering: Int { worker.lingering.count }
    var chunksUsed: Int { worker.pool.used }
    var chunkLimit: Int { worker.pool.limit }
    var flowLimit: Int { worker.flowLimit }
    var nextWake: Instant? { worker.nextWake }
    var hasWorked: Bool { worker.hasWorked }
    var counters: Counters { worker.counters }
    var reasons: [String: Int] { worker.tally.reasons }

    func holdsFakeAddress(_ client: SocketAddress, _ target: SocketAddress) -> Bool {
        guard let handle = worker.datagrams.find(FlowKey(client: client, target: target)) else { return false }
        return worker.datagrams.flows[handle].holdsFakeAddress
    }

    /// What the worker tells of devices' wishes.
    func requests(of device: IPAddress) -> [DeviceRequest] { worker.requests.requests(of: [device]) }

    func learn(_ device: IPAddress, until: Instant) { worker.requests.learn(device, until: until) }

    func learned(_ device: IPAddress) -> [String] { worker.requests.lessons(of: [device]).flatMap(\.names) }

    func checkNotes(of nonce: String, at now: Instant) -> [CheckNote] { worker.seenChecks.notes(of: nonce, at: now) }

    /// Tells a flow of datagrams what the network would.
    func fail(_ key: FlowKey, _ reason: ErrorNumber) {
        guard let handle = worker.datagrams.find(key) else { return }
        worker.datagramFailed(handle, reason)
    }

    /// Answers the question for a name's addresses.
    func resolve(_ name: String, _ addresses: [IPAddress]) { worker.datagramsResolved(name, addresses) }

    /// What the worker still holds, in words; empty when everything was given back.
    var leftovers: String {
        let held = [
            ("flows", worker.flows.count), ("dials", worker.dials.count), ("sessions", worker.sessions.count),
            ("forwards", worker.forwards.count), ("sniffs", worker.sniffs.count),
            ("checks", worker.checks.count),
            ("datagram flows", worker.datagrams.count), ("keys", worker.table.count),
            ("half-open", worker.halfOpen.count),
            ("timers", worker.timers.count), ("chunks", worker.pool.used),
        ]
        return held.filter { $0.1 != 0 }.map { "\($0.1) \($0.0)" }.joined(separator: ", ")
    }
}
