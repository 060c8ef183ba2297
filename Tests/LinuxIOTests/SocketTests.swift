/// Streams over loopback and socket pairs.

import Addresses
import Bytes
import Foundation
import LinuxIO
import Testing

@Suite("Socket")
struct SocketTests {
    static let loopback = SocketAddress(IPAddress(v4: 0x7f00_0001), 0)
    static let loopback6 = SocketAddress(IPAddress(high: 0, low: 1), 0)

    /// Waits until the descriptor is ready for what is asked.
    static func await(_ number: CInt, _ interest: Interest) throws {
        var poller = try Poller()
        try poller.add(number, token: 1, events: interest)
        var events = [PolledEvent.none]
        let count = poller.wait(into: &events, until: Clock.now() + .seconds(20))
        try #require(count == 1)
    }

    static func address(of socket: borrowing Socket) throws -> SocketAddress {
        guard let address = socket.localAddress else { throw SystemCallError("getsockname", errno: .badDescriptor) }
        return address
    }

    static func accept(_ listener: borrowing Socket) throws -> Socket {
        try Self.await(listener.descriptor.number, .readable)
        guard case .accepted(let socket, from: _) = listener.accept() else {
            throw SystemCallError("accept", errno: .connectionAborted)
        }
        return socket
    }

    @Test("connects and accepts over both families", arguments: [loopback, loopback6])
    func connects(address: SocketAddress) throws {
        let listener = try Socket.listen(on: address)
        let target = try Self.address(of: listener)
        let client = try Socket.connectTCP(to: target)
        try Self.await(client.descriptor.number, .writable)
        let error = client.connectError()
        #expect(error == nil)
        let server = try Self.accept(listener)
        let (here, there) = (client.localAddress, server.peerAddress)
        #expect(here == there)
        let (peer, own) = (client.peerAddress, target)
        #expect(peer == own)
        guard case .nothing = listener.accept() else {
            Issue.record("nobody else waits")
            return
        }
    }

    @Test func aRefusedConnectionSaysSo() throws {
        let listener = try Socket.listen(on: Self.loopback)
        let target = try Self.address(of: listener)
        _ = consume listener
        let reason: ErrorNumber?
        do throws(SystemCallError) {
            let client = try Socket.connectTCP(to: target)
            try? Self.await(client.descriptor.number, .writable)
            reason = client.connectError()
        } catch {
            reason = error.errno
        }
        #expect(reason == .connectionRefused)
    }

    @Test func anAddressInUseIsNamed() throws {
        let listener = try Socket.listen(on: Self.loopback)
        let taken = try Self.address(of: listener)
        let error = #expect(throws: SystemCallError.self) { _ = try Socket.listen(on: taken) }
        #expect(error?.errno == .addressInUse)
        #expect(error?.subject == "\(taken)")
    }

    @Test func severalListenersShareAnAddress() throws {
        let first = try Socket.listen(on: Self.loopback, reusePort: true)
        let address = try Self.address(of: first)
        let second = try Socket.listen(on: address, reusePort: true)
        let same = second.localAddress
        #expect(same == address)
    }

