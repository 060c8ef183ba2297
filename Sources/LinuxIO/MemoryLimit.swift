/// How much memory a control group leaves this process (cgroups(7)).
///
/// A service manager, a container or an administrator sets such a limit; a process over it is killed, so what is
/// reckoned from "the memory" must be reckoned from the limit.

internal import Glibc

public enum MemoryLimit {
    /// The least limit of the process's control group and of those above it, in bytes; nil where there is none, or none
    /// can be read.
    public static func ofControlGroup() -> Int? { leastLimit(of: "/proc/self/cgroup", in: "/sys/fs/cgroup") }

    /// `membership` has the lines of /proc/self/cgroup, `hierarchy` is where control groups are mounted.
    static func leastLimit(of membership: String, in hierarchy: String) -> Int? {
        guard let text = try? SmallFile.read(membership, limit: 65_536) else { return nil }
        return String(decoding: text, as: UTF8.self).split(separator: "\n").flatMap { limits(of: $0, in: hierarchy) }
            .min()
    }

    /// The limits that one membership brings (`4:memory:/system.slice`).
    private static func limits(of membership: Substring, in hierarchy: String) -> [Int] {
        let fields = membership.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
        guard fields.count == 3 else { return [] }
        // Version 2 has one hierarchy, without names of controllers; of version 1 the memory controller's counts.
        if fields[1].isEmpty { return limits(above: fields[2], in: hierarchy, file: "memory.max") }
        guard fields[1].split(separator: ",").contains("memory") else { return [] }
        return limits(above: fields[2], in: hierarchy + "/memory", file: "memory.limit_in_bytes")
    }

    /// The limits of a group and of those above it.
    ///
    /// One that is not there is passed over: in a container the path may be the host's, and then the mount is the
    /// group.
    private static func limits(above group: Substring, in hierarchy: String, file: String) -> [Int] {
        var found: [Int] = []
        var names = group.split(separator: "/")
        while true {
            let path = ([hierarchy] + names.map(String.init) + [file]).joined(separator: "/")
            if let text = try? SmallFile.read(path, limit: 64),
                let limit = Int(String(decoding: text.filter { $0 > 0x20 }, as: UTF8.self))
            {
                found.append(limit)
            }
            if names.popLast() == nil { return found }
        }
    }
}
