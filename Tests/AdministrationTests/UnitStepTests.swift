/// What is done besides the daemon, and where secrets come from.

import Gateway
import LinuxIO
import Profiles
import Testing

@testable import Administration

struct UnitStepTests {
    /// $SERVICE_RESULT, $EXIT_CODE and $EXIT_STATUS as systemd.exec(5) has them.
    @Test(
        "systemd's words are a wanted end, a start that failed, or a crash",
        arguments: [
            ("success", "exited", "0", ServiceEnd.wanted), ("success", "killed", "TERM", .wanted),
            ("exit-code", "exited", "78", .failedStart(78)), ("exit-code", "exited", "87", .failedStart(87)),
            ("exit-code", "exited", "203", .failedStart(203)), ("exit-code", nil, nil, .failedStart(nil)),
            ("exit-code", "exited", "1", .crash), ("signal", "killed", "SEGV", .crash),
            ("core-dump", "dumped", "ILL", .crash), ("watchdog", "killed", "KILL", .crash),
            ("timeout", "killed", "KILL", .crash), (nil, nil, nil, .wanted),
        ] as [(String?, String?, String?, ServiceEnd)])
    func ends(result: String?, code: String?, status: String?, end: ServiceEnd) {
        #expect(ServiceEnd(result: result, code: code, status: status) == end)
    }

    @Test(
        "a secret comes from systemd where it has handed it over, else from its file",
        arguments: [
            ("/etc/starship/secrets/qa", "/run/c", SecretPlaces.Place(path: "/run/c/secrets_qa", isCredential: true)),
            ("/etc/starship/secrets/missing", "/run/c", .init(path: "/etc/starship/secrets/missing")),
            ("/etc/starship/secrets/a/qa", "/run/c", .init(path: "/etc/starship/secrets/a/qa")),
            ("/etc/starship/secrets/qa", nil, .init(path: "/etc/starship/secrets/qa")),
            ("/home/qa/pw", "/run/c", .init(path: "/home/qa/pw")),
            ("$CREDENTIALS_DIRECTORY/qa", "/run/c", .init(path: "/run/c/qa", isCredential: true)),
        ] as [(String, String?, SecretPlaces.Place)])
    func secrets(file: String, given: String?, place: SecretPlaces.Place) throws {
        let found = try SecretPlaces.place(of: file, given: given) {
            $0.hasSuffix("secrets_qa") || $0.hasSuffix("a/qa")
        }
        #expect(found == place)
    }

    @Test("a credential that nobody has handed over is told as that")
    func noCredentials() {
        let error = #expect(throws: StartupError.self) {
            try SecretPlaces.place(of: "$CREDENTIALS_DIRECTORY/qa", given: nil) { _ in true }
        }
        #expect(error?.code == .secret && "\(error.map { "\($0)" } ?? "")".contains("LoadCredential="))
    }

    @Test(
        "each refusal of the kernel has its exit code and what mends it",
        arguments: [
            (SystemCallError("open", "/dev/net/tun", errno: .noSuchFile), ExitCode.noDevice, "modprobe tun"),
            (SystemCallError("open", "/dev/net/tun", errno: .noSuchDevice), .noDevice, "modprobe tun"),
            (SystemCallError("open", "/dev/net/tun", errno: .notPermitted), .notPermitted, "DeviceAllow"),
            (SystemCallError("ioctl TUNSETIFF", "starship0", errno: .notPermitted), .notPermitted, "CAP_NET_ADMIN"),
            (SystemCallError("ioctl TUNSETIFF", "starship0", errno: .busy), .deviceTaken, "tun.name"),
            (SystemCallError("bind", "10.9.0.1:53", errno: .accessDenied), .addressRefused, "CAP_NET_BIND_SERVICE"),
            (SystemCallError("bind", "10.9.0.1:53 udp", errno: .addressInUse), .addressTaken, "ss -lntup"),
            (SystemCallError("bind", "[2001:db8::1]:53", errno: .familyNotSupported), .addressRefused, "configure"),
            (SystemCallError("setsockopt", "SO_MARK", errno: .notPermitted), .notPermitted, "CAP_NET_ADMIN"),
            (SystemCallError("eventfd", nil, errno: .tooManyOpenFiles), .system, "LimitNOFILE"),
        ])
    func refusals(error: SystemCallError, code: ExitCode, remedy: String) {
        let failure = StartupError.gateway(.system(error))
        #expect(failure.code == code)
        #expect("\(failure)".contains("\(error)") && "\(failure)".contains(remedy), "\(failure)")
    }
}
