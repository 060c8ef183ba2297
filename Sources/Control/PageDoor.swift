/// Where browsers come in.

internal import Addresses
public import LinuxIO

/// A listening socket of the page.
public final class PageDoor: Sendable {
    let socket: Socket

    init(_ socket: consuming Socket) { self.socket = socket }

    /// Listens on a port, for both families as far as the kernel has them.
    public static func open(port: UInt16, mark: UInt32? = nil) throws(SystemCallError) -> [PageDoor] {
        let anyone = SocketAddress(IPAddress(v4: 0), port)
        var doors = [PageDoor(try Socket.listen(on: anyone, backlog: 256, mark: mark))]
        do throws(SystemCallError) {
            let anyone = SocketAddress(IPAddress(high: 0, low: 0), port)
            doors.append(PageDoor(try Socket.listen(on: anyone, backlog: 256, mark: mark)))
        } catch {
            guard error.errno == .familyNotSupported else { throw error }
        }
        return doors
    }
}
