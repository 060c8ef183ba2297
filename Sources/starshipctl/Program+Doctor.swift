/// `doctor`: asks the daemon, the machine and the machines around, and shows what `Doctor` makes of it.

import Addresses
import Bytes
import Commands
import Control
import Doctor
import LinuxIO
import Network
import Profiles

extension Program {
    func doctor(_ order: DoctorOrder) -> Int32 {
        let diagnosis = Diagnosis(of: examine(order).sight)
        let sheet = Self.sheet(diagnosis)
        let rendered = sheet.rendered(style)
        print(invocation.isJSON ? sheet.json.text + "\n" : rendered.text)
        return rendered.exitCode
    }

    static func sheet(_ diagnosis: Diagnosis) -> DoctorSheet {
        DoctorSheet(
            diagnosis.findings.map { finding in
                DoctorSheet.Row(
                    finding.check.rawValue, mark(finding.grade), finding.words, meaning: finding.meaning,
                    mending: finding.mending, advice: finding.advice)
            })
    }

    private static func mark(_ grade: Finding.Grade) -> DoctorSheet.Mark {
        switch grade {
        case .ok: .ok
        case .notice: .notice
        case .wrong: .wrong
        case .unseen: .unseen
        }
    }

    /// Everything that was seen, and the configuration that it was seen by.
    struct Examination {
        var sight: Sight
        var configuration: Configuration?
        /// What the daemon answered to each question, for a report.
        var answers: [(title: String, body: [UInt8])] = []
        /// The client that reached it, with the socket of the configuration where none was named.
        var client: ControlClient
    }

    func examine(_ order: DoctorOrder) -> Examination {
        let file = ConfigurationLook(order.configuration)
        var client = client
        // Whoever names a file means the daemon of that file.
        if invocation.socket == nil, Terminal.variable(Invocation.socketVariable) == nil,
            let socket = file.configuration?.control?.socket
        {
            client = ControlClient(socket: socket)
        }
        let look = DaemonLook(client)
        // What runs counts, not what a file says that may have changed since.
        let configuration = look.configuration ?? file.configuration
        var setup =
            configuration.map { Sight.Setup($0, file: look.file ?? order.configuration) }
            ?? Sight.Setup(file: look.file ?? order.configuration)
        let own = look.file.map { $0 == order.configuration ? file : ConfigurationLook($0) } ?? file
        setup.failure = own.failure
        setup.isUnreadable = own.isUnreadable
        setup.isMissing = own.isMissing
        setup.socket = client.socket
        setup.mark(used: look.profilesInUse)

        var sight = Sight(setup)
        sight.tools.isRoot = UserName.own == 0
        sight.tools.own = ProgramVersion.text
        sight.daemon = look.state
        sight.plan = look.plan ?? configuration.map(NetworkPlan.init)
        sight.managers.asksSystem = configuration?.dns.resolvers.contains(.system) ?? false
        sight.readMachine(isDaemons: look.plan != nil, firewall: look.firewall)
        if let configuration { sight.ask(configuration, resolvers: look.resolvers) }
        return Examination(sight: sight, configuration: configuration, answers: look.answers, client: client)
    }
}

/// The configuration's file: what it says, or why it says nothing.
struct ConfigurationLook {
    var configuration: Configuration?
    var failure: String?
    var isUnreadable = false
    var isMissing = false
    var bytes: [UInt8] = []

    init(_ path: String) {
        do throws(FileError) {
            bytes = try SmallFile.read(path, limit: 4 << 20)
        } catch {
            failure = "\(error)"
            if case .system(let reason) = error {
                isUnreadable = reason.errno == .accessDenied
                isMissing = reason.errno == .noSuchFile
            }
            return
        }
        do throws(ConfigurationError) {
            let read = try Configuration.parse(bytes)
            configuration = read
            // Lists beside it are read as the daemon reads them; one that is missing is the file's fault.
            var lists: [String: [UInt8]] = [:]
            for list in read.listFiles {
                lists[list] = try? SmallFile.read(Self.path(of: list, besides: path), limit: 256 << 20)
            }
            _ = try read.resolve(files: lists, name: path)
        } catch {
            failure = "\(path): \(error)"
        }
    }

    /// A relative path starts at the configuration's directory.
    static func path(of file: String, besides configuration: String) -> String {
        guard !file.hasPrefix("/"), let slash = configuration.lastIndex(of: "/") else { return file }
        return configuration[...slash] + file
    }
}

extension Sight.Setup {
    init(_ configuration: Configuration, file: String) {
        self.init(file: file)
        switch configuration.network.setup {
        case .none: network = .none
        case .gateway: network = .gateway
        case .host: network = .host
        }
        lan = configuration.network.lan.map(\.interface)
        hasTunnel = configuration.tunnel != nil
        tunnel = configuration.tunnel?.name ?? tunnel
        mtu = configuration.tunnel?.mtu ?? mtu
        workers = configuration.tunnel?.workers ?? 1
        hasNames = configuration.dns.mode != .off
        state = configuration.state
        flows = configuration.limits.flows
        buffers = configuration.limits.bufferBudget(memory: ProcessMemory.ofMachine())
        trustsClock = configuration.clock == .trust
        proxies = configuration.profiles.compactMap { profile in
            guard let server = profile.upstream.server else { return nil }
            var proxy = Proxy(profile: profile.id, server: "\(server)")
            proxy.isSOCKS = profile.upstream.type == .socks5
            proxy.hasCredentials = profile.upstream.credentials != nil
            return proxy
        }
        mark(used: [configuration.active] + configuration.network.lan.compactMap(\.profile))
    }

    /// Says which proxies devices depend on.
    mutating func mark(used profiles: [String]) {
        guard !profiles.isEmpty else { return }
        for index in proxies.indices { proxies[index].isUsed = profiles.contains(proxies[index].profile) }
    }
}

extension NetworkPlan {
    /// What the configuration alone says: enough for what has nothing to do with our own routes.
    init(_ configuration: Configuration) {
        let network = configuration.network
        let pools = configuration.dns.mode == .fake ? [configuration.dns.pool, configuration.dns.pool6] : []
        let setup: Setup =
            switch network.setup {
            case .none: .none
            case .gateway: .gateway
            case .host: .host
            }
        self.init(
            setup: setup, tunnel: configuration.tunnel?.name ?? "starship0", mtu: configuration.tunnel?.mtu ?? 1500,
            mark: Mark(value: network.mark.value, mask: network.mark.mask), fake: pools,
            lan: network.lan.map { LAN($0.interface, .names) })
        dnsPort = configuration.dns.mode == .off ? nil : configuration.dns.listen.first?.port ?? DNSOptions.port
        pagePort = configuration.page?.port
        uplinks = network.uplink.map { [$0] } ?? []
        ipv6 = configuration.ipv6
    }
}
