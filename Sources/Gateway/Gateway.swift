/// # The gateway: everything put together
///
/// A gateway opens what it needs, starts its workers and then only listens to signals: SIGINT and SIGTERM end it,
/// SIGUSR1 prints a snapshot. What fails, fails before the first worker starts, and leaves the machine as it was.
///
///     Wire ─ Flows ─ Streams ─ Relay ─ Upstreams        values and their states
///                       │
///     TUN ─▶ Worker (DataPath: open, up, down) ─▶ sockets
///                       │
///     Gateway: listeners, threads, signals

public import LinuxIO
import Synchronization
import Upstreams

/// Why a gateway did not start.
public enum GatewayError: Error, CustomStringConvertible {
    case system(SystemCallError)
    /// The TUN device could not be opened; the text says what to do about it.
    case tunnel(SystemCallError, advice: String)
    case upstream(UpstreamSettingsError)

    public var description: String {
        switch self {
        case .system(let error): "\(error)"
        case .tunnel(let error, let advice): "\(error): \(advice)"
        case .upstream(let error): "\(error)"
        }
    }
}

public struct Gateway: ~Copyable {
    private let settings: GatewaySettings
    private let shared: Shared
    private let control: WakeUp
    private var signals: Signals
    private var poller: Poller
    private var threads: [ThreadBox] = []

    /// Opens listeners and the TUN device and starts the workers.
    public init(_ settings: GatewaySettings, capture: TunnelTap? = nil) throws(GatewayError) {
        do throws(SystemCallError) {
            let signals = try Signals()
            let control = try WakeUp()
            let poller = try Poller()
            try poller.add(signals.descriptor.number, token: 0, events: .readable)
            try poller.add(control.descriptor.number, token: 1, events: .readable)
            self.signals = signals
            self.control = control
            self.poller = poller
        } catch {
            throw .system(error)
        }
        self.settings = settings
        self.shared = try Self.share(settings, control: control)
        try start(capture)
    }
}
