/// Reading what the kernel, its files and the system's tools say; nothing here judges, and nothing changes anything.

import Addresses
import Bytes
import LinuxIO
import Network

extension Sight {
    /// Reads everything but what the daemon and other machines say.
    ///
    /// Our own routes are compared with the daemon's plan alone (`isDaemons`): what a configuration makes of it is
    /// enough for everything else, but knows no devices. `firewall` is what the daemon says of our table.
    public mutating func readMachine(isDaemons: Bool, firewall: String?) {
        tools = .read(isRoot: tools.isRoot, own: tools.own)
        kernel = .read(isRoot: tools.isRoot)
        if !tools.isRoot {
            unseen.append(.init(.kernel, "what the kernel can do is tried out by root alone"))
        }
        service.show = Self.service()
        readNetwork(isDaemons: isDaemons, firewall: firewall)
        readLimits()
        readDisk()
        clock.now = Clock.unixTime().seconds
        clock.isSynchronised = Clock.isSynchronised
        managers.read()
    }

    private static func service() -> String? {
        let properties = "LoadState,ActiveState,Result,NRestarts,ExecMainStatus,UnitFileState"
        return output("systemctl", ["show", "starshipd.service", "--property=\(properties)"])
    }

    /// What a program prints, nil where it is not there or fails.
    static func output(_ program: String, _ arguments: [String]) -> String? {
        guard let outcome = try? Tool.run(program, arguments, input: "", within: .seconds(5)), outcome.status == 0
        else {
            return nil
        }
        return outcome.output
    }

    static func text(of path: String) -> String? {
        (try? SmallFile.read(path, limit: 1 << 20)).map { String(decoding: $0, as: UTF8.self) }
    }

    static func line(of path: String) -> String? {
        text(of: path)?.split(separator: "\n").first.map(String.init)
    }

    // MARK: Network

    private mutating func readNetwork(isDaemons: Bool, firewall: String?) {
        do throws(SystemCallError) {
            machine = try KernelNetwork.read()
        } catch {
            unseen.append(.init(.routes, "\(error)"))
            return
        }
        guard let machine, let plan, plan.setup != .none else { return }
        if isDaemons {
            let saved = Self.text(of: NetworkNames.statePath) ?? ""
            examination = NetworkExamination(
                plan, on: machine, wanted: firewall, listing: NetworkExamination.ownTable(), saved: saved,
                setting: Sysctl.value)
        } else {
            unseen.append(.init(.rules, "what our routes and rules should be, a running daemon alone says"))
        }
        tunnels = Self.tunnels(machine, besides: plan.tunnel)
        guard plan.setup == .gateway else { return }
        let lan = plan.lan.map(\.interface)
        switch NetworkExamination.ruleset() {
        case .text(let rules):
            let ports = [plan.dnsPort, plan.pagePort].compactMap(\.self)
            foreign = NetworkExamination.foreignChains(rules, lan: lan, ports: ports)
        case .none: foreign = ([], [])
        case .unreadable(let reason):
            unseen.append(.init(.foreignFirewall, "other people's firewalls are for root to see: \(reason)"))
        }
        for interface in lan { pings += Self.pings(on: interface, machine) }
    }

    private static func tunnels(_ machine: KernelNetwork, besides own: String) -> [OtherTunnel] {
        machine.links.filter { $0.name != own }.compactMap { link in
            let place = "/sys/class/net/\(link.name)"
            // Only TUN and TAP devices have flags of their own there.
            if text(of: "\(place)/tun_flags") != nil { return OtherTunnel(link.name, .tun) }
            let isWireGuard = text(of: "\(place)/uevent")?.contains("DEVTYPE=wireguard") ?? false
            return isWireGuard ? OtherTunnel(link.name, .wireguard) : nil
        }
    }

    /// The most devices of a LAN that are asked; each takes a second where it is silent.
    private static let mostPings = 2

    private static func pings(on interface: String, _ machine: KernelNetwork) -> [Ping] {
        guard let link = machine.links.first(where: { $0.name == interface && $0.isUp }) else { return [] }
        let near = machine.neighbours.filter { $0.interface == interface && $0.address.isIPv4 }
        return near.prefix(mostPings).map { device in
            let address = "\(device.address)"
            // An IPv4 header without options and the head of an echo request: 28 octets.
            let small = answers(address, on: interface, octets: 56)
            let large = small && answers(address, on: interface, octets: link.mtu - 28)
            return Ping(interface, address, mtu: link.mtu, small: small, large: large)
        }
    }

    private static func answers(_ address: String, on interface: String, octets: Int) -> Bool {
        output("ping", ["-n", "-c", "1", "-W", "1", "-M", "do", "-s", "\(octets)", "-I", interface, address]) != nil
    }

