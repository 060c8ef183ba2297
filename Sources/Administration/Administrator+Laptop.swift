/// The laptop's side of an own proxy: it confirms, its proxy is tried, and one phone takes it with a code.

import Addresses
import Bytes
import Control
import Devices
import Gateway
import LinuxIO
import Page
import Profiles
import QRCode
import Upstreams
import Wire

/// What a laptop's code brings to the phone that has scanned it.
struct OwnOffer {
    /// As the phone would get it.
    var profile: Profile
    /// What the laptop is called.
    var laptop: String
    /// For how long, in seconds.
    var lease: Int64
    /// The last second at which it can be taken, counted from 1970.
    var expires: Int64
}

extension Administrator {
    // MARK: The laptop's page

    /// What the page at `/l` shows to the machine that asks from an address.
    ///
    /// The profiles of its phones follow to that address, where it is known by its MAC. `port` is what the page's
    /// address says; nil: whatever the machine has confirmed. `authority` is the gateway's address with the page's
    /// port, for codes.
    mutating func laptop(
        at address: IPAddress, port: String?, authority: String, _ gateway: inout Gateway
    ) -> LaptopView {
        var view = LaptopView(address: "\(address)", terms: ownProxyTerms, stage: .refused(""))
        do throws(ControlError) {
            let laptop = try offerer(at: address)
            followLaptop(laptop, to: address, &gateway)
            view.phones = phones(of: laptop)
            view.stage = stage(of: laptop, at: address, port: port, authority: authority)
        } catch {
            view.stage = .refused(error.message)
        }
        return view
    }

    /// Takes a laptop's word that a proxy runs on it, and has that tried on a thread of its own.
    ///
    /// The view's stage is `trying`, or what is wrong stands beside the port.
    mutating func bringLaptop(at address: IPAddress, port: String, _ gateway: inout Gateway) -> LaptopView {
        var view = LaptopView(address: "\(address)", terms: ownProxyTerms, stage: .refused(""))
        do throws(ControlError) {
            let laptop = try offerer(at: address)
            followLaptop(laptop, to: address, &gateway)
            view.phones = phones(of: laptop)
            do throws(ControlError) {
                let server = try server(at: address, port: port)
                let mayBegin = laptops.begin(lintPlan(server), server, of: laptop, at: Clock.now())
                guard mayBegin else {
                    throw ControlError(
                        .unavailable, "found too many proxies that are tried now; expected fewer: again in a minute")
                }
                view.stage = .trying(server: "\(server)")
            } catch {
                view.stage = .asking(port: FormField(port, error: error.besideField))
            }
        } catch {
            view.stage = .refused(error.message)
        }
        return view
    }

    /// The machine that may offer a proxy from an address.
    private func offerer(at address: IPAddress) throws(ControlError) -> DeviceIdentity {
        let adhoc = try adhocOptions()
        guard adhoc.allows(address) else {
            throw ControlError(
                .forbidden, "found \(address), this machine's address; expected one in \(adhoc.fromText)")
        }
        return try find("\(address)")
    }

    private func server(at address: IPAddress, port text: String) throws(ControlError) -> Profiles.Upstream.Server {
        let digits = text.filter { !$0.isWhitespace }
        guard (1...5).contains(digits.utf8.count), digits.utf8.allSatisfy({ 0x30...0x39 ~= $0 }),
            let port = UInt16(digits), port > 0
        else {
            throw ControlError(
                AdhocError(found: "no port", expected: "the number that the proxy's window shows, such as 8899"),
                path: "port")
        }
        let server = Profiles.Upstream.Server(host: .address(address), port: port)
        let profile = Profile(id: "own", name: "own", upstream: Profiles.Upstream(type: .http, server: server))
        try checkPlace(of: profile, for: nil, try adhocOptions())
        return server
    }

    private func lintPlan(_ server: Profiles.Upstream.Server) -> LintPlan {
        guard case .address(let address) = server.host else { preconditionFailure("a laptop without an address") }
        var lint = LintPlan(Wire.Target(host: .address(address), port: server.port))
        switch plan.effective.configuration.health.page?.url.host {
        case .name(let name)?: lint.site = .name(name)
        case .address(let address)?: lint.site = .address(address)
        case nil: break
        }
        // Somebody waits for the code: how long silence is borne is of no interest to them.
        lint.idle = .zero
        lint.timeout = .seconds(5)
        lint.mark = mark
        return lint
    }

