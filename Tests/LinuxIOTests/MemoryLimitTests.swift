/// Limits of control groups, as cgroups(7) and the kernel's documentation of both versions lay them out.

import Foundation
import Testing

@testable import LinuxIO

@Suite("Limits of control groups")
struct MemoryLimitTests {
    /// A hierarchy with these files, and a process that is where these lines say.
    private func limit(_ membership: String, _ files: [String: String]) throws -> Int? {
        let directory = URL(filePath: "/tmp/starship-groups-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: directory) }
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        for (path, text) in files {
            let file = directory.appending(path: path)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try text.write(to: file, atomically: true, encoding: .utf8)
        }
        let lines = directory.appending(path: "membership")
        try membership.write(to: lines, atomically: true, encoding: .utf8)
        return MemoryLimit.leastLimit(of: lines.path, in: directory.path)
    }

    @Test func theLeastOfTheGroupAndThoseAboveItCounts() throws {
        let files = [
            "system.slice/memory.max": "67108864\n", "system.slice/starshipd.service/memory.max": "134217728\n",
            "system.slice/other.service/memory.max": "4096\n",
        ]
        #expect(try limit("0::/system.slice/starshipd.service\n", files) == 67_108_864)
    }

    @Test func aGroupWithoutALimitSaysMax() throws {
        #expect(try limit("0::/a\n", ["a/memory.max": "max\n"]) == nil)
        #expect(try limit("0::/\n", [:]) == nil)
        #expect(try limit("", [:]) == nil)
    }

    @Test func theFirstVersionHasAHierarchyForMemory() throws {
        let membership = "9:name=systemd:/x\n4:memory:/box\n3:cpu,cpuacct:/y\n0::/\n"
        let files = [
            "memory/memory.limit_in_bytes": "9223372036854771712\n", "memory/box/memory.limit_in_bytes": "50331648\n",
            "y/memory.max": "1\n", "x/memory.max": "1\n",
        ]
        #expect(try limit(membership, files) == 50_331_648)
    }

    /// In a container the path may be the host's; what is mounted is the container's own group.
    @Test func aPathThatIsNotThereLeavesTheMount() throws {
        #expect(try limit("0::/docker/0123\n", ["memory.max": "33554432\n"]) == 33_554_432)
    }
}
