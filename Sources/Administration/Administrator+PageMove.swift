/// The page's listener follows the file: the new one is open before anything leads to it, and the former one stays
/// where the new one can't be had.

import Addresses
import Bytes
import Control
import Devices
import Gateway
import LinuxIO
import Profiles
import Upstreams

/// What becomes of the page's listener.
enum PageMove {
    case open([PageDoor])
    /// There is no page any more.
    case close
}

extension Administrator {
    /// A server behind these doors, for those whom the running configuration has on its LANs and at its HTTP proxy.
    func pageServer(_ doors: [PageDoor]) throws(SystemCallError) -> PageServer {
        try PageServer(
            doors: doors, lan: running.network.lan.map(\.interface), guests: Translation.pageGuests(running))
    }

    /// One address for all of a device: the link-local one that its MAC would make, which no visitor of the page has.
    func station(at address: IPAddress) -> IPAddress {
        guard case .mac(let mac, _)? = devices.identity(at: address) else { return address }
        return IPAddress(high: 0xfe80 << 48, low: mac.bits)
    }

    /// Opens what another plan needs for the page; nil: it stays where it is.
    func pageMove(to next: Plan, _ gateway: borrowing Gateway) throws(ControlError) -> PageMove? {
        guard next.pagePort != plan.pagePort else { return nil }
        guard let port = next.pagePort else { return .close }
        do throws(SystemCallError) {
            return .open(try PageDoor.open(port: port, mark: gateway.routing.direct.mark))
        } catch {
            throw ControlError(
                .conflict, "\(options.configuration): page.port: \(port) can't be listened on: \(error)",
                path: "page.port", found: "\(port)", expected: "a port that is free")
        }
    }

    /// Has the server take in who comes by the new doors; who is in stays.
    mutating func movePage(_ page: inout PageServer?, _ gateway: inout Gateway) {
        guard let move = pageMove else { return }
        pageMove = nil
        do throws(SystemCallError) {
            switch move {
            case .close: page = nil
            case .open(let doors) where page != nil: try page.value.move(to: doors)
            case .open(let doors): try openPage(&page, doors, gateway)
            }
        } catch {
            gateway.say(.error, "page") { line in
                line.add("cause", "\(error)")
                line.add("meaning", "the page is not served; a restart opens it")
            }
        }
    }

    private func openPage(
        _ page: inout PageServer?, _ doors: [PageDoor], _ gateway: borrowing Gateway
    ) throws(SystemCallError) {
        page = try pageServer(doors)
        do throws(GatewayError) {
            try gateway.watch(page.value.descriptor, as: Watches.Number.page)
        } catch {
            page = nil
            gateway.say(.error, "page") { $0.add("cause", "\(error)") }
        }
    }
}
