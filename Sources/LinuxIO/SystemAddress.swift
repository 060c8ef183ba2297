/// Socket addresses in the kernel's form and back.

internal import Addresses
internal import CLinux
internal import Glibc

extension SocketAddress {
    /// Lends the address as a `sockaddr` for one call.
    func withSystemAddress<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        if address.isIPv4 {
            var form = sockaddr_in()
            form.sin_family = sa_family_t(AF_INET)
            form.sin_port = port.bigEndian
            form.sin_addr.s_addr = address.v4.bigEndian
            return unsafe Self.lend(&form, body)
        }
        var form = sockaddr_in6()
        form.sin6_family = sa_family_t(AF_INET6)
        form.sin6_port = port.bigEndian
        unsafe withUnsafeMutableBytes(of: &form.sin6_addr) { octets in
            unsafe octets.storeBytes(of: address.high.bigEndian, as: UInt64.self)
            unsafe octets.storeBytes(of: address.low.bigEndian, toByteOffset: 8, as: UInt64.self)
        }
        return unsafe Self.lend(&form, body)
    }

    private static func lend<Form, Result>(
        _ form: UnsafeMutablePointer<Form>, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        // Safe: every sockaddr form begins with the members of sockaddr, and its true length goes with it.
        unsafe form.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
            unsafe body(address, socklen_t(MemoryLayout<Form>.size))
        }
    }

    /// The family of a socket for this address.
    var family: CInt { address.isIPv4 ? AF_INET : AF_INET6 }

    /// Reads the kernel's form; nil for a family other than IPv4 and IPv6.
    init?(system: UnsafePointer<sockaddr>) {
        // Safe: the family says which form the memory holds.
        let bytes = unsafe UnsafeRawPointer(system)
        switch unsafe CInt(system.pointee.sa_family) {
        case AF_INET:
            let form = unsafe bytes.loadUnaligned(as: sockaddr_in.self)
            self.init(IPAddress(v4: UInt32(bigEndian: form.sin_addr.s_addr)), UInt16(bigEndian: form.sin_port))
        case AF_INET6:
            let form = unsafe bytes.loadUnaligned(as: sockaddr_in6.self)
            let (high, low) = unsafe withUnsafeBytes(of: form.sin6_addr) { octets in
                unsafe (octets.load(as: UInt64.self), octets.load(fromByteOffset: 8, as: UInt64.self))
            }
            self.init(
                IPAddress(high: UInt64(bigEndian: high), low: UInt64(bigEndian: low)), UInt16(bigEndian: form.sin6_port)
            )
        default:
            return nil
        }
    }

    /// The address that a call such as getsockname fills in, or nil when it fails or names no IP address.
    static func filled(by call: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> CInt)
        -> (result: CInt, address: SocketAddress?)
    {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        // Safe: sockaddr_storage is made to hold every form.
        return unsafe withUnsafeMutablePointer(to: &storage) { storage in
            unsafe storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                let result = unsafe call(address, &length)
                return unsafe (result, result < 0 ? nil : SocketAddress(system: address))
            }
        }
    }
}
