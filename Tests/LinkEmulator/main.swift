/// # linkemulator: a bad link between two network namespaces
///
/// Kernels without netem need it for tests and measurements. Two TUN devices are joined by a loop in user
/// space that loses, delays, reorders, duplicates and corrupts what passes, by a seed.
///
///     device in namespace A ── up: fate, delay line ──▶ device in namespace B
///                           ◀── down: the same, with its own draws ──

import Glibc
import LinuxIO

do {
    let options = try Options(Array(CommandLine.arguments.dropFirst()))
    WorkerThread.setTimerSlack(nanoseconds: 1)
    var link = try Link(options, signals: Signals())
    StandardOutput.write("{\"ready\":true}\n")
    let wasToldToStop = link.run()
    StandardOutput.write(link.json + "\n")
    exit(wasToldToStop ? 0 : 1)
} catch let error as UsageError {
    StandardError.write("linkemulator: \(error.text)\n\n\(Options.usage)\n")
    exit(64)
} catch {
    StandardError.write("linkemulator: \(error)\n")
    exit(1)
}
