/// # The gateway: everything put together
///
/// A gateway opens what it needs, starts its workers and then only listens to signals: SIGINT and SIGTERM end
/// it, SIGUSR1 prints a snapshot. What fails, fails before the first worker starts, and leaves the machine as
/// it was.
///
///     Bytes ─ Wire ─ Flows ─ Streams ─ Relay ─ Upstreams     values, and their states
///     Worker (DataPath: open, up, down)                      one thread that owns its flows
///     Gateway                                                devices, listeners, threads, signals

import Addresses
import Bytes
public import Capture
public import LinuxIO
public import Upstreams

/// Why a gateway did not start.
public enum GatewayError: Error, CustomStringConvertible {
    case system(SystemCallError)
    case capture(CaptureError)
    case upstream(UpstreamSettingsError)

    public var description: String {
        switch self {
        case .system(let error): "\(error)"
        case .capture(let error): "\(error)"
        case .upstream(let error): "\(error)"
        }
    }
}

/// A running gateway.
public struct Gateway: ~Copyable {
    private let settings: GatewaySettings
    private let shared: Shared
    private let control: WakeUp
    private let signals: Signals
    private var poller: Poller
    private let crew: [WorkerThreadBox]

    /// The TUN device's name as the kernel chose it; nil without a device.
    public let tunnelName: String?
    /// What the kernel refused of the TUN device; the gateway works without it.
    public let refusals: TunnelRefusals

    /// Opens the TUN device and the listeners, then starts the workers.
    public static func start(
        _ settings: GatewaySettings, capture: CaptureSettings? = nil
    ) throws(GatewayError) -> Gateway {
        let tap = try openTap(capture)
        let policy = try policy(settings.routing)
        do throws(SystemCallError) {
            return try start(settings, policy, tap: tap)
        } catch {
            throw .system(error)
        }
    }

    private static func start(
        _ settings: GatewaySettings, _ policy: Policy, tap: CaptureTap?
    ) throws(SystemCallError) -> Gateway {
        let signals = try Signals()
        let control = try WakeUp()
        let poller = try Poller()
        try poller.add(signals.descriptor.number, token: 0, events: .readable)
        try poller.add(control.descriptor.number, token: 1, events: .readable)

        var device: TunnelDevice?
        if let tunnel = settings.tunnel {
            device = try TunnelDevice.open(name: tunnel.name, queues: settings.workers, offload: tunnel.offload)
        }
        let listeners = try settings.listeners.map { listener throws(SystemCallError) in
            Listener(listener, try Socket.listen(on: listener.address, mark: settings.routing.direct.mark))
        }
        let workers = device?.queueCount ?? settings.workers
        let mailboxes = try (0..<workers).map { _ throws(SystemCallError) in try Mailbox() }
        let shared = Shared(
            policy: policy, listeners: listeners, mailboxes: mailboxes, control: control, tap: tap)
        let name = device?.name
        let refusals = device?.refusals ?? []
        let crew = try hire(settings, shared, &device)
        return Gateway(
            settings: settings, shared: shared, control: control, signals: signals, poller: poller, crew: crew,
            tunnelName: name, refusals: refusals)
    }

    /// Starts a thread for each worker.
    private static func hire(
        _ settings: GatewaySettings, _ shared: Shared, _ device: inout TunnelDevice?
    ) throws(SystemCallError) -> [WorkerThreadBox] {
        var crew: [WorkerThreadBox] = []
        do throws(SystemCallError) {
            for index in shared.mailboxes.indices {
                crew.append(try hire(index, settings, shared, device?.takeQueue()))
            }
        } catch {
            // Those who run already end again.
            for mailbox in shared.mailboxes { mailbox.send(.stop) }
            for thread in crew { thread.join() }
            throw error
        }
        return crew
    }

