/// Whether the kernel can do what a gateway needs, tried out where nobody is.
///
/// What a kernel lacks shows only when it is asked for. So it is asked for, in a network namespace of one thread of
/// this process, which is gone with the thread: a TUN device with its offloads and two queues, a rule and a route of
/// each family, and the firewall's whole text. The machine's own network is not touched.

import Addresses
public import LinuxIO
import Synchronization

public enum KernelTrial {
    /// What one thing needs and whether it is there.
    public struct Outcome: Equatable, Sendable {
        /// What was refused of the TUN device; nil: there is none at all, and `tunnelFailure` says why.
        public var refusals: TunnelRefusals?
        public var tunnelFailure: String?
        /// In the words of nft(8).
        public var firewallFailure: String?
        /// In the words of ip(8), IPv4 and IPv6.
        public var routingFailure: String?

        public init() {}
    }

    /// Tries; nil where this process may not make a namespace (it needs CAP_SYS_ADMIN).
    public static func run() -> Outcome? {
        let box = Box()
        guard
            let thread = try? WorkerThread.start(
                name: "trial",
                { [box] in
                    guard (try? NetworkNamespace.enterNew()) != nil else { return }
                    box.outcome.withLock { $0 = attempt() }
                })
        else { return nil }
        thread.join()
        return box.outcome.withLock { $0 }
    }

    private final class Box: Sendable {
        let outcome = Mutex<Outcome?>(nil)
    }

    private static func attempt() -> Outcome {
        var outcome = Outcome()
        let name = "trial0"
        let device: TunnelDevice
        do throws(SystemCallError) {
            device = try TunnelDevice.open(name: name, queues: 2)
            outcome.refusals = device.refusals
        } catch {
            outcome.tunnelFailure = "\(error)"
            return outcome
        }
        let pools = [IPPrefix(parsing: "198.18.0.0/15"), IPPrefix(parsing: "2001:2::/48")].compactMap(\.self)
        var plan = NetworkPlan(setup: .gateway, tunnel: name, fake: pools, lan: [.init("trial1", .all)])
        plan.dnsPort = 10053
        plan.pagePort = 10080
        plan.refusesEncryptedDNS = true
        guard let machine = try? KernelNetwork.read() else { return outcome }
        let script = NetworkScript(plan, on: machine)
        // Not by a companion: only this thread is in the new namespace.
        let tools = SystemTools()
        do throws(NetworkError) { try tools.firewall(script.firewall) } catch {
            outcome.firewallFailure = "\(error)"
        }
        let changes = NetworkChanges(from: machine, to: script)
        for isIPv4 in machine.hasIPv6 ? [true, false] : [true] {
            let lines = (changes.preparation + changes.rules).filter { $0.isIPv4 == isIPv4 }.map(\.line)
            if let failure = tools.batch(lines, isIPv4: isIPv4).error {
                outcome.routingFailure = outcome.routingFailure ?? "\(failure)"
            }
        }
        // The device lives until here.
        _ = device.queueCount
        return outcome
    }
}
