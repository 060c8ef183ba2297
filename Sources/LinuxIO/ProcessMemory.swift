/// Keeping the process small: what malloc holds on to, and what the process takes.

internal import CLinux
internal import Glibc

/// The memory of this process.
public enum ProcessMemory {
    /// Bounds the arenas of malloc (each thread would get one of its own), and lets it give memory back from
    /// so many free bytes on.
    ///
    /// To be called before the first thread starts.
    public static func tune(arenas: Int, trimFrom bytes: Int) {
        clinux_tune_malloc(CInt(clamping: arenas), CInt(clamping: bytes))
    }

    /// Gives what malloc holds unused back to the system; takes milliseconds.
    public static func trim() { clinux_trim_malloc() }

    /// Gives back the code and constants that only a start or a load has needed; what is used again comes back by
    /// itself, from the page cache, where it stays.
    public static func releaseCode() { clinux_release_code() }

    /// What the process takes of the machine's memory (RSS), in bytes; 0 without /proc.
    public static func resident() -> Int {
        guard let text = try? SmallFile.read("/proc/self/statm", limit: 4096) else { return 0 }
        let fields = text.split(separator: UInt8(ascii: " "))
        guard fields.count > 1, let pages = Int(String(decoding: fields[1], as: UTF8.self)) else { return 0 }
        return pages * sysconf(CInt(_SC_PAGESIZE))
    }

    /// All memory of the machine, in bytes.
    public static func ofMachine() -> Int {
        sysconf(CInt(_SC_PHYS_PAGES)) * sysconf(CInt(_SC_PAGESIZE))
    }

    /// What the process may have of it.
    public static func available() -> Int { min(ofMachine(), MemoryLimit.ofControlGroup() ?? .max) }
}
