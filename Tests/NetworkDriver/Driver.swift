/// The loop: packets, signals and news of the kernel.

import Addresses
import Bytes
import Glibc
import LinuxIO
import Network

/// Writes a line at once, so that a kill loses none.
func say(_ text: String) {
    let line = Array("\(text)\n".utf8)
    _ = unsafe write(1, line, line.count)
}
func complain(_ text: String) {
    let line = Array("\(text)\n".utf8)
    _ = unsafe write(2, line, line.count)
}
func exitNow(_ status: Int32) -> Never { exit(status) }

struct Driver: ~Copyable {
    fileprivate let planPath: String
    fileprivate var setup: NetworkSetup
    fileprivate let queue: TunnelQueue
    fileprivate let monitor: NetworkMonitor
    fileprivate let signals: Signals
    fileprivate var poller: Poller

    /// Opens everything; nothing of the network is changed yet.
    static func open(statePath: String, planPath: String) throws -> Driver {
        let signals = try Signals()
        var device = try TunnelDevice.open(name: try PlanFile.read(planPath).tunnel, queues: 1, offload: .none)
        guard let queue = device.takeQueue() else { throw PlanFileError(description: "no queue") }
        let monitor = try NetworkMonitor()
        let poller = try Poller()
        try poller.add(queue.descriptor.number, token: 0, events: .readable)
        try poller.add(signals.descriptor.number, token: 1, events: .readable)
        for number in monitor.descriptors { try poller.add(number, token: 2, events: .readable) }
        return Driver(
            planPath: planPath, setup: NetworkSetup(statePath: statePath), queue: queue, monitor: monitor,
            signals: signals, poller: poller)
    }

    /// Sets the network up for the first time.
    mutating func start() throws {
        tell(try setup.apply(try PlanFile.read(planPath)))
        say("applied")
    }

    mutating func run() throws {
        var events = [PolledEvent](repeating: .none, count: 8)
        var refresh: Instant?
        while true {
            let count = poller.wait(into: &events, until: refresh)
            for event in events.prefix(count) {
                switch event.token {
                case 0: readPackets()
                case 1: if try !obey() { return }
                // Several changes that come together are looked at once.
                default: if !monitor.changes().isEmpty, refresh == nil { refresh = Clock.now() + .milliseconds(100) }
                }
            }
            guard let due = refresh, due <= Clock.now() else { continue }
            refresh = nil
            do throws(NetworkError) { tell(try setup.refresh()) } catch { say("refresh: \(error)") }
        }
    }

    private func tell(_ report: NetworkSetup.Report) {
        for line in report.done { say("done: \(line)") }
        for notice in report.notices { say("notice: \(notice)") }
    }

    private mutating func obey() throws -> Bool {
        while let signal = signals.next() {
            switch signal {
            case .hangUp:
                do {
                    tell(try setup.apply(try PlanFile.read(planPath)))
                    say("updated")
                } catch {
                    say("update: \(error)")
                }
            case .terminate, .interrupt:
                try setup.undo()
                say("undone")
                return false
            case .user1: break
            }
        }
        return true
    }

    private func readPackets() {
        var buffer = PacketBuffer()
        while case .packet(let length) = queue.read(into: &buffer) {
            say(describe(buffer.storage.span.extracting(0..<length)))
        }
    }

    /// Addresses, protocol and destination port, or type of ICMP.
    private func describe(_ bytes: Span<UInt8>) -> String {
        let names: [UInt8: String] = [1: "icmp", 6: "tcp", 17: "udp", 58: "icmp6"]
        guard bytes.count >= 20 else { return "packet ?" }
        let isIPv4 = bytes[0] >> 4 == 4
        guard isIPv4 || bytes.count >= 40 else { return "packet ?" }
        let header = isIPv4 ? Int(bytes[0] & 15) * 4 : 40
        let transport = bytes[isIPv4 ? 9 : 6]
        let source =
            isIPv4
            ? IPAddress(v4: bytes.uint32(at: 12)) : IPAddress(high: bytes.uint64(at: 8), low: bytes.uint64(at: 16))
        let target =
            isIPv4
            ? IPAddress(v4: bytes.uint32(at: 16)) : IPAddress(high: bytes.uint64(at: 24), low: bytes.uint64(at: 32))
        let port = bytes.count >= header + 4 ? bytes.uint16(at: header + 2) : 0
        return "packet \(source) > \(target) \(names[transport] ?? "\(transport)") \(port)"
    }
}