    private mutating func stage(
        of laptop: DeviceIdentity, at address: IPAddress, port: String?, authority: String
    ) -> LaptopView.Stage {
        guard let stand = laptops.stand(of: laptop), stand.server.host == .address(address),
            port == nil || port == "\(stand.server.port)"
        else { return .asking(port: FormField(port ?? "")) }
        if case .trying(let job) = stand.stage {
            guard let report = job.report else { return .trying(server: "\(stand.server)") }
            do throws(LinkError) {
                try settle(report, of: stand, authority)
            } catch {
                return .refused("\(error)")
            }
        }
        let field = FormField("\(stand.server.port)")
        switch laptops.stand(of: laptop)?.stage {
        case .failed(let report)?:
            return .failed(port: FormField(field.value, error: report.obstacle), findings: report.findings)
        case .offering(let once)?:
            guard let offer = laptops.offer(once), offer.takenBy == nil, offer.end > Clock.now() else {
                return .asking(port: field)
            }
            return ticket(offer)
        case .trying?, nil: return .asking(port: field)
        }
    }

    /// Makes a code of what was found, where it is a proxy.
    private mutating func settle(
        _ report: LintReport, of stand: LaptopDesk.Stand, _ authority: String
    ) throws(LinkError) {
        guard report.type != nil else {
            laptops.set(.failed(report), of: stand.laptop)
            return
        }
        let name = "own proxy of \(devices.device(stand.laptop).label)"
        let profile = report.profile(id: "own", name: name, stand.server)
        var random = SystemRandom()
        let once = String(random.next() as UInt64, radix: 36)
        let expires = Clock.unixTime().seconds + LaptopDesk.codeTime.wholeSeconds
        let link = try Link(
            proxy: LinkedProxy(type: profile.upstream.type, server: stand.server),
            grant: LinkGrant(key: laptops.key.id, expires: expires, once: once), key: laptops.key,
            form: .page(gateway: authority))
        laptops.keep(
            LaptopDesk.Offer(
                once: once, laptop: stand.laptop, profile: profile, report: report, link: link,
                end: Clock.now() + LaptopDesk.codeTime, expires: expires))
    }

    private func ticket(_ offer: LaptopDesk.Offer) -> LaptopView.Stage {
        let server = offer.profile.upstream.server.map { "\($0)" } ?? ""
        do throws(QRCodeError) {
            return .ready(
                try LaptopView.Ticket(
                    server: server, kind: UpstreamView.Kind(rawValue: offer.report.kind.rawValue) ?? .plain,
                    findings: offer.report.findings, link: offer.link.text, expires: offer.expires))
        } catch {
            return .refused("the link fits no code: \(error)")
        }
    }

    // MARK: The phone's side

    /// What a scanned link brings, if it is a laptop's code; nil: it is another link, or none.
    ///
    /// `query` stands behind `/a?`. Throws why the code is good for nothing: changed, over, taken, out of bounds by
    /// now, or this device is the laptop itself.
    func ownOffer(_ query: String, for device: DeviceIdentity) throws(ControlError) -> OwnOffer? {
        guard let offer = try offer(of: query) else { return nil }
        let adhoc = try adhocOptions()
        if let taken = offer.takenBy {
            throw ControlError(
                .forbidden, "found a code that \(taken) has taken; expected a new one: the laptop's page makes it")
        }
        guard offer.end > Clock.now() else {
            throw ControlError(
                .forbidden,
                "found a code that was good for \(LaptopDesk.codeTime.wholeSeconds / 60) minutes, and they"
                    + " are over; expected a new one: the laptop's page makes it")
        }
        guard !offer.laptop.isSameMachine(as: device) else {
            throw ControlError(.forbidden, "found the laptop's own code on the laptop; expected a phone that scans it")
        }
        var profile = offer.profile
        profile.id = ownProfileID(of: device)
        try checkPlace(of: profile, for: device, adhoc)
        return OwnOffer(
            profile: profile, laptop: devices.device(offer.laptop).label, lease: adhoc.lease.wholeSeconds,
            expires: offer.expires)
    }

