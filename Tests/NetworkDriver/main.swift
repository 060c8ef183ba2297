/// A program that sets the network up as a plan says, for tests that look at it from outside and kill it.
///
///     networkdriver run STATE PLAN       until SIGTERM; SIGHUP reads the plan again
///     networkdriver cleanup STATE
///
/// It holds the TUN device and says of each packet that arrives whence and whither: `packet 10.9.0.2 > 198.18.0.16 tcp
/// 80`.

import Addresses
import Bytes
import LinuxIO
import Network

let arguments = CommandLine.arguments
switch arguments.dropFirst().first {
case "run" where arguments.count == 4:
    do {
        var driver = try Driver.open(statePath: arguments[2], planPath: arguments[3])
        try driver.start()
        try driver.run()
    } catch {
        complain("error: \(error)")
        exitNow(1)
    }
case "cleanup" where arguments.count == 3:
    do throws(NetworkError) {
        try NetworkSetup.cleanup(statePath: arguments[2])
    } catch {
        complain("error: \(error)")
        exitNow(1)
    }
default:
    complain("usage: networkdriver run STATE PLAN | networkdriver cleanup STATE")
    exitNow(64)
}
