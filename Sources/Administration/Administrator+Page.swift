/// # The page's desk: who asks, what they see, what they change
///
/// Each device sees and changes itself alone; who asks is the device of the client's address, as for its questions and
/// its flows. Every change goes the way of all others, and is in the history as a device's, by `page`:
///
///     PageVisit ── PageGuard ──▶ a device ── PageRequest ─┬─▶ a view with what is so ───────────────▶ PageAnswer
///                                                         └─▶ token ─▶ LabState ─▶ change ──────────▶ 303
///                                                                └──────── refused ─▶ the view, with what was typed

import Addresses
import Bytes
import Control
import Devices
import Gateway
import LinuxIO
import Page
import Profiles

/// Who has a page before them.
struct PageCaller {
    var device: Device
    /// Where it asks from.
    var address: IPAddress
    /// Our address on its side.
    var local: IPAddress
    /// That address as links have it.
    var authority: String
    /// Our address of the other family on the LAN, as links have it; nil: there is none.
    var otherAuthority: String?
    var context: PageContext
    /// Seconds since 1970.
    var now: Int64

    /// Who the history says it was; a device may be called like a user.
    var by: String { "device \(device.label)" }

    /// What says to the administrator's functions which device it is.
    var text: String { "\(device.identity)" }

    var view: DeviceView { DeviceView(name: device.name, label: device.label, address: "\(address)") }
}

extension Administrator {
    /// Answers one request to the page; nil: the answer waits for the proxy that the request brings.
    mutating func answer(_ visit: PageVisit, _ gateway: inout Gateway) -> PageAnswer? {
        let caller = caller(of: visit, &gateway)
        do throws(PageRefusal) {
            switch try pageGuard(visit).check(visit.head) {
            case .check(let label): return try image(of: label, visit, &gateway)
            case .page: break
            }
            let request = try PageRequest(method: visit.head.method, target: visit.target, body: visit.body)
            if let fixed = Self.fixed(request) { return fixed }
            guard caller.address.isOfOneDevice else { return Self.strange(caller) }
            if waits(for: request, of: caller, visit) { return nil }
            return answer(request, caller, &gateway)
        } catch {
            return error.answer(in: caller.context)
        }
    }

    private func pageGuard(_ visit: PageVisit) -> PageGuard {
        PageGuard(addresses: visit.addresses, port: pagePort)
    }

    private var pagePort: UInt16 { plan.pagePort ?? PageOptions.usualPort }

    /// What is the same for everybody.
    private static func fixed(_ request: PageRequest) -> PageAnswer? {
        switch request {
        case .style: .style
        case .script: .script
        case .favicon: .nothing
        default: nil
        }
    }

    /// An address of the link alone says on no two links the same, and the machine itself is no device.
    private static func strange(_ caller: PageCaller) -> PageAnswer {
        RefusalView(
            title: "Which device is this?",
            words: "The gateway knows devices by addresses, and \(caller.address) is not one device's."
                + " Open http://\(caller.authority)/ from a device on its LAN."
        )
        .answer(in: caller.context)
    }

    // MARK: Who asks

    mutating func caller(of visit: PageVisit, _ gateway: inout Gateway) -> PageCaller {
        let address = visit.client.address
        let device = devices.device(identity(at: address, &gateway))
        let local = Self.printed(visit)
        let now = Clock.unixTime()
        let suffix = visit.head.host.hasSuffix(":\(pagePort)") ? ":\(pagePort)" : ""
        let authority = Self.text(local) + suffix
        let other = Self.usual(visit).first { $0.isIPv4 != address.isIPv4 }
        let context = PageContext(
            gateway: keys.gateway, authority: authority, now: now.seconds, utcOffset: Clock.zone(at: now),
            tokens: pageTokens, device: "\(device.identity)")
        var caller = PageCaller(
            device: device, address: address, local: local, authority: authority,
            otherAuthority: other.map { Self.text($0) + suffix }, context: context, now: now.seconds)
        caller.context.offers = offers(to: caller)
        return caller
    }

    /// Whose an address is; one that no device has is a device by itself.
    ///
    /// A phone's first packet may be the one that is answered here, before the kernel's news of it was read.
    private mutating func identity(at address: IPAddress, _ gateway: inout Gateway) -> DeviceIdentity {
        if case .mac(let mac, let interface)? = devices.identity(at: address) {
            return .mac(mac, interface: interface)
        }
        meet(address, &gateway)
        return devices.identity(at: address) ?? .address(address)
    }

