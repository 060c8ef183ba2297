/// The daemon: arguments and a file in, a running gateway, an exit code out.
///
/// What each exit code means is told by `--help` (`ExitCode`).

import Administration
import Glibc
import LinuxIO
import Network
import Profiles

let version = "0.1.0"

/// Ends the program with one line that says what is wrong.
func fail(_ code: Int32, _ message: String) -> Never {
    let line = message.split(whereSeparator: \.isNewline).joined(separator: "; ")
    StandardError.write("starshipd: \(line)\n")
    exit(code)
}

func options() -> CommandLineOptions {
    do throws(UsageError) {
        return try CommandLineOptions.parse(Array(CommandLine.arguments.dropFirst()))
    } catch {
        fail(UsageError.exitCode, "\(error)")
    }
}

func configuration(_ options: CommandLineOptions) -> ResolvedConfiguration {
    do throws(StartupError) {
        return try Administrator.check(options)
    } catch {
        fail(error.exitCode, "\(error)")
    }
}

func networkPreview(_ options: CommandLineOptions) -> [String] {
    do throws(StartupError) {
        return try Administrator.networkPreview(options)
    } catch {
        fail(error.exitCode, "\(error)")
    }
}

func explanation(_ options: CommandLineOptions) -> Explanation {
    do throws(StartupError) {
        return try Explain.answer(options)
    } catch {
        fail(error.exitCode, "\(error)")
    }
}

func serve(_ options: CommandLineOptions) -> Bool {
    // A flow takes a descriptor or two, and the usual soft limit is 1,024.
    _ = DescriptorLimit.raise()
    ProcessMemory.tune(arenas: 2, trimFrom: 1 << 20)
    Lockdown.prepare()
    let companion = startTools()
    do throws(StartupError) {
        var administrator = try Administrator(options, version: version, companion: companion)
        defer { administrator.dismissTools() }
        return try administrator.serve()
    } catch {
        fail(error.exitCode, "\(error)")
    }
}

/// Forks the process that runs the system's tools: before anything is read, and before the first thread.
func startTools() -> Companion {
    do throws(SystemCallError) {
        return try Companion.start(
            name: SystemTools.processName, keeping: SystemTools.capabilities, SystemTools.answer)
    } catch {
        let error = StartupError.system(error)
        fail(error.exitCode, "\(error)")
    }
}

/// Removes what a gateway that was killed has left in the machine's network.
func cleanUp() {
    do throws(StartupError) {
        try UnitSteps.cleanUp()
    } catch {
        fail(error.exitCode, "\(error)")
    }
}

func makeSettings(_ options: CommandLineOptions) {
    do throws(StartupError) {
        for line in try UnitSteps.makeSettings(options) { StandardError.write("starshipd: \(line)\n") }
    } catch {
        if options.isBeforeStart { exit(error.exitCode) }
        fail(error.exitCode, "\(error)")
    }
}

/// Says which DHCP servers answer on a link; 3 when one does.
func probeDHCP(_ interface: String) -> Int32 {
    do throws(SystemCallError) {
        let servers = try DHCPProbe.run(on: interface)
        for server in servers { StandardOutput.write("\(interface): \(server)\n") }
        if servers.isEmpty { StandardOutput.write("\(interface): no DHCP server has answered\n") }
        return (servers.isEmpty ? ExitCode.success : .serverAnswered).rawValue
    } catch {
        fail(ExitCode.failure.rawValue, "dhcp-probe \(interface): \(error)")
    }
}

let arguments = options()
switch arguments.command {
case .help:
    StandardOutput.write(CommandLineOptions.help)
case .version:
    StandardOutput.write("starshipd \(version)\n")
case .check:
    StandardOutput.write(configuration(arguments).summary)
case .plan:
    for line in networkPreview(arguments) { StandardOutput.write("\(line)\n") }
case .explain:
    StandardOutput.write("\(explanation(arguments))")
case .cleanup:
    cleanUp()
case .settings:
    makeSettings(arguments)
case .ended:
    UnitSteps.end(arguments)
case .probeDHCP:
    exit(probeDHCP(arguments.interface))
case .run:
    exit(serve(arguments) ? 0 : 1)
}
