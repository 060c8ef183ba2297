/// What the unit has done besides the daemon: the steps that take more rights than it has.
///
/// `starshipd settings` runs before each start, and again when the daemon asks or an interface appears: it reads the
/// configuration whole, and only then makes the kernel's settings. `starshipd ended` runs after each end, with what the
/// service manager says of it (systemd.exec(5), $SERVICE_RESULT): what was wanted leaves nothing behind, a crash leaves
/// what `network.whenDown` says.

import Bytes
import Gateway
import LinuxIO
import Network
public import Profiles

/// How the daemon came to its end.
public enum ServiceEnd: Equatable, Sendable {
    /// Somebody wanted it; the daemon has undone what it did.
    case wanted
    /// It was never ready: why is its exit code.
    case failedStart(Int32?)
    case crash

    /// Reads $SERVICE_RESULT, $EXIT_CODE and $EXIT_STATUS; without them it was wanted.
    public init(result: String?, code: String?, status: String?) {
        guard let result, result != "success" else {
            self = .wanted
            return
        }
        guard let code else {
            // No main process was there: a step before it has failed.
            self = .failedStart(nil)
            return
        }
        let number = code == "exited" ? status.flatMap { Int32($0) } : nil
        if let number, ExitCode(rawValue: number)?.isOfStart ?? (number != 1) {
            self = .failedStart(number)
        } else {
            self = result == "exec-condition" || result == "start-limit-hit" ? .failedStart(nil) : .crash
        }
    }
}

public enum UnitSteps {
    /// Makes the kernel's settings as the configuration needs them, and returns what was done.
    public static func makeSettings(_ options: CommandLineOptions) throws(StartupError) -> [String] {
        // Before a start also the secrets: nothing of the network is changed for a start that can't succeed.
        let resolved = try options.isBeforeStart ? Administrator.check(options) : ConfigurationFile.read(options)
        let configuration = resolved.configuration
        do throws(NetworkError) {
            return try NetworkSetup.makeSettings(plan(configuration))
        } catch {
            throw .gateway(.network(error))
        }
    }

    /// As much of the plan as settings follow from.
    static func plan(_ configuration: Configuration) -> NetworkPlan {
        guard let network = Translation.network(configuration) else { return NetworkPlan(setup: .none, fake: []) }
        var plan = NetworkPlan(
            setup: network.setup, tunnel: configuration.tunnel?.name ?? "starship0", fake: [],
            lan: network.lan.map { .init($0.interface, .none) })
        plan.uplinks = network.uplinks
        plan.ipv6 = configuration.ipv6
        return plan
    }

    /// Does what has to be done after an end, and says what it was; the machine is never left with less than it can be.
    public static func end(_ options: CommandLineOptions) {
        let end = ServiceEnd(
            result: Environment["SERVICE_RESULT"], code: Environment["EXIT_CODE"], status: Environment["EXIT_STATUS"])
        let configuration = (try? ConfigurationFile.read(options))?.configuration
        let isBlocked = configuration?.network.whenDown != .direct
        do throws(NetworkError) {
            switch end {
            case .wanted: try clear()
            case .crash:
                if !isBlocked { try clear() }
                say("it has crashed; \(isBlocked ? "what was to be proxied stays refused" : "all traffic goes direct")")
            case .failedStart:
                // After a crash its rules may stand, and with them what they need.
                let stands = try NetworkSetup.stands()
                if !isBlocked || !stands { try clear() }
            }
        } catch {
            say("\(error); `starshipd cleanup` tries again")
        }
        if case .failedStart(let code?) = end, ExitCode(rawValue: code)?.isFinal == false {
            // systemd starts it again at once, because after a crash each moment counts; here none does.
            ServiceEnd.pause()
        }
    }

    /// Removes everything of ours from the machine's network, whoever made it.
    public static func cleanUp() throws(StartupError) {
        do throws(NetworkError) {
            try clear()
        } catch {
            throw .gateway(.network(error))
        }
    }

    private static func clear() throws(NetworkError) {
        try NetworkSetup.cleanup()
        try NetworkSetup.putSettingsBack()
    }

    private static func say(_ words: String) { StandardError.write("starshipd: \(words)\n") }
}

extension ServiceEnd {
    /// Waits for as long as a start that fails is not worth trying again.
    static func pause() { WorkerThread.sleep(.seconds(4)) }
}
