/// Proxies that people bring along, as the page shows and takes them.

import Addresses
import Control
import Devices
import Gateway
import Page
import Profiles

extension Administrator {
    func ownProxy(
        _ caller: PageCaller, server: FormField = FormField(), domains: FormField = FormField()
    ) -> PageAnswer {
        OwnProxyView(device: caller.view, terms: ownProxyTerms, server: server, domains: domains)
            .answer(in: caller.context)
    }

    /// What a device's own proxy was refused for, beside the field that is wrong.
    func ownProxy(
        _ caller: PageCaller, _ server: String, _ domains: String, refused error: ControlError
    ) -> PageAnswer {
        let isAboutDomains = error.path == "domains"
        let words = error.path == "server" ? error.besideField : error.words
        return ownProxy(
            caller, server: FormField(server, error: isAboutDomains ? nil : words),
            domains: FormField(domains, error: isAboutDomains ? words : nil))
    }

    /// Gives a device the proxy that it has typed in, which takes connections as far as is known.
    mutating func bring(
        _ server: String, _ domains: String, _ caller: PageCaller, _ gateway: inout Gateway
    ) throws(ControlError) -> PageAnswer {
        try checkRoom(for: caller.device)
        try bringProxy(server, domains: domains, for: caller.device.identity, caller.by, &gateway)
        return .done(.switched)
    }

    /// What the machine that asks is shown of its own proxy.
    mutating func laptop(_ caller: PageCaller, port: String?, _ gateway: inout Gateway) -> PageAnswer {
        if let there = inOtherFamily(caller, port: port) { return there }
        return laptop(at: caller.address, port: port, authority: caller.authority, &gateway).answer(in: caller.context)
    }

    /// The same page by IPv4, for a machine that has come by IPv6 where proxies have IPv4 alone, or the other way
    /// round.
    ///
    /// By the name of the page a browser takes whichever it likes; the proxy's address is to be the one that is asked
    /// from.
    private func inOtherFamily(_ caller: PageCaller, port: String?) -> PageAnswer? {
        guard let from = plan.effective.configuration.adhoc?.from,
            from.allSatisfy({ $0.base.isIPv4 != caller.address.isIPv4 })
        else { return nil }
        return caller.otherAuthority.flatMap { PageAnswer.laptop(at: $0, port: port) }
    }

    /// What a laptop was refused for, with its port.
    func laptop(_ caller: PageCaller, _ port: String, refused error: ControlError) -> PageAnswer {
        LaptopView(
            address: "\(caller.address)", terms: ownProxyTerms,
            stage: .asking(port: FormField(port, error: error.words))
        )
        .answer(in: caller.context)
    }

    /// A laptop's word is taken, and its page fetched anew; what is wrong with it is said at once.
    mutating func bringLaptop(_ port: String, _ caller: PageCaller, _ gateway: inout Gateway) -> PageAnswer {
        let view = bringLaptop(at: caller.address, port: port, &gateway)
        if case .trying = view.stage { return .laptopTried }
        return view.answer(in: caller.context)
    }

    /// What a laptop's code offers a phone; nil: the link is another one.
    func ownOffer(
        _ query: String, _ caller: PageCaller, _ gateway: borrowing Gateway
    ) throws(ControlError) -> ConfirmView.Offer? {
        guard let own = try ownOffer(query, for: caller.device.identity) else { return nil }
        return ConfirmView.Offer(profile: view(of: own.profile, gateway), signer: own.laptop, lease: own.lease)
    }
}
