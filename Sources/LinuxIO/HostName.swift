/// What this machine is called.

internal import Glibc

public enum HostName {
    /// The first label of the host's name; `gateway` where it has none.
    public static var current: String {
        var octets = [UInt8](repeating: 0, count: 256)
        let result = unsafe octets.withUnsafeMutableBytes { space in
            unsafe gethostname(space.baseAddress?.assumingMemoryBound(to: CChar.self), space.count - 1)
        }
        let name = octets.prefix { $0 != 0 && $0 != UInt8(ascii: ".") }
        return result == 0 && !name.isEmpty ? String(decoding: name, as: UTF8.self) : "gateway"
    }
}
