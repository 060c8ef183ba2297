/// Any bytes as a config URL, and as a link that is checked.

import Bytes
import Profiles

private let clock = LinkVerifier.Clock(now: UnixTime(seconds: 1_790_000_000), isSynchronised: true)
private let verifier = LinkVerifier(keys: [], gateway: "lab-1", built: 0, profiles: ["whistle-qa": true])

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let text = unsafe String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    for source in [ConfigURL.Source.control, .device] {
        do throws(ConfigURLError) {
            guard case .link(let link) = try ConfigURL.parse(text, from: source) else { continue }
            precondition((try? Link.parse(link.text)) == link, "a link that does not read as it is written")
            check(link)
        } catch {
            refused("\(error)")
        }
    }
    return 0
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
