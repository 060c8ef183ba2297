/// The command line: one command in, one request to the daemon, its answer in words or JSON, an exit code out.
import LinuxIO

StandardOutput.write("starshipctl\n")