    @Test func bytesGoThroughChunksOfAPool() throws {
        let pair = try Socket.pair()
        var pool = BufferPool(budget: 1 << 20)
        var sent = ByteQueue()
        var received = ByteQueue()
        let bytes = (0..<40_000).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8) }
        _ = sent.append(bytes.span, in: &pool)
        while received.count < bytes.count {
            if sent.count > 0 {
                let runs = sent.runs(from: 0, count: sent.count, in: pool)
                if case .bytes(let count) = pair.first.write(runs, pool: pool) { sent.removeFirst(count, in: &pool) }
            }
            let space = received.reserve(30_000, in: &pool)
            var filled = 0
            if case .bytes(let count) = pair.second.read(into: space, pool: &pool) { filled = count }
            received.commit(filled, of: space, in: &pool)
        }
        var whole: [UInt8] = []
        let runs = received.runs(from: 0, count: received.count, in: pool)
        for index in 0..<runs.runCount { pool.withBytes(runs[index]) { whole.append(copying: $0) } }
        #expect(whole == bytes)
        sent.removeAll(in: &pool)
        received.removeAll(in: &pool)
    }

    @Test func nothingYetTheEndAndAPeerThatIsGoneAreOutcomes() throws {
        let pair = try Socket.pair()
        var bytes: [UInt8] = []
        let early = pair.first.read(appendingTo: &bytes, limit: 10)
        #expect(early == .wouldBlock)
        _ = pair.second.write([1, 2, 3].span)
        pair.second.shutdownSend()
        let peeked = pair.first.peek(appendingTo: &bytes, limit: 2)
        #expect(peeked == .bytes(2))
        let some = pair.first.read(appendingTo: &bytes, limit: 10)
        #expect(some == .bytes(3))
        #expect(bytes == [1, 2, 1, 2, 3])
        let end = pair.first.read(appendingTo: &bytes, limit: 10)
        #expect(end == .end)
        let first = pair.takeFirst()
        let late = first.write([4].span)
        #expect(late == .failed(.brokenPipe))
    }

    @Test func aFullPeerIsNotNow() throws {
        let pair = try Socket.pair()
        let block = [UInt8](repeating: 9, count: 65_536)
        var outcome = WriteOutcome.bytes(0)
        while case .bytes = outcome { outcome = pair.first.write(block.span) }
        #expect(outcome == .wouldBlock)
    }

    @Test func closingWithResetIsSeenAsReset() throws {
        let listener = try Socket.listen(on: Self.loopback)
        let client = try Socket.connectTCP(to: try Self.address(of: listener))
        try Self.close(try Self.accept(listener))
        try Self.await(client.descriptor.number, .readable)
        var bytes: [UInt8] = []
        let outcome = client.read(appendingTo: &bytes, limit: 1)
        #expect(outcome == .failed(.connectionReset))
    }

    private static func close(_ socket: consuming Socket) throws { socket.resetOnClose() }

    @Test("a path is taken from those who are gone, also while a child of theirs has the socket, and from nobody else")
    func pathsOfTheDead() throws {
        let name = "starship-\(UUID().uuidString.prefix(8))"
        let directory = FileManager.default.temporaryDirectory.appending(path: name)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let path = directory.appending(path: "s").path
        let script = """
            import os, socket, sys, time
            s = socket.socket(socket.AF_UNIX)
            s.bind(sys.argv[1])
            s.listen()
            if os.fork() == 0:
                for _ in range(600):
                    if os.path.exists(sys.argv[1]): time.sleep(0.05)
            """
        let outcome = try Tool.run("python3", ["-c", script, path], input: "")
        #expect(outcome.status == 0, "\(outcome.errors)")
        // The child still listens there.
        _ = try Socket.connectUnix(to: path)
        let listener = try Socket.listenUnix(at: path)
        #expect(throws: SystemCallError("bind", path, errno: .addressInUse)) { _ = try Socket.listenUnix(at: path) }
        withExtendedLifetime(listener) {}
    }

    @Test(
        "where a connection wanted to go before the firewall sent it elsewhere is known, in both families",
        .enabled(if: Namespace.isAvailable, "needs the right to make network namespaces"))
    func originalDestination() throws {
        let found = try Namespace.run {
            try Namespace.ip("link set lo up")
            var found: [[SocketAddress?]] = []
            for (target, here) in [
                (IPAddress(v4: 0x7f00_0009), Self.loopback), (IPAddress(high: 0, low: 1), Self.loopback6),
            ] {
                let listener = try Socket.listen(on: SocketAddress(here.address, 10080))
                let plain = try Socket.connectTCP(to: SocketAddress(here.address, 10080))
                found.append([try Self.accept(listener).originalDestination])
                withExtendedLifetime(plain) {}
                let table = """
                    table inet t {
                      chain c { type nat hook output priority -100; tcp dport 80 redirect to :10080; }
                    }
                    """
                let outcome = try Tool.run("nft", ["-f", "-"], input: table)
                try #require(outcome.status == 0, "\(outcome.errors)")
                let client = try Socket.connectTCP(to: SocketAddress(target, 80))
                let socket = try Self.accept(listener)
                found.append([socket.localAddress, socket.originalDestination])
                withExtendedLifetime(client) {}
                _ = try Tool.run("nft", ["delete", "table", "inet", "t"])
            }
            return found.map { $0.map { address in address.map { "\($0)" } ?? "nil" } }
        }
        // Without a firewall the kernel may keep no connections.
        #expect(found[0][0] == "127.0.0.1:10080" || found[0][0] == "nil")
        #expect(found[1] == ["127.0.0.1:10080", "127.0.0.9:80"])
        #expect(found[2][0] == "[::1]:10080" || found[2][0] == "nil")
        #expect(found[3] == ["[::1]:10080", "[::1]:80"])
    }
}
