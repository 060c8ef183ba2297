/// What the kernel's refusals mean for a start: which exit code, and what mends it.

import Gateway
import LinuxIO
import Network
import Profiles

struct StartupFailure: Equatable {
    let code: ExitCode
    let remedy: String

    private init(_ code: ExitCode, _ remedy: String) { (self.code, self.remedy) = (code, remedy) }

    init(_ error: GatewayError) {
        switch error {
        case .system(let error): self.init(error)
        case .capture:
            self.init(.capture, "--capture names a place that this user may write, --capture-filter a filter")
        case .upstream: self.init(.configuration, "correct user and password of the profile")
        case .network(let error): self.init(error)
        }
    }

    init(_ error: SystemCallError) {
        switch error.call {
        case "open" where error.subject == "/dev/net/tun": self = Self.device(error.errno)
        case let call where call.hasPrefix("ioctl TUN"): self = Self.tunnel(error)
        case "bind", "listen": self = Self.address(error.errno)
        case "setsockopt" where error.errno == .notPermitted: self.init(.notPermitted, Self.capability)
        case _ where error.errno.isDescriptorShortage:
            self.init(.system, "raise the limit of open files (LimitNOFILE=, ulimit -n)")
        default: self.init(.system, "free what the machine has run out of, and start again")
        }
    }

    private init(_ error: NetworkError) {
        switch error {
        case .system(let error) where error.call == "run" && error.errno == .noSuchFile:
            self.init(.toolMissing, "`sudo apt-get install iproute2 nftables`")
        case .system(let error) where error.subject?.hasPrefix("/proc/sys/") == true:
            self.init(.settingsRefused, "`sudo starshipd settings --config FILE` makes the kernel's settings")
        case .system(let error): self.init(error)
        case .command(_, _, _, let words) where words.contains("not permitted"):
            self.init(.notPermitted, Self.capability)
        case .command:
            self.init(.networkRefused, "`sudo starshipd cleanup` removes what a former run has left; see `dmesg` too")
        case .conflict: self.init(.poolInUse, "no restart helps before that")
        case .noTunnel: self.init(.networkRefused, "somebody has removed it: start again")
        case .interfaceName: self.init(.configuration, "correct network.lan, network.uplink or tun.name")
        case .savedState(let path, _): self.init(.networkRefused, "move it away: `sudo rm \(path)`")
        }
    }

    private static let capability =
        "it takes CAP_NET_ADMIN: start it by systemd or as root (tun: false and network.setup: \"none\" take no rights)"

    private static func device(_ reason: ErrorNumber) -> StartupFailure {
        switch reason {
        case .noSuchFile, .noSuchDevice, .noSuchDeviceOrAddress:
            StartupFailure(
                .noDevice,
                "`sudo modprobe tun` loads its driver; a container has to be given it (tun: false does without)")
        case .notPermitted, .accessDenied:
            StartupFailure(
                .notPermitted,
                "let this user open it: mode 0666, in a unit DeviceAllow=/dev/net/tun rw (tun: false does"
                    + " without)")
        default: StartupFailure(.system, "start again")
        }
    }

    private static func tunnel(_ error: SystemCallError) -> StartupFailure {
        switch error.errno {
        case .notPermitted, .accessDenied: StartupFailure(.notPermitted, capability)
        case .busy, .invalidArgument:
            StartupFailure(
                .deviceTaken,
                "another program has an interface of this name (`ip -d link`); tun.name chooses another one")
        default: StartupFailure(.system, "start again")
        }
    }

    private static func address(_ reason: ErrorNumber) -> StartupFailure {
        switch reason {
        case .addressInUse:
            StartupFailure(.addressTaken, "`sudo ss -lntup` shows who has it: end that, or configure another port")
        case .accessDenied:
            StartupFailure(.addressRefused, "ports below 1024 take CAP_NET_BIND_SERVICE: configure a higher one")
        default: StartupFailure(.addressRefused, "configure an address that this machine can have")
        }
    }
}
