/// Limits, memory, disk and clock.

import LinuxIO

enum MachineChecks {
    static func findings(_ sight: Sight) -> [Finding] {
        descriptors(sight) + memory(sight) + disk(sight.disk) + clock(sight.clock, sight.setup)
    }

    // MARK: Descriptors

    /// What the daemon needs besides flows: listeners, the log, netlink, the store, clients of the API.
    private static let besides = 256

    private static func descriptors(_ sight: Sight) -> [Finding] {
        guard case .running(let running) = sight.daemon, let text = sight.limits.process,
            let limit = openFiles(text)
        else { return [] }
        let (flows, wanted) = (sight.setup.flows, sight.setup.flows + besides)
        let mending =
            running.process.map { ["prlimit --pid \($0) --nofile=\(wanted):\(max(wanted, limit.hard))"] } ?? []
        let advice = "For good: LimitNOFILE=\(wanted) in the unit (systemctl edit starshipd), or fewer `limits.flows`."
        // Not in whole numbers: `unlimited` is the largest of them.
        if Double(running.descriptors) >= 0.9 * Double(limit.soft) {
            return [
                Finding(
                    .descriptors, .wrong, "\(running.descriptors) of \(limit.soft) descriptors are used",
                    meaning: "New flows are about to be refused.", mending: mending, advice: advice)
            ]
        }
        guard limit.soft < wanted else {
            return [Finding(.descriptors, .ok, "\(limit.soft) descriptors are enough for \(flows) flows")]
        }
        return [
            Finding(
                .descriptors, .wrong,
                "the daemon may have \(limit.soft) descriptors, and \(flows) flows (`limits.flows`) want \(wanted)",
                meaning: "Under load new flows are refused long before that bound.", mending: mending, advice: advice)
        ]
    }

    /// The line of /proc/PID/limits: `Max open files            1024                 524288               files`.
    static func openFiles(_ limits: String) -> (soft: Int, hard: Int)? {
        guard let line = limits.split(separator: "\n").first(where: { $0.hasPrefix("Max open files") }) else {
            return nil
        }
        let numbers = line.dropFirst("Max open files".count).split(separator: " ").prefix(2).map { word in
            word == "unlimited" ? Int.max : Int(word)
        }
        guard numbers.count == 2, let soft = numbers[0], let hard = numbers[1] else { return nil }
        return (soft, hard)
    }

    // MARK: Memory

    private static func memory(_ sight: Sight) -> [Finding] {
        let budget = sight.setup.buffers
        var findings: [Finding] = []
        // The program itself, its tables and the name service.
        let wanted = budget + 64 << 20
        if let group = sight.limits.group, group < wanted {
            findings.append(
                Finding(
                    .memory, .wrong,
                    "the control group allows \(mebibytes(group)), and buffers alone may take "
                        + mebibytes(budget), meaning: "Under load the kernel kills the daemon.",
                    mending: ["systemctl set-property starshipd MemoryMax=\(wanted >> 20)M"],
                    advice: "Or a smaller `limits.buffers`."))
        }
        if let text = sight.limits.memory, let all = meminfo(text, "MemTotal:"),
            let free = meminfo(text, "MemAvailable:")
        {
            if free < 32 << 20 {
                findings.append(
                    Finding(
                        .memory, .wrong, "\(mebibytes(free)) of \(mebibytes(all)) memory are left",
                        meaning: "The kernel is about to kill something.",
                        mending: ["ps -eo rss,pid,comm --sort=-rss | head"]))
            } else if budget > all / 2 {
                findings.append(
                    Finding(
                        .memory, .notice, "buffers may take \(mebibytes(budget)) of \(mebibytes(all)) memory",
                        meaning: "Under load little is left for everything else.",
                        advice: "Set a smaller `limits.buffers`."))
            } else if findings.isEmpty {
                findings.append(Finding(.memory, .ok, "\(mebibytes(free)) of \(mebibytes(all)) memory are left"))
            }
        }
        return findings
    }