    // MARK: Limits and disk

    private mutating func readLimits() {
        limits.memory = Self.text(of: "/proc/meminfo")
        guard case .running(let running) = daemon, let process = running.process else { return }
        limits.process = Self.text(of: "/proc/\(process)/limits")
        if limits.process == nil { unseen.append(.init(.descriptors, "/proc/\(process)/limits can't be read")) }
        limits.group = Self.groupLimit(of: process)
    }

    /// The least memory.max on the way up from a process's control group (cgroups(7), version 2).
    private static func groupLimit(of process: Int) -> Int? {
        guard let line = line(of: "/proc/\(process)/cgroup"), line.hasPrefix("0::/") else { return nil }
        var path = line.dropFirst(3)
        var least: Int?
        while path.count > 1 {
            if let limit = Self.line(of: "/sys/fs/cgroup\(path)/memory.max").flatMap({ Int($0) }) {
                least = min(least ?? limit, limit)
            }
            path = path[..<(path.lastIndex(of: "/") ?? path.startIndex)]
        }
        return least
    }

    private mutating func readDisk() {
        guard let folder = setup.state else { return }
        do throws(SystemCallError) {
            disk = Disk(
                folder: folder, space: try FileSystemSpace(of: folder), isWritable: FileSystemSpace.mayWrite(in: folder)
            )
            let captures = "\(folder)/captures"
            if let names = try? Folder(captures).names() {
                disk?.captures = names.filter { $0 != "." && $0 != ".." }.sorted().map { "\(captures)/\($0)" }
            }
        } catch {
            // Before its first start there is none.
            if error.errno != .noSuchFile { unseen.append(.init(.disk, "\(error)")) }
        }
    }
}

extension Sight.Kernel {
    static func read(isRoot: Bool) -> Sight.Kernel {
        var kernel = Sight.Kernel()
        kernel.release = Sysctl.value(of: "kernel/osrelease") ?? ""
        kernel.deviceFailure = deviceFailure()
        kernel.hasSeccomp = Sysctl.exists("kernel/seccomp/actions_avail")
        if isRoot, kernel.deviceFailure == nil { kernel.trial = KernelTrial.run() }
        let place = "net/netfilter/nf_conntrack"
        if let count = Sysctl.value(of: "\(place)_count").flatMap({ Int($0) }),
            let limit = Sysctl.value(of: "\(place)_max").flatMap({ Int($0) })
        {
            kernel.conntrack = (count, limit)
        }
        return kernel
    }

    /// Opens the device and lets it go: nothing is made by that.
    private static func deviceFailure() -> String? {
        do throws(FileError) {
            _ = try SmallFile.read("/dev/net/tun", limit: 0)
            return nil
        } catch {
            // It is no regular file, and was opened when that is found out.
            if case .notRegular = error { return nil }
            return "\(error)"
        }
    }
}

extension Sight.Tools {
    static func read(isRoot: Bool, own: String) -> Sight.Tools {
        var tools = Sight.Tools()
        tools.isRoot = isRoot
        tools.own = own
        tools.ip = Sight.output("ip", ["-V"])?.split(separator: "\n").first.map(String.init)
        tools.nft = Sight.output("nft", ["--version"])?.split(separator: "\n").first.map(String.init)
        return tools
    }
}

extension Sight.Managers {
    mutating func read() {
        func runs(_ unit: String) -> Bool { Sight.output("systemctl", ["is-active", "--quiet", unit]) != nil }
        if runs("NetworkManager.service") {
            networkManager = Sight.output("nmcli", ["-t", "-f", "DEVICE,STATE", "device"]) ?? ""
        }
        if runs("systemd-networkd.service") { networkd = Self.networkdConfiguration() }
        resolvConf = Sight.text(of: "/etc/resolv.conf")
        uplinkServers = Sight.text(of: "/run/systemd/resolve/resolv.conf")
    }

    /// The main file, then the drop-ins by their names, wherever they are; the last word counts (networkd.conf(5)).
    private static func networkdConfiguration() -> String {
        let places = ["/usr/lib/systemd", "/run/systemd", "/etc/systemd"]
        var dropIns: [String: String] = [:]
        for place in places {
            let folder = "\(place)/networkd.conf.d"
            for name in (try? Folder(folder).names()) ?? [] where name.hasSuffix(".conf") {
                dropIns[name] = Sight.text(of: "\(folder)/\(name)")
            }
        }
        let main = places.compactMap { Sight.text(of: "\($0)/networkd.conf") }.last ?? ""
        return ([main] + dropIns.sorted { $0.key < $1.key }.map(\.value)).joined(separator: "\n")
    }
}
