/// Self-checks, as the page asks for them.

public import Addresses
import Bytes
import LinuxIO
import Names
import Network

extension Gateway {
    /// The addresses whose port 80 serves a self-check's image to who comes through the TUN device.
    ///
    /// Nil without a DNS service, for then there is no pool; without an IPv6 one that family is not carried.
    public var checkAddresses: (route: IPAddress, ipv6: IPAddress?)? {
        guard tunnelName != nil, let check = shared.names?.range.check else { return nil }
        return (check.v4, shared.policy.settings.ipv6 ? check.v6 : nil)
    }

    /// Notes that the page was asked for the image under the name of a check.
    public mutating func checkImage(nonce: String, by client: IPAddress) {
        checkImages.note(nonce, .cameByName, by: client, at: Clock.now())
    }

    /// What was seen of a check in the last ten minutes, and what is known of the device, by its addresses.
    public mutating func selfCheck(of nonce: String, by device: Set<IPAddress>) -> SelfCheck {
        let box = CheckBox(nonce, waking: answers)
        for mailbox in shared.mailboxes { mailbox.send(.check(box)) }
        waitForWorkers { box.workers }
        let now = Clock.now()
        let asked = shared.service?.checkNotes(of: nonce, at: now) ?? []
        let notes = asked + checkImages.notes(of: nonce, at: now) + box.notes
        let insistences = keeper != nil ? keeper.value.insistences() : []
        let neighbours = (try? KernelNeighbour.readAll()) ?? []
        let evidence = CheckEvidence(
            of: device, neighbours, insistences, networks: shared.policy.settings.lanNetworks, now: now)
        let check = SelfCheck(notes, evidence)
        say(.info, "self-check") { line in
            line.add("devices", device.map(\.description).sorted().joined(separator: " "))
            line.add("names", "\(check.names)")
            line.add("route", "\(check.route)")
            line.add("ipv6", "\(check.ipv6)")
            if let router = check.router { line.add("router", "\(router.address) \(router.hardware)") }
        }
        return check
    }
}
