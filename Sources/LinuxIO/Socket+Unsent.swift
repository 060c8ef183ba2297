/// How much of what a socket took is still on its way.

internal import CLinux
internal import Glibc

extension Socket {
    /// The octets in the kernel's send queue that the peer has not acknowledged (SIOCOUTQ, tcp(7)); 0 where the
    /// kernel does not tell.
    public func unsentBytes() -> Int {
        max(0, Int(clinux_unsent_bytes(descriptor.number)))
    }
}
