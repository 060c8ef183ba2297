/// The self-check: a page with three images, and what their coming or not coming says.

import Addresses
import Bytes
import Control
import Devices
import Gateway
import LinuxIO
import Page

extension Administrator {
    /// How long the images may take to come.
    private static let patience = Interval.seconds(5)

    /// Begins a self-check, or shows what came of the asking device's own.
    mutating func check(_ nonce: String?, _ caller: PageCaller, _ gateway: inout Gateway) -> PageAnswer {
        var view = CheckView(device: caller.view, stage: .unknown)
        if let nonce {
            view.stage = stage(of: nonce, caller, &gateway)
        } else {
            var random = SystemRandom()
            let nonce = String(random.next() as UInt64, radix: 36)
            let now = Clock.now()
            page.checks.note(PageDesk.Check(device: caller.device.identity, begun: now), of: nonce, at: now)
            guard let images = Self.images(nonce, gateway) else {
                return RefusalView(
                    title: "Nothing to check",
                    words: "This gateway answers no names, so there is nothing to tell its ways apart by (dns.mode).",
                    status: 404
                )
                .answer(in: caller.context)
            }
            view.stage = .asking(nonce: nonce, images)
        }
        return view.answer(in: caller.context)
    }

    /// The image by IPv6, for the device whose check it is.
    func checkFrame(_ nonce: String?, _ caller: PageCaller, _ gateway: borrowing Gateway) -> PageAnswer {
        guard let nonce, page.checks.value(of: nonce, at: Clock.now())?.device == caller.device.identity,
            let images = Self.images(nonce, gateway), let frame = CheckView.frame(images)
        else { return PageRefusal.unknownPath.answer(in: caller.context) }
        return frame
    }

    private static func images(_ nonce: String, _ gateway: borrowing Gateway) -> CheckView.Images? {
        guard let addresses = gateway.checkAddresses else { return nil }
        return CheckView.Images(
            nonce: nonce, route: addresses.route.description, ipv6: addresses.ipv6.map { "[\($0)]" })
    }

    private mutating func stage(
        of nonce: String, _ caller: PageCaller, _ gateway: inout Gateway
    ) -> CheckView.Stage {
        let now = Clock.now()
        guard let check = page.checks.value(of: nonce, at: now), check.device == caller.device.identity else {
            return .unknown
        }
        let addresses = addresses(of: caller.device).union([caller.address])
        let found = gateway.selfCheck(of: nonce, by: addresses)
        if !found.hasBegun, now - check.begun < Self.patience, let images = Self.images(nonce, gateway) {
            return .asking(nonce: nonce, images)
        }
        return .results(Self.results(found))
    }

    /// What is not known is not said.
    static func results(_ found: SelfCheck) -> [CheckView.Result] {
        var results: [CheckView.Result] = []
        switch found.names {
        case .ours: results.append(CheckView.Result(.names))
        case .foreignResolver(let address):
            results.append(CheckView.Result(.names, fault: .foreignResolver, detail: "\(address)"))
        case .privateDNS(let address):
            results.append(CheckView.Result(.names, fault: .privateDNS, detail: "\(address)"))
        case .other: results.append(CheckView.Result(.names, fault: .otherResolver))
        }
        results.append(CheckView.Result(.route, fault: found.usesOurRoute ? nil : .otherRoute))
        switch found.ipv6 {
        case .none, .throughUs: results.append(CheckView.Result(.ipv6))
        case .around(let detour):
            var seen = "\(detour)"
            if let router = found.router, !seen.hasSuffix("\(router)") { seen += "; \(router)" }
            results.append(CheckView.Result(.ipv6, fault: .foreignIPv6, detail: seen))
        case .unknown: break
        }
        return results
    }

    /// The image under the name of a check, which only a page of ours has told.
    mutating func image(
        of label: String, _ visit: PageVisit, _ gateway: inout Gateway
    ) throws(PageRefusal) -> PageAnswer {
        guard case .checkImage = try PageRequest(method: visit.head.method, target: visit.target) else {
            throw .unknownPath
        }
        gateway.checkImage(nonce: label, by: visit.client.address)
        return CheckView.image
    }
}
