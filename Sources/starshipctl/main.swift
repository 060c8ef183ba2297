/// The command line: one command in, one request to the daemon, its answer in words or JSON, an exit code out.
///
/// Exit codes: 0 done · 1 refused by the daemon, or failed · 2 red (`status`) · 3 no daemon · 64 wrong arguments.

import Commands
import Glibc

exit(Program.run(Array(CommandLine.arguments.dropFirst())))
