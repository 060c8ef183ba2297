/// Any bytes as a config URL, and as a link that is checked.

import Addresses
import Bytes
import Profiles

private let clock = LinkVerifier.Clock(now: UnixTime(seconds: 1_790_000_000), isSynchronised: true)
private let verifier = LinkVerifier(keys: [], gateway: "lab-1", built: 0, profiles: ["whistle-qa": true])

func fuzzLink(_ input: [UInt8]) {
    let text = String(decoding: input, as: UTF8.self)
    for source in [ConfigURL.Source.control, .device] {
        do throws(ConfigURLError) {
            switch try ConfigURL.parse(text, from: source) {
            case .link(let link):
                precondition((try? Link.parse(link.text)) == link, "a link that does not read as it is written")
                precondition(link.text.utf8.count <= 3 * Link.sizeLimit, "a link without end")
                check(link)
            case .proxy(let url):
                precondition(source == .control, "a proxy from a device")
                check(url)
            }
        } catch {
            refused("\(error)")
        }
    }
}

/// What a URL says can stand in a configuration.
private func check(_ url: ProxyURL) {
    guard let server = url.upstream.server else { preconditionFailure("a proxy without a server") }
    precondition(server.port > 0, "a port that nobody listens on")
    precondition(url.name != "", "a name of no length")
    let host =
        switch server.host {
        case .address(let address): "\(address)"
        case .name(let name): name
        }
    precondition(Upstream.Server(host: host, port: Int(server.port)) == server, "a server that none can have")
}

/// Without a key, profiles alone can be good.
private func check(_ link: Link) {
    do throws(LinkError) {
        let request = try verifier.check(link, at: clock)
        precondition(request == .profile("whistle-qa"), "a link without a right")
    } catch {
        refused("\(error)")
    }
}

/// A refusal is one short line.
private func refused(_ text: String) {
    precondition(!text.isEmpty && text.utf8.count < 2000 && !text.utf8.contains(0x0a), "a refusal that is no line")
}
