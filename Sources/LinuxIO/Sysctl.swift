/// The kernel's settings under /proc/sys, of the network namespace of the calling thread.

internal import CLinux
internal import Glibc

/// Names are paths below /proc/sys, because an interface's name may hold dots.
public enum Sysctl {
    public static func exists(_ name: String) -> Bool {
        unsafe access(path(name), F_OK) == 0
    }

    /// The value without the line's end, or nil when there is no such setting (its interface may be gone).
    public static func value(of name: String) -> String? {
        let number = unsafe clinux_open(path(name), O_RDONLY, 0)
        guard number >= 0 else { return nil }
        let descriptor = OwnedDescriptor(owning: number)
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: 256) { space, filled in
            filled = max(0, retrying { unsafe read(descriptor.number, space.baseAddress, 256) })
        }
        return String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    }

    /// Whether this process may write a setting's file.
    public static func isWritable(_ name: String) -> Bool { unsafe access(path(name), W_OK) == 0 }

    /// Whether it is a setting of an interface that can be made without its file.
    public static func isOfInterface(_ name: String) -> Bool { InterfaceSetting(name, "0") != nil }

    /// Makes a setting; where its file may not be written, those of an interface are made through netlink.
    public static func set(_ name: String, to value: String) throws(SystemCallError) {
        do throws(SystemCallError) {
            try writeFile(name, value)
        } catch {
            guard error.isWriteProtection, (try? setThroughNetlink(name, to: value)) == true else { throw error }
        }
    }

    private static func writeFile(_ name: String, _ value: String) throws(SystemCallError) {
        let number = unsafe clinux_open(path(name), O_WRONLY, 0)
        guard number >= 0 else { throw SystemCallError("open", path(name), negative: number) }
        let descriptor = OwnedDescriptor(owning: number)
        let bytes = Array(value.utf8)
        let count = unsafe bytes.withUnsafeBytes { bytes in
            retrying { unsafe write(descriptor.number, bytes.baseAddress, bytes.count) }
        }
        guard count == bytes.count else { throw SystemCallError("write \(value)", path(name), negative: CInt(count)) }
    }

    private static func path(_ name: String) -> String { "/proc/sys/\(name)" }
}
