/// What this machine is called.

internal import Glibc

public enum HostName {
    /// The first label of the host's name; `gateway` where it has none.
    public static var current: String {
        var characters = [CChar](repeating: 0, count: 256)
        let result = unsafe gethostname(&characters, characters.count - 1)
        let name = characters.map(UInt8.init(bitPattern:)).prefix { $0 != 0 && $0 != UInt8(ascii: ".") }
        return result == 0 && !name.isEmpty ? String(decoding: name, as: UTF8.self) : "gateway"
    }
}
