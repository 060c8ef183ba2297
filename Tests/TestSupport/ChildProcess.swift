/// A child process by posix_spawn and waitpid: Foundation's `Process` was seen to miss the end of a child.

import Foundation

struct ChildProcess {
    let pid: pid_t
    /// The raw wait status, once the child has been reaped.
    private var status: Int32?

    /// Starts a program in a directory; the first argument is its path or its name on PATH.
    init(
        _ arguments: [String], environment: [String: String], directory: URL, input: FileHandle, output: FileHandle,
        errors: FileHandle
    ) throws {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        for (number, handle) in [input, output, errors].enumerated() {
            unsafe posix_spawn_file_actions_adddup2(&actions, handle.fileDescriptor, Int32(number))
        }

        // Safe: both arrays end with nil and outlive the call, which copies them.
        let command = ["env", "-C", directory.path] + arguments
        var argumentList: [UnsafeMutablePointer<CChar>?] = unsafe command.map { unsafe strdup($0) } + [nil]
        let settings = environment.map { "\($0.key)=\($0.value)" }
        var environmentList: [UnsafeMutablePointer<CChar>?] = unsafe settings.map { unsafe strdup($0) } + [nil]
        defer {
            for index in unsafe argumentList.indices { unsafe free(argumentList[index]) }
            for index in unsafe environmentList.indices { unsafe free(environmentList[index]) }
        }
        var pid: pid_t = 0
        let result = unsafe posix_spawn(
            &pid, "/usr/bin/env", &actions, nil, &argumentList, &environmentList)
        guard result == 0 else { throw LabError("posix_spawn \(arguments): error \(result)") }
        self.pid = pid
    }

    /// Whether the child is still there; reaps it when it is not.
    mutating func isRunning() -> Bool {
        guard status == nil else { return false }
        var raw: Int32 = 0
        guard unsafe waitpid(pid, &raw, WNOHANG) == pid else { return true }
        status = raw
        return false
    }

    /// The exit status of a child that has ended, or minus the signal that ended it.
    var exitStatus: Int32 {
        guard let status else { return 0 }
        let signal = status & 0x7f
        return signal == 0 ? (status >> 8) & 0xff : -signal
    }

    /// Sends a signal, unless the child has ended (its number may be somebody else's by then).
    mutating func send(_ signal: Int32) {
        if isRunning() { kill(pid, signal) }
    }
}
