/// Running the system's tools (ip, nft) and waiting for them.

public import Bytes
internal import CLinux
internal import Glibc

/// A program of the system, run in the network namespace of the calling thread.
public enum Tool {
    /// What a program said, and how it ended.
    public struct Outcome: Equatable, Sendable {
        /// The exit status, or 128 and the number of the signal that ended it.
        public let status: Int
        public let output: String
        public let errors: String

        public init(status: Int, output: String, errors: String) {
            self.status = status
            self.output = output
            self.errors = errors
        }
    }

    /// Runs a program found on PATH and returns its exit status, or 128 and the number of the signal that
    /// ended it.
    ///
    /// Its output goes where ours goes. The calling thread waits: nothing for a worker.
    public static func run(_ program: String, _ arguments: [String]) throws(SystemCallError) -> Int {
        let result = unsafe withArguments([program] + arguments) { unsafe clinux_run($0) }
        guard result >= 0 else { throw SystemCallError("posix_spawn", program, negative: result) }
        return Int(result)
    }

    /// Runs a program on a text and returns what it said; one that takes longer is killed (ETIMEDOUT).
    ///
    /// The texts are files in memory, so no program waits for us to read, however much it says.
    public static func run(
        _ program: String, _ arguments: [String], input: String, within limit: Interval = .seconds(10)
    ) throws(SystemCallError) -> Outcome {
        let given = try MemoryFile()
        try given.fill(input)
        let output = try MemoryFile()
        let errors = try MemoryFile()
        let result = unsafe withArguments([program] + arguments) {
            unsafe clinux_run_with($0, given.number, output.number, errors.number, CInt(clamping: limit.milliseconds))
        }
        guard result >= 0 else { throw SystemCallError("run", program, negative: result) }
        return Outcome(status: Int(result), output: output.text(), errors: errors.text())
    }

    /// Lends the arguments as C wants them: a list of strings that ends with NULL.
    private static func withArguments(
        _ arguments: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> CInt
    ) -> CInt {
        var list: [UnsafeMutablePointer<CChar>?] = unsafe []
        for argument in arguments { unsafe list.append(strdup(argument)) }
        unsafe list.append(nil)
        defer { for index in unsafe list.indices { unsafe free(list[index]) } }
        return unsafe body(list)
    }
}

/// One of a program's standard streams, as a file without a name.
private struct MemoryFile: ~Copyable {
    /// More than this of what a program says is not read.
    private static let limit = 16 << 20

    private let descriptor: OwnedDescriptor
    var number: CInt { descriptor.number }

    init() throws(SystemCallError) {
        let number = clinux_memory_file()
        guard number >= 0 else { throw SystemCallError("memfd_create", negative: number) }
        descriptor = OwnedDescriptor(owning: number)
    }

    /// Puts a text where a reader begins.
    func fill(_ content: String) throws(SystemCallError) {
        let bytes = Array(content.utf8)
        var written = 0
        while written < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { bytes in
                let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[written...])
                return retrying { unsafe write(number, rest.baseAddress, rest.count) }
            }
            guard count > 0 else { throw SystemCallError("write", "memory file", negative: CInt(count)) }
            written += count
        }
        _ = lseek(number, 0, SEEK_SET)
    }

    /// Everything that was written to it.
    func text() -> String {
        let size = min(Int(lseek(number, 0, SEEK_END)), Self.limit)
        guard size > 0 else { return "" }
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: size) { space, filled in
            let count = retrying { unsafe pread(number, space.baseAddress, size, 0) }
            filled = max(0, count)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
