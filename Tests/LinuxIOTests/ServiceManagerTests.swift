/// The datagrams of sd_notify(3): what is in them, and which socket they go to.

import Bytes
import Glibc
import LinuxIO
import Testing

struct ServiceManagerTests {
    /// The other end, as a service manager has it.
    private final class Listener {
        private let number: CInt
        let name: String

        /// Listens at a path, or with `@` in front in the abstract namespace.
        init(_ name: String) {
            self.name = name
            number = socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue), 0)
            var form = sockaddr_un()
            form.sun_family = sa_family_t(AF_UNIX)
            var octets = Array(name.utf8)
            if octets[0] == UInt8(ascii: "@") { octets[0] = 0 } else { octets.append(0) }
            unsafe withUnsafeMutableBytes(of: &form.sun_path) { unsafe $0.copyBytes(from: octets) }
            let length = socklen_t(2 + octets.count)
            // Safe: sockaddr_un begins as every sockaddr does.
            let result = unsafe withUnsafePointer(to: &form) {
                unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe bind(number, $0, length) }
            }
            precondition(result == 0, "bind \(name): \(errno)")
        }

        deinit {
            close(number)
            if name.hasPrefix("/") { _ = unsafe unlink(name) }
        }

        /// The next datagram that waits; nil when there is none.
        func next() -> String? {
            var bytes = [UInt8](repeating: 0, count: 4096)
            let count = unsafe recv(number, &bytes, bytes.count, CInt(MSG_DONTWAIT))
            return count < 0 ? nil : String(decoding: bytes[..<count], as: UTF8.self)
        }
    }

    private static func manager(_ socket: String, _ patience: String? = nil, of watched: String? = nil)
        -> ServiceManager?
    {
        ServiceManager(socket: socket, patience: patience, of: watched, process: 4711)
    }

    @Test("news arrive at a path and at an abstract name", arguments: ["/tmp/starship-notify-", "@starship-notify-"])
    func arrives(prefix: String) throws {
        let listener = Listener("\(prefix)\(getpid())-\(UInt32.random(in: 0 ... .max))")
        let manager = try #require(Self.manager(listener.name))
        #expect(manager.say(.ready))
        #expect(listener.next() == "READY=1")
        #expect(manager.say(.ready, .status("all is well")))
        #expect(listener.next() == "READY=1\nSTATUS=all is well")
        #expect(listener.next() == nil)
    }

    /// The assignments of sd_notify(3).
    @Test(
        "each kind of news is an assignment",
        arguments: [
            (ServiceNews.ready, "READY=1"), (.stopping, "STOPPING=1"), (.alive, "WATCHDOG=1"),
            (.status("lab is green"), "STATUS=lab is green"),
            (.status("two\nlines\r\nof text"), "STATUS=two lines of text"),
            (.reloading(since: Instant(nanoseconds: 12_345_678_999)), "RELOADING=1\nMONOTONIC_USEC=12345678"),
        ])
    func texts(news: ServiceNews, text: String) { #expect(news.text == text) }

    @Test("nobody there is no reason to wait or to fail")
    func nobody() throws {
        let manager = try #require(Self.manager("/nonexistent/notify"))
        #expect(!manager.say(.ready))
    }

    @Test(
        "sockets of other kinds are none of ours",
        arguments: ["", "/", "@", "vsock:2:1234", "notify", "/\(String(repeating: "x", count: 200))"])
    func otherSockets(name: String) { #expect(Self.manager(name) == nil) }

    /// sd_watchdog_enabled(3): the time in microseconds, and for which process it is meant.
    @Test(
        "the watchdog is ours unless another process is named",
        arguments: [
            ("30000000", nil, Interval.seconds(30)), ("30000000", "4711", .seconds(30)), ("30000000", "4712", nil),
            ("30000000", "x", nil), ("0", nil, nil), ("-5", nil, nil), ("soon", nil, nil), (nil, "4711", nil),
            ("18446744073709551615", nil, nil),
        ] as [(String?, String?, Interval?)])
    func patience(microseconds: String?, watched: String?, patience: Interval?) throws {
        let manager = try #require(Self.manager("@x", microseconds, of: watched))
        #expect(manager.patience == patience)
    }
}
