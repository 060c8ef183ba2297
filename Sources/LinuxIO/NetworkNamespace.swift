/// Network namespaces as ip-netns(8) names them.

internal import CLinux
internal import Glibc

/// A network namespace that can be entered.
public struct NetworkNamespace: ~Copyable, Sendable {
    private let descriptor: OwnedDescriptor
    private let name: String

    /// The namespace that `ip netns add` has named.
    public init(named name: String) throws(SystemCallError) {
        try self.init(path: "/run/netns/\(name)", name: name)
    }

    /// The namespace that this thread is in now.
    public static func current() throws(SystemCallError) -> NetworkNamespace {
        try NetworkNamespace(path: "/proc/thread-self/ns/net", name: "current")
    }

    /// Moves this thread into a new namespace without a name, which lasts as long as somebody is in it.
    public static func enterNew() throws(SystemCallError) {
        let result = clinux_make_network_namespace()
        guard result == 0 else { throw SystemCallError("unshare", "network namespace", negative: result) }
    }

    private init(path: String, name: String) throws(SystemCallError) {
        let number = unsafe clinux_open(path, O_RDONLY, 0)
        guard number >= 0 else { throw SystemCallError("open", path, negative: number) }
        self.descriptor = OwnedDescriptor(owning: number)
        self.name = name
    }

    /// Moves this thread there; what it has open stays where it was opened.
    public func enter() throws(SystemCallError) {
        let result = clinux_enter_network_namespace(descriptor.number)
        guard result == 0 else { throw SystemCallError("setns", name, negative: result) }
    }
}