    private static func hire(
        _ index: Int, _ settings: GatewaySettings, _ shared: Shared, _ queue: consuming TunnelQueue?
    ) throws(SystemCallError) -> WorkerThreadBox {
        let seed = WorkerSeed(
            index: index, settings: settings, shared: shared, queue: queue, poller: try Poller(),
            resolver: try NameResolver(wakeUp: shared.mailboxes[index].bell))
        try seed.watch()
        let thread = try WorkerThread.start(name: "worker-\(index)", owning: seed) { seed in
            var worker = Worker(seed)
            worker.run()
        }
        return WorkerThreadBox(thread)
    }

    private static func openTap(_ settings: CaptureSettings?) throws(GatewayError) -> CaptureTap? {
        guard let settings else { return nil }
        do throws(CaptureError) {
            return CaptureTap(try CaptureWriter(settings))
        } catch {
            throw .capture(error)
        }
    }

    private static func policy(
        _ settings: RoutingSettings, after previous: Policy? = nil
    ) throws(GatewayError) -> Policy {
        do throws(UpstreamSettingsError) {
            return try Policy(settings, after: previous)
        } catch {
            throw .upstream(error)
        }
    }

    /// Says that the gateway stands, what it does without, and where it listens.
    public func announce() {
        var line = LogLine(.notice, event: "ready", journal: settings.isJournal)
        line.add("profile", shared.policy.activeID)
        if let tunnelName { line.add("tun", tunnelName) }
        line.add("workers", shared.mailboxes.count)
        for listener in shared.listeners {
            line.add(listener.settings.kind.name, listener.settings.address.description)
        }
        if !refusals.isEmpty { line.add("without", refusals.words) }
        line.finish()
        StandardError.write(String(decoding: line.bytes, as: UTF8.self))
    }

    /// Serves until a signal ends it or a worker cannot go on; returns whether the end was a wanted one.
    public mutating func run() -> Bool {
        var events = [PolledEvent](repeating: .none, count: 4)
        while !shared.isFailed {
            _ = poller.wait(into: &events, until: nil)
            control.clear()
            while let signal = signals.next() {
                switch signal {
                case .interrupt, .terminate:
                    stop()
                    return !shared.isFailed
                case .user1: printSnapshot()
                case .hangUp: break
                }
            }
        }
        stop()
        return false
    }

    /// Ends every flow and waits for the workers.
    private mutating func stop() {
        for mailbox in shared.mailboxes { mailbox.send(.stop) }
        for thread in crew { thread.join() }
        shared.tap?.flush()
    }

    /// Asks every worker for a report and prints them together; a worker that does not answer within a second
    /// is left out.
    private mutating func printSnapshot() {
        let box = ReportBox(waking: control)
        for mailbox in shared.mailboxes { mailbox.send(.report(box)) }
        let deadline = Clock.now() + .seconds(1)
        var events = [PolledEvent](repeating: .none, count: 1)
        // Signals that come meanwhile have to wait, and must not wake this loop.
        poller.remove(signals.descriptor.number)
        defer { try? poller.add(signals.descriptor.number, token: 0, events: .readable) }
        while box.content.count < shared.mailboxes.count, Clock.now() < deadline {
            _ = poller.wait(into: &events, until: deadline)
            control.clear()
        }
        let line = Snapshot.json(
            box.content, profile: shared.policy.activeID,
            learned: Snapshot.Learned(
                usesAbsoluteForm: shared.policy.active.usesAbsoluteForm,
                rejectsCredentials: shared.policy.active.credentialsAreLockedOut(at: Clock.now())),
            descriptors: DescriptorLimit.used(),
            residentKiB: ProcessMemory.resident() >> 10)
        StandardError.write(line + "\n")
    }
}

extension GatewaySettings.Listener.Kind {
    var name: String {
        switch self {
        case .socks: "socks"
        case .http: "http"
        }
    }
}

extension TunnelRefusals {
    /// What is missing, for the log.
    fileprivate var words: String {
        let names: [(TunnelRefusals, String)] = [
            (.virtioHeader, "virtio header"), (.checksum, "checksum offload"), (.segmentation, "segmentation offload"),
            (.segmentationUDP, "UDP segmentation offload"), (.multiQueue, "several queues"),
        ]
        return names.filter { contains($0.0) }.map(\.1).joined(separator: ", ")
    }
}