    /// A line of /proc/meminfo in octets: `MemTotal:        8010364 kB`.
    static func meminfo(_ text: String, _ key: String) -> Int? {
        guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix(key) }) else { return nil }
        return line.dropFirst(key.count).split(separator: " ").first.flatMap { Int($0) }.map { $0 << 10 }
    }

    static func mebibytes(_ octets: Int) -> String { "\(octets >> 20) MiB" }

    // MARK: Disk

    private static let leastFree = 1 << 20
    private static let comfortable = 64 << 20

    private static let notKept =
        "Switches, names of devices and fake addresses are not kept: a restart forgets them."

    private static func disk(_ disk: Sight.Disk?) -> [Finding] {
        guard let disk else { return [] }
        let room = "\(mebibytes(disk.space.free)) of \(mebibytes(disk.space.total))"
        if disk.space.isReadOnly {
            return [
                Finding(
                    .disk, .wrong, "\(disk.folder) is on a file system that is mounted read-only", meaning: notKept,
                    mending: ["mount -o remount,rw $(findmnt -no TARGET -T \(disk.folder))"],
                    advice: "The kernel does that after errors of the disk: see dmesg.")
            ]
        }
        if disk.space.free < leastFree {
            return [full(disk, .wrong, "the disk of \(disk.folder) is full: \(room) are left")]
        }
        if let files = disk.space.freeFiles, files < 64 {
            return [
                Finding(
                    .disk, .wrong, "the file system of \(disk.folder) has room for \(files) more files (inodes)",
                    meaning: notKept, mending: ["du -x --inodes / | sort -n | tail"],
                    advice: "Remove small files on that file system.")
            ]
        }
        if !disk.isWritable {
            return [Finding(.disk, .unseen, "\(disk.folder): whether the daemon may write there is for root to see")]
        }
        guard disk.space.free >= comfortable || disk.space.total < 2 * comfortable else {
            return [full(disk, .notice, "the disk of \(disk.folder) is nearly full: \(room) are left")]
        }
        return [Finding(.disk, .ok, "\(disk.folder) has room (\(room) free)")]
    }

    /// Captured packets are what grows there.
    private static func full(_ disk: Sight.Disk, _ grade: Finding.Grade, _ words: String) -> Finding {
        guard disk.captures.isEmpty else {
            return Finding(
                .disk, grade, words, meaning: notKept, mending: ["rm -f " + disk.captures.joined(separator: " ")],
                advice: "These are captured packets; end a capture first: starshipctl capture stop.")
        }
        return Finding(
            .disk, grade, words, meaning: notKept, mending: ["du -xh \(disk.folder) | sort -h | tail"],
            advice: "Make room on that file system.")
    }

    // MARK: Clock

    /// 2026-01-01: this program is younger.
    private static let oldest: Int64 = 1_767_225_600
    /// 2100-01-01.
    private static let newest: Int64 = 4_102_444_800

    private static func clock(_ clock: Sight.ClockSight, _ setup: Sight.Setup) -> [Finding] {
        guard clock.now >= oldest, clock.now < newest else {
            return [
                Finding(
                    .clock, .wrong, "the calendar is \(clock.now) seconds after 1970, which can't be",
                    meaning: "Signed links and pushes are refused, and ends of assignments are wrong.",
                    mending: ["timedatectl set-ntp true"], advice: "By hand: date -s 'YYYY-MM-DD hh:mm:ss'.")
            ]
        }
        if clock.isSynchronised { return [Finding(.clock, .ok, "the clock is synchronised")] }
        if setup.trustsClock { return [Finding(.clock, .ok, "the clock is trusted without NTP (`clock: \"trust\"`)")] }
        return [
            Finding(
                .clock, .notice, "nothing synchronises the clock",
                meaning: "Signed links and pushes are refused.", mending: ["timedatectl set-ntp true"],
                advice: "Where the clock is right without NTP: `clock: \"trust\"`.")
        ]
    }
}
