/// How `starshipd` ends, as a number for scripts and the service manager.
///
/// 64 to 78 are what sysexits(3) means by them; from 80 on they are our own. None is used twice, so the number alone
/// says what has to be done.

public enum ExitCode: Int32, CaseIterable, Sendable {
    /// Ended as told.
    case success = 0
    /// It ran, and could not go on: its device was removed.
    case failure = 1
    case serverAnswered = 3
    case usage = 64
    case noInput = 66
    case system = 71
    case configuration = 78
    case secret = 80
    case store = 81
    case phoneLists = 82
    case group = 83
    case noDevice = 84
    case notPermitted = 85
    case deviceTaken = 86
    case addressTaken = 87
    case addressRefused = 88
    case controlSocket = 89
    case capture = 90
    case toolMissing = 91
    case networkRefused = 92
    case poolInUse = 93
    case settingsRefused = 94

    /// What has happened, in a few words.
    public var meaning: String {
        switch self {
        case .success: "ended as told"
        case .failure: "ran and could not go on (its TUN device was removed)"
        case .serverAnswered: "a DHCP server has answered (dhcp-probe)"
        case .usage: "wrong arguments"
        case .noInput: "the configuration, or a file that it names, can't be read"
        case .system: "the kernel refuses what it never should (no descriptor, no memory)"
        case .configuration: "the configuration is wrong; nothing was changed"
        case .secret: "a file with a password or a key can't be used"
        case .store: "the lab's state is there and can't be used"
        case .phoneLists: "the lists for phones are missing"
        case .group: "control.group is no group of this machine"
        case .noDevice: "there is no /dev/net/tun"
        case .notPermitted: "CAP_NET_ADMIN is missing, or /dev/net/tun is forbidden"
        case .deviceTaken: "another program has the TUN device of this name"
        case .addressTaken: "another program listens at an address of the configuration"
        case .addressRefused: "an address can't be listened at (rights, or no such family)"
        case .controlSocket: "the control socket can't be made"
        case .capture: "the packets can't be written where they should be"
        case .toolMissing: "ip or nft is not installed"
        case .networkRefused: "the kernel refuses routes, rules or the firewall"
        case .poolInUse: "the fake addresses are somebody's real ones"
        case .settingsRefused: "the kernel's settings may not be written"
        }
    }

    /// Whether the same start can't succeed later by itself: people have to change something first.
    public var isFinal: Bool {
        switch self {
        case .usage, .noInput, .configuration, .secret, .store, .phoneLists, .group, .poolInUse: true
        default: false
        }
    }

    /// Whether it is the end of a start, before the gateway was ready.
    public var isOfStart: Bool { self != .success && self != .failure }

    /// One line for each, as `--help` and README show them.
    public static var table: String {
        allCases.map { code in
            let number = "\(code.rawValue)"
            return "  \(String(repeating: " ", count: 2 - number.count))\(number)  \(code.meaning)\n"
        }.joined()
    }
}
