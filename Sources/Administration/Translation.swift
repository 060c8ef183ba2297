/// From the configuration's words to the gateway's: the files of secrets are read here, and nowhere else.

import Addresses
import Bytes
import Gateway
import LinuxIO
import Profiles
import Relay
import Routing
import Streams
import Upstreams
import Wire

/// From a configuration's words to the gateway's.
enum Translation {
    static func upstream(_ override: CommandLineOptions.UpstreamOverride) throws(StartupError)
        -> Profiles.Upstream
    {
        switch override {
        case .url(let url): return url.upstream
        case .file(let path):
            let bytes = try readSecret(path)
            do throws(ProxyURLError) {
                return try ProxyURL.parse(file: bytes.span).upstream
            } catch {
                throw .url(path, error)
            }
        }
    }

    static func readSecret(_ path: String) throws(StartupError) -> [UInt8] { try SecretPlaces.read(path) }

    private static func password(_ source: CredentialSource.Password) throws(StartupError) -> String {
        switch source {
        case .given(let secret): return secret.revealed
        case .file(let path):
            let bytes = try readSecret(path)
            do throws(SecretError) {
                return try Secret.parse(file: bytes.span).revealed
            } catch {
                throw .secret(path, error)
            }
        }
    }

    static func settings(
        _ resolved: ResolvedConfiguration, path: String
    ) throws(StartupError) -> GatewaySettings {
        let configuration = resolved.configuration
        let limits = configuration.limits
        var settings = GatewaySettings(routing: try routing(resolved, path: path))
        // With a worker on each processor a flow's first byte waits for those who carry it on: 1.02 of redsocks' time
        // instead of 0.89 on two processors.
        if let tunnel = configuration.tunnel {
            settings.workers = tunnel.workers ?? min(max(1, Processors.count() / 2), 4)
        }
        settings.tunnel = configuration.tunnel.map {
            GatewaySettings.Tunnel(name: $0.name, offload: $0.offload == .full ? .full : .none)
        }
        settings.listeners = try listeners(configuration)
        settings.flows = limits.flows
        settings.flowsPerDevice = limits.flowsPerDevice
        settings.halfOpen = limits.halfOpen
        settings.halfOpenPerDevice = limits.halfOpenPerDevice
        settings.bufferMemory = limits.bufferBudget(memory: ProcessMemory.available())
        settings.icmpPerSecond = limits.icmpErrors
        settings.tcp.interfaceMTU = configuration.tunnel?.mtu ?? 1500
        settings.tcp.receiveAllowance = limits.flowBuffer
        settings.tcp.sendAllowance = limits.flowBuffer
        settings.tcp.retrySYNAcknowledgement(after: limits.synAck)
        settings.tcp.keepaliveIdle = limits.keepaliveClient
        settings.tcp.timeWait = limits.timeWait
        settings.relay = RelayLimits(halfClose: limits.halfClose, idle: limits.idle)
        settings.upstreamKeepalive = limits.keepaliveUpstream
        settings.logLevel = level(configuration.log.level)
        settings.flowLog = flowLog(configuration.log.flows)
        settings.isJournal =
            configuration.log.format == .auto ? StandardError.isJournal : configuration.log.format == .journal
        settings.names = names(configuration, isJournal: settings.isJournal, level: settings.logLevel)
        settings.network = network(configuration)
        settings.datagrams = datagrams(configuration)
        settings.sniff.octets = limits.sniffBytes
        settings.sniff.time = limits.sniffTime
        return settings
    }

    private static func datagrams(_ configuration: Configuration) -> DatagramSettings {
        var settings = DatagramSettings()
        settings.directPorts = []
        if configuration.phones.ntp { settings.directPorts.insert(123) }
        if configuration.phones.ike { settings.directPorts.formUnion([500, 4500]) }
        settings.service = configuration.dns.mode == .off ? nil : ownQuestions
        settings.flowsPerDevice = configuration.limits.udpFlows
        settings.flows = configuration.limits.udpFlowsInAll
        settings.idle = configuration.limits.udpIdle
        settings.fragmentMemory = configuration.limits.fragments
        settings.fragmentTime = configuration.limits.fragmentTime
        settings.serviceIdle = configuration.limits.dnsIdle
        settings.broadcasts = [configuration.dns.pool.broadcast].compactMap(\.self)
        return settings
    }

    static func upstreamSettings(
        _ upstream: Profiles.Upstream, _ configuration: Configuration
    ) throws(StartupError) -> UpstreamSettings {
        var settings = UpstreamSettings(kind(of: upstream))
        if let credentials = upstream.credentials {
            settings.user = credentials.user
            settings.password = try password(credentials.password)
        }
        settings.authentication = upstream.authentication == .challenge ? .challenge : .preemptive
        settings.identify = upstream.identify
        switch upstream.plainHTTP {
        case .auto: settings.plainHTTP = .auto
        case .connect: settings.plainHTTP = .connect
        case .absolute: settings.plainHTTP = .absolute
        }
        settings.halfClose = upstream.halfClose == .hold ? .hold : .pass
        settings.connectTimeout = configuration.limits.dial
        settings.overallTimeout = configuration.limits.connect
        settings.attemptDelay = configuration.limits.attemptDelay
        settings.credentialRest = configuration.limits.credentialRetry
        if configuration.tunnel != nil, Socket.mayMark() { settings.mark = configuration.network.mark.value }
        return settings
    }

    private static func kind(of upstream: Profiles.Upstream) -> UpstreamSettings.Kind {
        guard let server = upstream.server else { return .direct }
        let target = Target(host: Wire.Host(server.host), port: server.port)
        switch upstream.type {
        case .http: return .http(server: target)
        case .socks5: return .socks5(server: target)
        // Neither has a server of its own.
        case .direct, .group: return .direct
        }
    }

    private static func listeners(_ configuration: Configuration) throws(StartupError) -> [GatewaySettings.Listener] {
        var listeners: [GatewaySettings.Listener] = []
        for (options, isSOCKS) in [(configuration.socks, true), (configuration.http, false)] {
            guard let options else { continue }
            var logins: [(user: String, password: String)] = []
            for user in options.users { logins.append((user.name, try password(.file(user.passwordFile)))) }
            let kind: GatewaySettings.Listener.Kind =
                isSOCKS
                ? .socks(logins.map { SOCKS5Login(user: Array($0.user.utf8), password: Array($0.password.utf8)) })
                : .http(logins.compactMap { BasicCredentials(user: $0.user, password: $0.password) })
            for address in options.listen {
                listeners.append(
                    GatewaySettings.Listener(
                        kind: kind, address: address, allow: options.allow,
                        outbound: options.outbound == .direct ? .direct : .active))
            }
        }
        return listeners
    }

    private static func level(_ level: LogOptions.Level) -> LogLevel {
        switch level {
        case .error: .error
        case .warning: .warning
        case .notice: .notice
        case .info: .info
        case .debug: .debug
        }
    }

    private static func flowLog(_ flows: LogOptions.Flows) -> GatewaySettings.FlowLog {
        switch flows {
        case .all: .all
        case .failed: .failed
        case .none: .none
        }
    }
}

extension Wire.Host {
    /// A host of the configuration.
    init(_ host: Profiles.Upstream.Host) {
        switch host {
        case .address(let address): self = .address(address)
        case .name(let name): self = .name(name)
        }
    }
}
