/// Root's powers one by one (capabilities(7)), and giving them up on all threads.

internal import CLinux
internal import Glibc

/// A set of capabilities, a bit each.
public struct Capabilities: OptionSet, Hashable, Sendable, CustomStringConvertible {
    public let rawValue: UInt64

    public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// CAP_NET_ADMIN: marks of sockets, netlink, the TUN device.
    public static let networkAdministration = Capabilities(rawValue: 1 << 12)
    /// CAP_NET_RAW: what iptables-save(8) reads its tables by.
    public static let rawNetwork = Capabilities(rawValue: 1 << 13)

    public var description: String {
        var names: [String] = contains(.networkAdministration) ? ["net_admin"] : []
        if contains(.rawNetwork) { names.append("net_raw") }
        let others = subtracting([.networkAdministration, .rawNetwork])
        if !others.isEmpty { names.append("0x\(String(others.rawValue, radix: 16))") }
        return names.isEmpty ? "none" : names.joined(separator: ",")
    }

    /// Leaves the calling thread, and those that it starts, what it has of these; programs that it runs get no more.
    func keepHere() throws(SystemCallError) {
        let result = clinux_keep_capabilities(rawValue, rawValue, rawValue)
        guard result == 0 else { throw SystemCallError("capset", negative: result) }
    }

    /// Leaves every thread of the process what it has of these, and nothing to a program that it would run.
    ///
    /// The kernel lets a thread change its own alone, so each is asked by a signal. One that a thread with all
    /// capabilities has started meanwhile has them too, so it is looked again until there is none.
    func keepEverywhere() throws(SystemCallError) {
        // What is refused is refused to all, and here the reason shows.
        let own = clinux_keep_capabilities(rawValue, 0, 0)
        guard own == 0 else { throw SystemCallError("capset", negative: own) }
        let signal = clinux_keep_capabilities_on_signal(rawValue)
        guard signal >= 0 else { throw SystemCallError("sigaction", negative: signal) }
        defer { clinux_ignore_signal(signal) }
        for _ in 0..<200 {
            let others = ThreadState.all().filter { !$0.keepsNothing(but: self) }
            if others.isEmpty { return }
            for thread in others { _ = clinux_signal_thread(thread.id, signal) }
            usleep(2000)
        }
        throw SystemCallError("capset", "of all threads", errno: .timedOut)
    }
}

/// What the kernel says of a thread's rights (/proc/PID/task/TID/status, proc_pid_status(5)).
struct ThreadState: Equatable, Sendable {
    let id: pid_t
    /// What a program that it ran would be given on top of its own.
    var inheritable = Capabilities()
    var permitted = Capabilities()
    var effective = Capabilities()
    var bounding = Capabilities()
    var refusesNewPrivileges = false
    var isFiltered = false

    init(_ id: pid_t, parsing text: String) {
        self.id = id
        for line in text.split(separator: "\n") {
            guard let colon = line.firstIndex(of: ":") else { continue }
            let value = line[line.index(after: colon)...].drop { $0 == "\t" || $0 == " " }
            switch line[..<colon] {
            case "CapInh": inheritable = Self.set(value)
            case "CapPrm": permitted = Self.set(value)
            case "CapEff": effective = Self.set(value)
            case "CapBnd": bounding = Self.set(value)
            case "NoNewPrivs": refusesNewPrivileges = value == "1"
            // Mode 2 is SECCOMP_MODE_FILTER.
            case "Seccomp": isFiltered = value == "2"
            default: break
            }
        }
    }

    /// Whether nothing is left to it but these; the ambient set is never more than the inheritable one.
    func keepsNothing(but kept: Capabilities) -> Bool {
        kept.isSuperset(of: permitted.union(effective)) && inheritable.isEmpty
    }

    private static func set(_ text: Substring) -> Capabilities {
        Capabilities(rawValue: UInt64(text, radix: 16) ?? .max)
    }

    /// Every thread of this process; one that ends meanwhile is left out.
    static func all() -> [ThreadState] {
        guard let folder = unsafe opendir("/proc/self/task") else { return [] }
        defer { unsafe closedir(folder) }
        var found: [ThreadState] = []
        while let entry = unsafe readdir(folder) {
            // Safe: the kernel ends the name with a zero octet, within the entry.
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
                unsafe name.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            guard let id = pid_t(name), let text = try? SmallFile.read("/proc/self/task/\(id)/status", limit: 65_536)
            else { continue }
            found.append(ThreadState(id, parsing: String(decoding: text, as: UTF8.self)))
        }
        return found
    }
}
