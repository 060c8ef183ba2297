/// A plan on its way to whoever compares it with the machine.

import Addresses
import Bytes
import Testing

@testable import Network

@Suite("a plan as text")
struct ExaminationTests {
    private static let full: NetworkPlan = {
        var plan = Machines.plan(.gateway, [.init("lan", .all), .init("wlan0", .names)])
        plan.devices = [.init(address("10.9.0.2"), .none), .init(address("2001:db8::2"), .all)]
        plan.captured = [prefix("192.0.2.0/24")]
        plan.upstreams = [address("10.77.0.2")]
        plan.uplinks = ["wan"]
        plan.dnsPort = 10053
        plan.pagePort = 10080
        plan.refusesEncryptedDNS = true
        plan.masquerades = false
        plan.whenDown = .direct
        plan.ipv6 = false
        plan.own = .all
        plan.mtu = 1400
        return plan
    }()

    @Test("it comes back as it was", arguments: [full, Machines.plan(.host), Machines.plan(.none)])
    func roundTrip(plan: NetworkPlan) {
        #expect(NetworkPlan(lines: plan.lines) == plan)
    }

    @Test("the rules of lent addresses are kept, though not the addresses")
    func lent() throws {
        var plan = Self.full
        plan.lent = [.init(device: address("10.9.0.2"), address: address("192.0.2.9"), until: .never)]
        let read = try #require(NetworkPlan(lines: plan.lines))
        let machine = Machines.twoArms()
        #expect(NetworkScript(read, on: machine).rules == NetworkScript(plan, on: machine).rules)
    }

    @Test(
        "lines that say nothing known are no plan",
        arguments: [
            [], ["setup gateway"], ["setup gateway", "tunnel starship0 1500"],
            ["setup gateway", "tunnel starship0 1500", "mark 1 1", "colour red"],
            ["setup gateway", "tunnel starship0 1500", "mark 1"],
            ["setup sideways", "tunnel starship0 1500", "mark 1 1"],
            ["setup gateway", "tunnel starship0 much", "mark 1 1"],
            ["setup gateway", "tunnel starship0 1500", "mark 1 1", "lan wlan0"],
        ])
    func refuses(lines: [String]) {
        #expect(NetworkPlan(lines: lines) == nil)
    }

    @Test("whatever a daemon says of the network around it is known as that, and nothing else is")
    func notices() {
        let chain = ForeignChain(manager: .other, hook: .input, table: "ip filter", chain: "INPUT", mending: [])
        let conflict = NetworkError.conflict(fake: prefix("198.18.0.0/15"), with: "x")
        let all: [NetworkNotice] = [
            .missing(interface: "lan"), .noUplink, .noTunnel("starship0"), .foreignChain(chain),
            .unreadRules(tool: "iptables-legacy"), .otherRouter(interface: "lan", address: address("fe80::1")),
            .around(interface: "lan", gateway: nil), .conflict("\(conflict)"),
        ]
        for notice in all { #expect(NetworkExamination.isNotice("\(notice)"), "\(notice)") }
        #expect(!NetworkExamination.isNotice("switches are not kept: no space"))
    }
}
