/// # Administration: from what people say to what the gateway does
///
/// The administrator stands between requests and the gateway. It knows the file, the lab's state and the devices; each
/// change goes the same way, whole or not at all:
///
///     request ──▶ new LabState ──▶ Plan (validated whole) ──▶ Revision on the disk ──▶ Gateway.switchTo ──▶ counts
///
/// Where the disk or the kernel refuses, what was running goes on, and the store says what is running.

import Addresses
import Bytes
public import Capture
import Control
import Devices
public import Gateway
import Health
public import LinuxIO
import Network
import Page
public import Profiles
import Routing
import Store

public struct Administrator {
    /// Where the program is told what to do.
    let options: CommandLineOptions
    let version: String
    let startedAt = Clock.unixTime()
    let startedSinceBoot = Clock.sinceBoot()
    var calendar = CalendarWatch()
    /// The configuration that the gateway was started with: parts of it stay until the next start.
    let running: Configuration
    var plan: Plan { didSet { secrets.lookSoon() } }
    /// Files with passwords and keys, which count again when they change.
    var secrets = SecretWatch()
    let store: LabStore
    var devices = DeviceTable()
    /// Asks the kernel for one neighbour, whose news may not have been read.
    var askNeighbour: (IPAddress) -> KernelNeighbour? = { address in
        guard let question = try? NeighbourQuestion() else { return nil }
        return question.ask(address)
    }
    /// Those who sign links and pushes.
    var keys: KeyRing
    /// The state of the table that the gateway knows.
    var appliedGeneration: UInt64 = 0
    /// When the DHCP server's file is read again.
    var leasesDueAt = Instant(nanoseconds: 0)
    /// When assignments were last looked at, in seconds since 1970.
    var lookedAt: Int64 = 0
    /// What was found out about upstreams that a change has brought; nil without a descriptor for it.
    let trials = try? Trials()
    /// What the lab's other gateways have been told, and what was heard from them.
    var peers = PeerDesk()
    /// Who looks after upstreams; nil before the gateway runs, and without a descriptor for it.
    var desk: HealthDesk?
    var refusals = CertificateRefusals()
    /// Pushes whose effect on the colour is waited for, by the profile.
    var judged: [String: JudgedPush] = [:]
    var meter = TrafficMeter()
    /// Whether a form comes from a page of ours.
    let pageTokens = PageToken(key: Self.newKey())
    /// What the page for devices remembers.
    var page = PageDesk()
    /// What becomes of the page's listener with the next turn of the loop.
    var pageMove: PageMove?
    /// Laptops that offer the proxy that runs on them.
    var laptops = LaptopDesk()
    /// When the names of devices were collected.
    var lessons: [DeviceIdentity: LearnedTime] = [:]
    /// Who listens, as of the last turn of the loop.
    var eventMetrics = MetricsPage.Events()
    /// What the listeners of control API and page have to do, as of the same turn.
    var doors = Doors()
    /// Events and answers that leave with the next turn of the loop.
    var outbox: [ControlEvent] = []
    var deliveries: [(promise: UInt64, answer: ControlAnswer)] = []
    /// The promises that are kept when a probe ends, by its number, and the requests that they answer.
    var promises: [UInt64: [UInt64]] = [:]
    var waiting: [UInt64: ControlRequest] = [:]
    /// The path of the control socket that is listened at, and why there is none although there should be.
    var socket: String?
    var doorTrouble: String?
    /// What the service manager shows of us.
    var toldManager = ""
    /// Who runs the system's tools; nil where there is nothing for them to do.
    var companion: Companion?
    /// What became of the lock-down; nil before it.
    var lockdown: LockdownReport?
    /// The file of the capture that runs.
    var captureFile: String?

    /// Reads the configuration and the lab's state; nothing is opened but the store.
    public init(
        _ options: CommandLineOptions, version: String, companion: Companion? = nil
    ) throws(StartupError) {
        self.companion = companion
        self.options = options
        self.version = version
        let file = try ConfigurationFile.parse(options)
        store = try LabStore.open(in: file.state)
        plan = try Plan(reading: options, lab: store.state)
        running = plan.resolved.configuration
        keys = try KeyRing(running, besides: options.configuration, startedAt: startedAt.seconds)
        peers = PeerDesk(running.peers, telling: plan.lab.sharedItems, waiting: running.peerWait, since: Clock.now())
        nameDevices()
    }

    /// 32 octets that nobody knows.
    private static func newKey() -> [UInt8] {
        var random = SystemRandom()
        return (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &random) }
    }

    /// What a gateway is started with.
    public func settings() throws(StartupError) -> GatewaySettings {
        var settings = try Translation.settings(plan.resolved, path: options.configuration)
        settings.routing = plan.routing(deviceSettings())
        settings.network?.tools = SystemTools(companion)
        return settings
    }

    /// Which packets the options want to be written.
    public var capture: CaptureSettings? {
        options.capture.map {
            CaptureSettings(
                path: $0.file, filter: $0.filter, snapLength: $0.snap, fileSize: $0.size, fileCount: $0.files)
        }
    }
}