    /// The address of ours that is printed: the one that was asked, unless it means nothing without its link.
    private static func printed(_ visit: PageVisit) -> IPAddress {
        if visit.addresses.contains(visit.local), !visit.local.isLinkLocal { return visit.local }
        return usual(visit).first ?? visit.local
    }

    /// Our addresses that mean something without a link, IPv4 first.
    private static func usual(_ visit: PageVisit) -> [IPAddress] {
        visit.addresses.filter { !$0.isLinkLocal }
            .sorted { ($0.isIPv4 ? 0 : 1, $0.high, $0.low) < ($1.isIPv4 ? 0 : 1, $1.high, $1.low) }
    }

    /// An address as URLs have it.
    private static func text(_ address: IPAddress) -> String { address.isIPv4 ? "\(address)" : "[\(address)]" }

    // MARK: What is answered

    private mutating func answer(
        _ request: PageRequest, _ caller: PageCaller, _ gateway: inout Gateway
    ) -> PageAnswer {
        switch request {
        case .home(let notice): home(caller, HomeWords(notice: notice), &gateway)
        case .confirm(let query): confirm(query, caller, gateway)
        case .requests(let notice): requests(caller, notice: notice, gateway)
        case .learn(let notice): learning(caller, notice: notice, gateway)
        case .bringProxy: ownProxy(caller)
        case .laptop(let port): laptop(caller, port: port, &gateway)
        case .certificate: certificate(caller, gateway)
        case .certificateFile: certificateFile(caller, gateway)
        case .codes: codes(caller)
        case .board: board(caller, gateway)
        case .proxyScript: proxyScript(caller)
        case .check(let nonce): check(nonce, caller, &gateway)
        case .checkFrame(let nonce): checkFrame(nonce, caller, gateway)
        case .checkImage: CheckView.image
        case .style, .script, .favicon: .nothing
        case .change(let change, let token): answer(change, token, caller, &gateway)
        }
    }

    private mutating func answer(
        _ change: PageChange, _ token: String, _ caller: PageCaller, _ gateway: inout Gateway
    ) -> PageAnswer {
        guard pageTokens.isGood(token, device: caller.text, action: change.action, at: caller.now) else {
            let error = ControlError(.forbidden, PageRefusal.token.words)
            var answer = refused(change, error, caller, &gateway)
            answer.status = PageRefusal.token.status
            return answer
        }
        let device = caller.device.identity
        guard page.mayChange(device, at: Clock.now()) else {
            var answer = refused(change, ControlError(.conflict, PageRefusal.tooOften.words), caller, &gateway)
            answer.status = PageRefusal.tooOften.status
            return answer.later
        }
        do throws(ControlError) {
            let answer = try carryOut(change, caller, &gateway)
            page.changed(device, at: Clock.now())
            return answer
        } catch {
            return refused(change, error, caller, &gateway)
        }
    }

    /// The view of a form that was not taken, with what was typed and why.
    private mutating func refused(
        _ change: PageChange, _ error: ControlError, _ caller: PageCaller, _ gateway: inout Gateway
    ) -> PageAnswer {
        let words = error.words
        return switch change {
        case .switchTo, .release, .tryAgain, .extend, .handOver:
            home(caller, HomeWords(refusal: words), &gateway)
        case .name(let typed): home(caller, HomeWords(naming: FormField(typed, error: words)), &gateway)
        case .activate(let query): refusal(of: query, words, caller)
        case .direct, .proxy: requests(caller, refusal: words, gateway)
        case .learn: learning(caller, refusal: words, gateway)
        case .addDomains(let domains): learning(caller, refusal: words, ticked: domains, gateway)
        case .bringProxy(let server, let domains):
            ownProxy(caller, server, domains, refused: error)
        case .bringLaptop(let port): laptop(caller, port, refused: error)
        }
    }
}

extension ControlError {
    /// What is wrong, with the advice where there is any.
    var words: String {
        guard let hint, !message.contains(hint) else { return message }
        return "\(message) (\(hint))"
    }
}

extension IPAddress {
    /// Whether it says which device has it: none that each link has, nor the machine itself.
    var isOfOneDevice: Bool {
        !isUnspecified && !isLoopback && !isLinkLocal && !isMulticast && !isLimitedBroadcast
    }
}
