/// Who does the verbs: the daemon's companion where there is one, otherwise this process.

public import LinuxIO

/// A way to have verbs done.
public struct SystemTools: Sendable {
    private let companion: Companion?

    /// A companion does everything; nil: this process does it itself.
    public init(_ companion: Companion? = nil) { self.companion = companion }

    /// The name of the companion's process, as ps(1) shows it.
    public static let processName = "starship-tools"

    /// What the tools need: the network's settings, and iptables-save(8) a raw socket.
    public static let capabilities: Capabilities = [.networkAdministration, .rawNetwork]

    /// What a companion answers: a verb that we would not ask is refused (EPERM).
    public static func answer(_ request: [UInt8]) -> [UInt8] {
        guard let verb = SystemVerb(reading: request), verb.isSound else {
            return SystemAnswer.message(SystemCallError("do what is no verb of ours", errno: .notPermitted))
        }
        do throws(SystemCallError) {
            return SystemAnswer.message(try verb.perform())
        } catch {
            return SystemAnswer.message(error)
        }
    }

    /// Does a verb and waits for it.
    func run(_ verb: SystemVerb) throws(SystemCallError) -> Tool.Outcome {
        guard let companion else { return try verb.perform() }
        return try SystemAnswer.read(try companion.ask(verb.message))
    }

    /// Writes a setting of the kernel.
    func set(_ name: String, to value: String) throws(SystemCallError) {
        _ = try run(.setting(name, value: value))
    }
}
