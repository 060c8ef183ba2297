/// Any bytes as what the system's tools and files say to the doctor: everything is judged, in short lines.
///
/// Names among them are those that others gave: interfaces, devices, units.

import Addresses
import Bytes
import LinuxIO
import Network
import Profiles

@testable import Doctor
@testable import Network

func fuzzDoctor(_ bytes: [UInt8]) {
    let text = String(decoding: bytes, as: UTF8.self)
    var sight = Sight(Sight.Setup(file: "/etc/starship/starship.json5"))
    sight.setup.network = .gateway
    sight.setup.lan = ["lan0"]
    sight.service.show = text
    sight.limits.process = text
    sight.limits.memory = text
    sight.managers.networkManager = text
    sight.managers.networkd = text
    sight.managers.resolvConf = text
    sight.managers.uplinkServers = text
    sight.managers.asksSystem = true
    sight.tools.ip = text.split(separator: "\n").first.map(String.init)
    var running = Sight.Running()
    running.descriptors = bytes.count
    sight.daemon = .running(running)
    let chains = ForeignChain.find(text, lan: ["lan0"], [53, 80])
    let table = LegacyTables.parse(text, .ipv4, tool: "iptables")
    sight.foreign = (chains + ForeignChain.find(in: [table], lan: ["lan0"], [53, 80]), [])
    for finding in Diagnosis(of: sight).findings { precondition(!finding.words.isEmpty, "a finding without words") }
    for rule in text.split(separator: "\n").prefix(16) {
        _ = ListedTable.plain(rule)
        for range in ListedTable.ports(of: rule) ?? [] { precondition(range.lowerBound <= range.upperBound) }
    }
    for one in Insistence.elements(of: text) {
        precondition(one.age.map { $0 >= .zero && $0 <= .hours(1) } ?? true, "an hour that is longer")
        precondition(!one.description.utf8.contains(0x0a), "words that are no line")
    }
}
