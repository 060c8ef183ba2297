/// What holds for every link: it reads as it was written, and no change to it goes unnoticed.

import Bytes
import Profiles
import TestSupport
import Testing

struct LinkPropertyTests {
    private static let secret = [UInt8](0..<32)
    private static let clock = LinkVerifier.Clock(now: UnixTime(seconds: 1_790_000_000), isSynchronised: true)

    private static func verifier() throws -> LinkVerifier {
        LinkVerifier(keys: [try LinkKey(id: "k", secret: secret)], gateway: "lab-1", built: 0, profiles: ["qa": true])
    }

    /// Any proxy that a link can bring along.
    private static func proxy(_ generator: inout TestSupport.SeededGenerator) throws -> LinkedProxy {
        let hosts = ["h", "whistle.qa.example", "192.0.2.1", "[2001:db8::1]", "xn--bcher-kva.example"]
        let port = generator.number(1..<65536)
        let url = try ProxyURL.parse("http://\(hosts[generator.number(0..<hosts.count)]):\(port)")
        let pieces = ["a", "%", "&", "=", "+", "#", "?", " ", "é", "e\u{301}", "😀", "%26", "\u{200d}", "~", "/", "漢"]
        let name = (0..<generator.number(1..<12)).map { _ in pieces[generator.number(0..<pieces.count)] }.joined()
        let entries = ["example.com", "*.example.org", "full:a.example", "keyword:shop", "10.0.0.0/8", "2001:db8::/32"]
        guard let server = url.upstream.server else { throw ProxyURLError.scheme }
        return LinkedProxy(
            name: generator.chance(0.7) ? name : nil, type: generator.chance(0.5) ? .http : .socks5, server: server,
            domains: entries.filter { _ in generator.chance(0.4) })
    }

    private static func grant(_ generator: inout TestSupport.SeededGenerator) -> LinkGrant {
        LinkGrant(
            key: "k", expires: Int64(generator.number(1_790_000_000..<4_102_444_800)),
            gateway: generator.chance(0.3) ? "lab-1" : nil,
            once: generator.chance(0.3) ? "n\(generator.number(0..<1000))" : nil)
    }

    private static func link(_ generator: inout TestSupport.SeededGenerator) throws -> Link {
        let form = generator.chance(0.5) ? Link.Form.starship : .page(gateway: "10.9.0.1:10080")
        return try Link(
            proxy: proxy(&generator), grant: grant(&generator), key: LinkKey(id: "k", secret: secret), form: form)
    }

    @Test("what is built is read back, checked and written again the same", arguments: UInt64(1)...4)
    func identity(seed: UInt64) throws {
        var generator = TestSupport.SeededGenerator(seed: seed)
        let verifier = try Self.verifier()
        for _ in 0..<50 {
            let (proxy, grant) = (try Self.proxy(&generator), Self.grant(&generator))
            let key = try LinkKey(id: "k", secret: Self.secret)
            let link = try Link(proxy: proxy, grant: grant, key: key)
            #expect(link.request == .proxy(proxy, grant), "seed \(seed): \(link.text)")
            let read = try Link.parse(link.text)
            #expect(read == link && Array(read.text.utf8) == Array(link.text.utf8), "seed \(seed): \(link.text)")
            #expect(try verifier.check(read, at: Self.clock) == .proxy(proxy, grant), "seed \(seed): \(link.text)")
        }
    }

    @Test(
        "any changed bit of a signed link is refused, or only made a capital of a small letter",
        arguments: UInt64(1)...3)
    func bits(seed: UInt64) throws {
        var generator = TestSupport.SeededGenerator(seed: seed)
        let verifier = try Self.verifier()
        let link = try Self.link(&generator)
        let octets = Array(link.text.utf8)
        for index in octets.indices {
            for bit in 0..<8 {
                var changed = octets
                changed[index] ^= 1 << UInt8(bit)
                let text = String(decoding: changed, as: UTF8.self)
                guard let read = try? Link.parse(text), let request = try? verifier.check(read, at: Self.clock) else {
                    continue
                }
                // Scheme and action may be capitals, and so may be hexadecimal digits. The gateway in front of a page's
                // path is not signed: it only says where the browser goes, and `gw` binds a link to one.
                #expect(request == link.request, "seed \(seed): \(text)")
                let isPage = link.text.hasPrefix("http") && index < link.text.prefix { $0 != "?" }.utf8.count
                #expect(isPage || text.lowercased() == link.text.lowercased() && bit == 5, "seed \(seed): \(text)")
            }
        }
    }

    @Test("a signed link with anything added, left out or exchanged is refused", arguments: UInt64(1)...3)
    func pieces(seed: UInt64) throws {
        var generator = TestSupport.SeededGenerator(seed: seed)
        let verifier = try Self.verifier()
        for _ in 0..<20 {
            let link = try Self.link(&generator)
            let head = link.text.prefix { $0 != "?" } + "?"
            let pieces = link.text.dropFirst(head.count).split(separator: "&")
            func isRefused(_ pieces: [Substring]) -> Bool {
                let read = try? Link.parse(head + pieces.joined(separator: "&"))
                return read.map { (try? verifier.check($0, at: Self.clock)) == nil } ?? true
            }
            #expect(!isRefused(pieces) && !isRefused(pieces.reversed()), "the order alone means nothing")
            for index in pieces.indices {
                var fewer = pieces
                let piece = fewer.remove(at: index)
                #expect(isRefused(fewer), "without \(piece)")
                #expect(isRefused(pieces + [piece]), "\(piece) twice")
                #expect(isRefused(fewer + [piece + "1"]), "\(piece) and a 1")
            }
            for more in ["gw=lab-1", "once=n", "name=x", "domains=a.example", "type=socks5", "profile=qa", "x=1"] {
                #expect(isRefused(pieces + [more[...]]), "\(more)")
            }
        }
    }

    @Test("changed links are read or refused, and never more", arguments: UInt64(1)...4)
    func mutations(seed: UInt64) throws {
        var generator = SeededGenerator(state: seed)
        var linkGenerator = TestSupport.SeededGenerator(seed: seed)
        let verifier = try Self.verifier()
        let originals = try [
            Self.link(&linkGenerator).text, Self.link(&linkGenerator).text, "http://10.9.0.1/a?v=1&profile=qa",
            "http://u:p@h:1#n", "starship://activate?v=1",
        ]
        for round in 0..<1500 {
            let original = Array(originals[round % originals.count].utf8)
            let text = String(decoding: MutationTests.mutate(original, with: &generator), as: UTF8.self)
            for source in [ConfigURL.Source.control, .device] {
                do throws(ConfigURLError) {
                    guard case .link(let link) = try ConfigURL.parse(text, from: source) else { continue }
                    #expect((try? Link.parse(link.text)) == link, "seed \(seed): \(text)")
                    _ = try? verifier.check(link, at: Self.clock)
                } catch {
                    #expect(
                        !error.description.contains("\n") && error.description.utf8.count < 800,
                        "seed \(seed): \(error)")
                }
            }
        }
    }
}
