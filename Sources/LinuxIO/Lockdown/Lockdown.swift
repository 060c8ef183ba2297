/// # The lock-down: what the daemon can no longer do once it runs
///
/// Three things of the kernel, each of which holds without the others:
///
///     no new privileges   what it would run gets no more than it has
///     capabilities        CAP_NET_ADMIN alone, for the marks of its sockets; no bounding set
///     filter              the system calls of `SystemCall`, and none that runs a program
///
/// They hold for every thread and until the end. What needs more is done before (files of others, low ports, the TUN
/// device), or by the companion, which was forked before.

internal import CLinux
internal import Glibc

/// What became of the lock-down.
public struct LockdownReport: Equatable, Sendable {
    /// The capabilities that are left.
    public var capabilities = Capabilities()
    /// What a program that it ran could still be given; only CAP_SETPCAP empties it, and it runs none.
    public var bounding = Capabilities()
    /// How many system calls are allowed; nil without a filter.
    public var systemCalls: Int?
    public var threads = 0
    /// What could not be had, with the reason.
    public var missing: [String] = []

    /// Whether everything is as it should be.
    public var holds: Bool { missing.isEmpty }

    public init(missing: [String] = []) { self.missing = missing }
}

public enum Lockdown {
    /// SECCOMP_FILTER_FLAG_TSYNC.
    private static let forAllThreads: UInt32 = 1
    /// SECCOMP_FILTER_FLAG_SPEC_ALLOW: kernels below 5.16 would take a filter for a reason to slow every thread down
    /// (speculative store bypass), of which a program that runs nobody else's code gains nothing.
    private static let atFullSpeed: UInt32 = 4

    /// Has every thread that is started from now on take part in the lock-down.
    ///
    /// To be called before the first one; a program that was started with all signals blocked would be deaf to it.
    public static func prepare() { _ = clinux_admit_capabilities_signal() }

    /// Gives up all that is not needed any more, on every thread, and says what was not to be had.
    public static func engage(keeping capabilities: Capabilities = .networkAdministration) -> LockdownReport {
        var report = LockdownReport()
        let result = clinux_refuse_new_privileges()
        if result < 0 {
            report.missing.append("no new privileges: \(SystemCallError("prctl", negative: result))")
        }
        do throws(SystemCallError) {
            try capabilities.keepEverywhere()
        } catch {
            report.missing.append("capabilities: \(error)")
        }
        do throws(SystemCallError) {
            report.systemCalls = try installFilter()
        } catch {
            report.missing.append("filter of system calls: \(error)")
        }
        verify(&report)
        return report
    }

    /// Installs the filter for this machine and returns how many calls it allows.
    private static func installFilter() throws(SystemCallError) -> Int {
        guard let machine = SystemCallFilter.Machine.own else {
            throw SystemCallError("seccomp", "on this kind of processor", errno: .notSupported)
        }
        let instructions = SystemCallFilter(for: machine, process: UInt32(getpid())).instructions
        var result: CInt = 0
        for flags in [forAllThreads | atFullSpeed, forAllThreads] {
            result = unsafe instructions.withUnsafeBytes { bytes in
                unsafe clinux_install_filter(bytes.baseAddress, UInt16(instructions.count), flags)
            }
            // Linux 4.17 brought the second flag.
            if result != -EINVAL { break }
        }
        guard result >= 0 else { throw SystemCallError("seccomp", negative: result) }
        guard result == 0 else { throw SystemCallError("seccomp", "for thread \(result)", errno: .busy) }
        return SystemCall.allowed.count { machine.number(of: $0) != nil } + 1
    }

    /// Has the kernel's own word on each thread, so that nothing is missing in silence.
    private static func verify(_ report: inout LockdownReport) {
        let threads = ThreadState.all()
        report.threads = threads.count
        report.capabilities = threads.reduce(Capabilities()) { $0.union($1.permitted) }
        if threads.isEmpty { report.missing.append("proof: /proc/self/task cannot be read") }
        let open = threads.count { !$0.isFiltered || !$0.refusesNewPrivileges }
        if open > 0, report.systemCalls != nil {
            report.missing.append("filter of system calls: \(open) of \(threads.count) threads are without")
        }
        report.bounding = threads.reduce(Capabilities()) { $0.union($1.bounding) }
    }
}
