/// Whether this process may mark its sockets.

internal import CLinux
internal import Glibc

extension Socket {
    /// Whether the process may set routing marks (CAP_NET_ADMIN), found out by setting one.
    public static func mayMark() -> Bool {
        let number = Glibc.socket(AF_INET, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        guard number >= 0 else { return false }
        let socket = Socket(owning: OwnedDescriptor(owning: number))
        do throws(SystemCallError) {
            try socket.setMark(1)
            return true
        } catch {
            return false
        }
    }
}