    /// Gives a device what a laptop's code brings, and returns the last second of it; nil where it is no such code.
    ///
    /// The code is taken when this returns, and when it throws nothing has changed.
    mutating func takeOwnOffer(
        _ query: String, for device: DeviceIdentity, _ by: String, _ gateway: inout Gateway
    ) throws(ControlError) -> Int64? {
        guard let offer = try offer(of: query), let own = try ownOffer(query, for: device) else { return nil }
        let end = try give(own.profile, to: device, from: offer.laptop, by, &gateway)
        laptops.take(offer.once, for: devices.device(device).label)
        return end
    }

    /// The code that a link is; nil for a link that another key has signed, or none.
    private func offer(of query: String) throws(ControlError) -> LaptopDesk.Offer? {
        guard let link = try? Link.parse("starship://activate?" + query),
            case .proxy(_, let grant) = link.request, grant.key == laptops.key.id
        else { return nil }
        // When it ends is known here by the clock that does not jump, whatever the calendar says.
        let verifier = LinkVerifier(keys: [laptops.key], gateway: keys.gateway, built: 0, profiles: [:])
        let moment = LinkVerifier.Clock(now: UnixTime(seconds: grant.expires), isSynchronised: true)
        do throws(LinkError) {
            _ = try verifier.check(link, at: moment)
        } catch {
            throw ControlError(error, isForbidden: true)
        }
        guard let once = grant.once, let offer = laptops.offer(once) else {
            throw ControlError(
                .forbidden, "found a code that a newer one has replaced; expected the one on the laptop's page")
        }
        return offer
    }

    // MARK: Following

    /// Has the profiles of a laptop's phones lead to the address that it has now.
    ///
    /// It needs no confirmation: the request itself shows where the machine with this MAC is, as the neighbour table
    /// does.
    private mutating func followLaptop(
        _ laptop: DeviceIdentity, to address: IPAddress, _ gateway: inout Gateway
    ) {
        if let stand = laptops.stand(of: laptop), Self.isElsewhere(stand.server, than: address) {
            laptops.forget(laptop)
        }
        var state = plan.lab
        var moved: [String] = []
        for own in plan.lab.own where own.laptop?.isSameMachine(as: laptop) ?? false {
            guard case .mac = laptop, let index = state.profiles.firstIndex(where: { $0.id == own.profile }),
                let server = state.profiles[index].upstream.server, Self.isElsewhere(server, than: address)
            else { continue }
            state.profiles[index].upstream.server = .init(host: .address(address), port: server.port)
            do throws(ControlError) {
                try checkPlace(of: state.profiles[index], for: own.device, try adhocOptions())
                moved.append(own.profile)
            } catch {
                state.profiles[index].upstream.server = server
                gateway.say(.warning, "own-proxy") { $0.add("cause", "\(error)") }
            }
        }
        guard !moved.isEmpty else { return }
        let label = devices.device(laptop).label
        let note = LabStore.Note(
            by: label, how: "own proxy",
            summary: "\(label) is at \(address) now: \(moved.joined(separator: ", ")) follows")
        do throws(ControlError) {
            _ = try change(to: state, note, drain: .seconds(2), &gateway)
        } catch {
            gateway.say(.error, "own-proxy") { $0.add("cause", "\(error)") }
        }
    }

    /// Whether a proxy is at another address of the same family: a machine has one of each for itself.
    private static func isElsewhere(_ server: Profiles.Upstream.Server, than address: IPAddress) -> Bool {
        guard case .address(let former) = server.host else { return false }
        return former != address && former.isIPv4 == address.isIPv4
    }

    /// What the devices are called that have a proxy of this laptop.
    private func phones(of laptop: DeviceIdentity) -> [String] {
        plan.lab.own.filter { $0.laptop?.isSameMachine(as: laptop) ?? false }.map { devices.device($0.device).label }
    }
}

extension DeviceIdentity {
    /// Whether both are known by the same MAC, on whatever interface, or by the same address.
    fileprivate func isSameMachine(as other: DeviceIdentity) -> Bool {
        if case .mac(let mac, _) = self, case .mac(let otherMAC, _) = other { return mac == otherMAC }
        return self == other
    }
}
