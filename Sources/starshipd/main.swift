/// The daemon: arguments and a file in, a running gateway, an exit code out.
///
/// Exit codes: 0 a wanted end · 1 the gateway could not start or go on · 64 wrong arguments (EX_USAGE) · 78 a
/// wrong configuration (EX_CONFIG), as sysexits(3) names them.

import Administration
import Glibc
import LinuxIO
import Network
import Profiles

let version = "0.1.0"

/// Ends the program with a sentence that says what is wrong.
func fail(_ code: Int32, _ message: String) -> Never {
    StandardError.write("starshipd: \(message)\n")
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
    do throws(StartupError) {
        var administrator = try Administrator(options, version: version)
        return try administrator.serve()
    } catch {
        fail(error.exitCode, "\(error)")
    }
}

/// Removes what a gateway that was killed has left in the machine's network.
func cleanUp() {
    do throws(NetworkError) {
        try NetworkSetup.cleanup()
    } catch {
        fail(1, "\(error)")
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
case .explain:
    StandardOutput.write("\(explanation(arguments))")
case .cleanup:
    cleanUp()
case .run:
    exit(serve(arguments) ? 0 : 1)
}
