/// What there is to look at besides the device's own state: its proxy's certificate, codes to print, the board, and the
/// address of the proxy for those who stay on another Wi-Fi.

import Addresses
import Control
import Devices
import Digest
import Gateway
import Health
import LinuxIO
import Page
import Profiles
import QRCode
import Wire

extension Administrator {
    // MARK: The certificate

    mutating func certificate(_ caller: PageCaller, _ gateway: borrowing Gateway) -> PageAnswer {
        let profile = profile(of: caller.device)
        let state = profile.map { lookAtAuthority(of: $0.id, gateway) } ?? .none
        var kind = UpstreamView.Kind.plain
        var outcome = CertificateView.Outcome.notNeeded
        switch state {
        case .none: break
        case .asking(let place): (kind, outcome) = (UpstreamView.Kind(place.kind), .underway)
        case .failed(let words, let place): (kind, outcome) = (UpstreamView.Kind(place.kind), .missing(words))
        case .found(let certificate, let place):
            kind = UpstreamView.Kind(place.kind)
            outcome = Self.outcome(certificate, caller.now)
        }
        let view = CertificateView(
            device: caller.view, profile: profile?.name ?? nowWords(caller.device), kind: kind, outcome: outcome)
        return view.answer(in: caller.context)
    }

    /// A certificate that a phone cannot use is shown as none.
    private static func outcome(_ certificate: Certificate, _ now: Int64) -> CertificateView.Outcome {
        do throws(CertificateError) {
            try certificate.checkAuthority(at: now)
        } catch {
            return .missing("what the proxy gave is of no use: \(error)")
        }
        return .found(
            CertificateView.Certificate(
                subject: certificate.name, sha256: SHA256.digest(certificate.der.span), expires: certificate.notAfter))
    }

    mutating func certificateFile(_ caller: PageCaller, _ gateway: borrowing Gateway) -> PageAnswer {
        if let profile = profile(of: caller.device),
            case .found(let certificate, let place) = lookAtAuthority(of: profile.id, gateway),
            case .found = Self.outcome(certificate, caller.now)
        {
            return CertificateView.file(der: certificate.der, name: place.kind.rawValue)
        }
        return RefusalView(
            title: "No certificate",
            words: "There is none for this phone now; http://\(caller.authority)/ca says why.", status: 404
        )
        .answer(in: caller.context)
    }

    // MARK: Codes

    mutating func codes(_ caller: PageCaller) -> PageAnswer {
        var sheet = codesForEverybody(caller)
        // Other devices' stickers say who else is here.
        if let sticker = caller.device.name.flatMap(DeviceSticker.init) { try? sheet.add(sticker) }
        return CodesView(sheet: sheet).answer(in: caller.context)
    }

    /// The codes of the profiles that anybody may pick; drawing them takes milliseconds, so they are kept.
    private mutating func codesForEverybody(_ caller: PageCaller) -> CodeSheet {
        if let drawn = page.codes, drawn.authority == caller.authority, drawn.choices == choices { return drawn.sheet }
        var sheet = CodeSheet(gateway: keys.gateway)
        let form = Link.isGateway(caller.authority) ? Link.Form.page(gateway: caller.authority) : .starship
        for choice in choices {
            // One that fits no code can be picked all the same, on the first page.
            try? sheet.add(profile: choice.id, name: choice.name, form)
        }
        page.codes = PageDesk.DrawnCodes(authority: caller.authority, choices: choices, sheet: sheet)
        return sheet
    }

    // MARK: The board

    func mayViewBoard(_ caller: PageCaller) -> Bool {
        plan.effective.configuration.page?.shows(caller.address) ?? false
    }

    mutating func board(_ caller: PageCaller, _ gateway: borrowing Gateway) -> PageAnswer {
        guard mayViewBoard(caller) else {
            return RefusalView(
                title: "The board is for others",
                words: "It shows all devices, and \(caller.address) is in none of the networks that may see it"
                    + " (page.viewers)."
            )
            .answer(in: caller.context)
        }
        _ = lookForPage(gateway)
        return BoardView(rows: devices.devices.map(row)).answer(in: caller.context)
    }

    func row(_ device: Device) -> BoardView.Row {
        let until = device.assignment?.until
        guard let profile = profile(of: device) else {
            let isBlocked = profileRules.choice(for: device).route == .block
            return BoardView.Row(
                device: device.label, profile: isBlocked ? "blocked" : "direct", colour: nil, seen: device.seen)
        }
        let upstream = upstreamView(of: profile)
        return BoardView.Row(
            device: device.label, profile: profile.name, colour: upstream.address.map { _ in upstream.colour },
            cause: upstream.cause?.sentence(profile.name) ?? "", until: until, seen: device.seen)
    }

    // MARK: The proxy's address

    func proxyScript(_ caller: PageCaller) -> PageAnswer {
        guard let port = proxyPort(for: caller) else {
            return RefusalView(
                title: "No proxy for other networks",
                words: "This gateway has no HTTP proxy that \(caller.address) may use at \(caller.local): whoever looks"
                    + " after it can have one listen there, and allow it (http.listen, http.allow).",
                status: 404
            )
            .answer(in: caller.context)
        }
        return ProxyScript.answer(address: caller.local, port: port)
    }

    /// The port of the HTTP inbound at the address that a device has asked, if it may use it.
    func proxyPort(for caller: PageCaller) -> UInt16? {
        guard let http = running.http, http.outbound == .active, http.allows(caller.address) else { return nil }
        return http.listen.first { listener in
            listener.address == caller.local
                || listener.address.isUnspecified && listener.address.isIPv4 == caller.local.isIPv4
        }?.port
    }
}
