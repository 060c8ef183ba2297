/// Whether this machine lets us make a lab. Where it does not, the tests in it are skipped and named, and with
/// CI=true that is a failure of `scripts/test`.

import Foundation

extension Lab {
    /// Why there can be no lab here, or nil.
    public static let obstacle: String? = {
        if geteuid() != 0 { return "network namespaces need root (scripts/test enters a user namespace by itself)" }
        if !FileManager.default.isWritableFile(atPath: "/dev/net/tun") { return "/dev/net/tun can't be opened" }
        do {
            let probe = try Lab()
            let ping = try probe.run(.device, ["ping", "-c", "1", "-W", "2", "198.51.100.10"])
            return ping.status == 0 ? nil : "packets don't cross the namespaces: \(ping.output)\(ping.errors)"
        } catch {
            return "\(error)"
        }
    }()

    public static let available = obstacle == nil

    /// Whether the run is one that must not leave tests out.
    public static let isRequired = ProcessInfo.processInfo.environment["CI"] == "true"

    /// Whether a program of the system is there, for the tests that need it.
    public static func has(_ program: String) -> Bool {
        ["/usr/sbin", "/usr/bin", "/sbin", "/bin"].contains {
            FileManager.default.isExecutableFile(atPath: "\($0)/\(program)")
        }
    }

    /// Whether programs may change to the system's own users here; without that, squid, tinyproxy and sshd
    /// cannot run (a user namespace with one id).
    public static let hasSystemUsers: Bool = {
        let map = (try? String(contentsOfFile: "/proc/self/uid_map", encoding: .utf8)) ?? ""
        return map.split(separator: "\n").count > 1 || map.contains("4294967295")
    }()

    /// Names a part of a test that is left out here, in the words that `scripts/test` looks for.
    ///
    /// One write, so that no line of another process gets into it.
    public static func leaveOut(_ what: String, because reason: String = "it is not possible on this machine") {
        FileHandle.standardError.write(Data("Test \"\(what)\" skipped: \"\(reason)\"\n".utf8))
    }

    /// Begins a reason that is nobody's mistake, in words that `scripts/test` looks for.
    ///
    /// All else that is left out fails a run with CI=true, but for what `LongRun` has.
    public static let kernelLacks = "this kernel lacks "
}
