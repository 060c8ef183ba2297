/// # The gateway: everything put together
///
/// A gateway opens what it needs, starts its threads, and from then on listens to signals and to the kernel's
/// network (`Gateway+Control`). What fails, fails before it is ready, and leaves the machine as it was.
///
///     Bytes ─ Wire ─ Flows ─ Streams ─ Relay ─ Upstreams     values, and their states
///     Names ─ Routing ── Policy                              what decides
///     Worker (DataPath: open, up, down)                      one thread that owns its flows
///     NameServer                                             the thread that answers DNS
///     Gateway, NetworkKeeper                                 devices, listeners, routes, signals

import Addresses
import Bytes
public import Capture
public import LinuxIO
import Names
public import Network
public import Upstreams
import Wire

/// Why a gateway did not start.
public enum GatewayError: Error, CustomStringConvertible {
    case system(SystemCallError)
    case capture(CaptureError)
    case upstream(UpstreamSettingsError)
    case network(NetworkError)

    public var description: String {
        switch self {
        case .system(let error): "\(error)"
        case .capture(let error): "\(error)"
        case .upstream(let error): "\(error)"
        case .network(let error): "\(error)"
        }
    }
}

/// A running gateway.
public struct Gateway: ~Copyable {
    let shared: Shared
    /// Who is told how the service goes; nil where nobody waits for that.
    public let manager: ServiceManager?
    var watchdog: Watchdog?
    let control: WakeUp
    /// Rung by workers when they have answered.
    let answers: WakeUp
    let signals: Signals
    var poller: Poller
    var keeper: NetworkKeeper?
    /// When the network is asked again whether it translates to IPv4.
    var translationDueAt = Instant(nanoseconds: 0)
    var watch: NameWatch
    var stalls = StallWatch()
    /// Images of self-checks that the page has served.
    var checkImages = CheckBook()
    private let crew: [WorkerThreadBox]

    /// The TUN device's name as the kernel chose it; nil without a device.
    public let tunnelName: String?
    /// What the kernel refused of the TUN device; the gateway works without it.
    public let refusals: TunnelRefusals

    /// Opens the TUN device and the listeners, starts the threads, and sets the machine's network up.
    public static func start(
        _ settings: GatewaySettings, capture: CaptureSettings? = nil, manager: ServiceManager? = nil
    ) throws(GatewayError) -> Gateway {
        let tap = try openTap(capture)
        let sight = NeighbourSight.kernel(settings.network?.lan.map(\.interface) ?? [])
        let board = PolicyBoard(try policy(refusingOwn(settings.routing), sight: sight))
        var gateway: Gateway
        do throws(SystemCallError) {
            gateway = try start(settings, board, tap: tap, manager)
        } catch {
            throw .system(error)
        }
        do throws(GatewayError) {
            try gateway.setUpNetwork()
        } catch {
            // Who throws there has taken everything back.
            gateway.keeper = nil
            gateway.stop()
            throw error
        }
        return gateway
    }

    private static func start(
        _ settings: GatewaySettings, _ board: PolicyBoard, tap: CaptureTap?, _ manager: ServiceManager?
    ) throws(SystemCallError) -> Gateway {
        let signals = try Signals()
        let control = try WakeUp()
        let answers = try WakeUp()
        let poller = try Poller()
        try poller.add(signals.descriptor.number, token: 0, events: .readable)
        try poller.add(control.descriptor.number, token: 1, events: .readable)

        var device: TunnelDevice?
        if let tunnel = settings.tunnel {
            device = try TunnelDevice.open(name: tunnel.name, queues: settings.workers, offload: tunnel.offload)
        }
        let listeners = try settings.listeners.map { listener throws(SystemCallError) in
            let mark = settings.routing.direct.mark
            return Listener(listener, try Socket.listen(on: listener.address, mark: mark, mayComeLater: true))
        }
        let workers = device?.queueCount ?? settings.workers
        let mailboxes = try (0..<workers).map { _ throws(SystemCallError) in try Mailbox() }
        let names = settings.names.map { nameTable($0, isJournal: settings.isJournal) }
        let dnsClients = DNSClients()
        let service = try settings.names.map { settings throws(SystemCallError) in
            try NameService(settings.server, directory(board, names, dnsClients))
        }
        let shared = Shared(
            settings, board: board, names: names, service: service, dnsClients: dnsClients, listeners: listeners,
            mailboxes: mailboxes, control: control, tap: tap)
        let name = device?.name
        let refusals = device?.refusals ?? []
        let crew: [WorkerThreadBox]
        do throws(SystemCallError) {
            crew = try hire(shared, &device)
        } catch {
            service?.stop()
            names?.stop()
            throw error
        }
        var watch = NameWatch(waking: control)
        watch.follow(settings.routing.watchedNames, now: Clock.now())
        return Gateway(
            shared: shared, manager: manager,
            watchdog: manager?.patience.map { Watchdog(patience: $0, now: Clock.now()) }, control: control,
            answers: answers, signals: signals, poller: poller, watch: watch,
            crew: crew, tunnelName: name, refusals: refusals)
    }

    /// Starts a thread for each worker.
    private static func hire(
        _ shared: Shared, _ device: inout TunnelDevice?
    ) throws(SystemCallError) -> [WorkerThreadBox] {
        var crew: [WorkerThreadBox] = []
        do throws(SystemCallError) {
            for index in shared.mailboxes.indices {
                crew.append(try hire(index, shared, device?.takeQueue()))
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
        _ index: Int, _ shared: Shared, _ queue: consuming TunnelQueue?
    ) throws(SystemCallError) -> WorkerThreadBox {
        let seed = WorkerSeed(
            index: index, shared: shared, queue: queue, poller: try Poller(),
            resolver: try NameResolver(wakeUp: shared.mailboxes[index].bell))
        try seed.watch()
        let thread = try WorkerThread.start(name: "worker-\(index)", owning: seed) { seed in
            var worker = Worker(seed)
            worker.run()
        }
        return WorkerThreadBox(thread)
    }

    private static func openTap(_ settings: CaptureSettings?) throws(GatewayError) -> CaptureTap {
        guard let settings else { return CaptureTap(nil) }
        do throws(CaptureError) {
            return CaptureTap(try CaptureWriter(settings))
        } catch {
            throw .capture(error)
        }
    }

    static func policy(
        _ settings: RoutingSettings, after previous: Policy? = nil, sight: NeighbourSight? = nil
    ) throws(GatewayError) -> Policy {
        do throws(UpstreamSettingsError) {
            return try Policy(settings, after: previous, sight: sight)
        } catch {
            throw .upstream(error)
        }
    }

    /// Ends everything in the reverse order of the start: routes first, so that nothing new comes.
    public mutating func stop() {
        takeDownNetwork()
        for mailbox in shared.mailboxes { mailbox.send(.stop) }
        for thread in crew { thread.join() }
        shared.service?.stop()
        shared.names?.stop()
        shared.tap?.flush()
    }
}

extension TunnelRefusals {
    /// What is missing, for the log.
    var words: String {
        let names: [(TunnelRefusals, String)] = [
            (.virtioHeader, "virtio header"), (.checksum, "checksum offload"), (.segmentation, "segmentation offload"),
            (.segmentationUDP, "UDP segmentation offload"), (.multiQueue, "several queues"),
        ]
        return names.filter { contains($0.0) }.map(\.1).joined(separator: ", ")
    }
}
