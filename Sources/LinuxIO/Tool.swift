/// Running the system's tools (ip, nft) and waiting for them.

internal import CLinux
internal import Glibc

/// A program of the system, run in the network namespace of the calling thread.
public enum Tool {
    /// Runs a program found on PATH and returns its exit status, or 128 and the number of the signal that
    /// ended it.
    ///
    /// Its output goes where ours goes. The calling thread waits: nothing for a worker.
    public static func run(_ program: String, _ arguments: [String]) throws(SystemCallError) -> Int {
        var list: [UnsafeMutablePointer<CChar>?] = unsafe []
        for argument in [program] + arguments { unsafe list.append(strdup(argument)) }
        unsafe list.append(nil)
        defer { for index in unsafe list.indices { unsafe free(list[index]) } }
        let result = unsafe clinux_run(list)
        guard result >= 0 else { throw SystemCallError("posix_spawn", program, negative: result) }
        return Int(result)
    }
}
