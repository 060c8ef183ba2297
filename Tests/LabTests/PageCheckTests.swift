/// The self-check in a browser, which loads the images by itself and by the resolver that the phone has.

import Foundation
import TestSupport
import Testing

extension LabTests {
    @Suite("the self-check in a browser", .enabled(if: PageLab.isPossible))
    struct PageCheckTests {
        /// What is wrong with a phone, and what the page says then.
        enum Trouble: CaseIterable, CustomStringConvertible, Sendable {
            case nothing
            case foreignResolver
            case privateDNS
            case foreignIPv6

            /// What has no DNS server of its own asks the gateway.
            var resolver: String {
                switch self {
                case .nothing, .foreignIPv6: "10.9.0.1"
                case .foreignResolver: "198.51.100.53"
                case .privateDNS: "127.0.0.1"
                }
            }

            /// The words for it; nil: there is no fault.
            var words: String? {
                switch self {
                case .nothing: nil
                case .foreignResolver: "This phone asks another DNS server than the gateway"
                case .privateDNS: "This phone asks a private DNS server over TLS"
                case .foreignIPv6: "This phone's IPv6 goes around the gateway"
                }
            }

            /// What was seen of it, and where a menu mends it.
            var parts: [String] {
                switch self {
                case .nothing: ["Good: This phone asks the gateway's DNS", "Good: IPv6 does not go around the gateway"]
                case .foreignResolver: ["Seen: 198.51.100.53", "Configure DNS: Automatic", "IP settings: DHCP"]
                case .privateDNS: ["Seen: 198.51.100.11", "Private DNS: Off", "DNS: Automatic"]
                case .foreignIPv6: ["Mobile data off", "stop announcing IPv6"]
                }
            }

            var description: String { words ?? "nothing is wrong" }
        }

        @Test("each trouble is named, and no other one", arguments: Trouble.allCases)
        func named(_ trouble: Trouble) throws {
            let lab = try PageLab { settings, _ in settings.profile = "domains: [\"web.example\"]" }
            let helper = try cause(trouble, lab)
            defer { helper?.end(.kill) }
            // Each trouble in one manner: half of them in each.
            let manner = PageLab.Manner.both[trouble == .nothing || trouble == .privateDNS ? 0 : 1]
            let walk = try lab.browse(
                asking: trouble.resolver,
                """
                \(manner.commands)
                begin \(PageLab.page)/check
                wait 5
                press Show the result
                text
                \(PageLab.survey)
                """)
            #expect(walk.statuses == [200, 200], "\(walk.pages)")
            walk.expectGood(isDark: manner.isDark)
            let shown = walk.texts[0]
            for part in trouble.parts { #expect(shown.contains(part), "\(part): \(shown)") }
            for other in Trouble.allCases {
                guard let words = other.words else { continue }
                #expect(shown.contains("Bad: \(words)") == (other == trouble), "\(words): \(shown)")
            }
            #expect(walk.pages[1].title.hasPrefix("This phone is fine") == (trouble == .nothing), "\(walk.pages)")
        }

        /// Has the phone be in trouble; what runs for it ends with the value.
        private func cause(_ trouble: Trouble, _ lab: PageLab) throws -> LabProgram? {
            switch trouble {
            case .nothing, .foreignResolver: return nil
            case .privateDNS:
                let program = try lab.lab.start(.device, Lab.python(["private_dns.py", "127.0.0.1", "198.51.100.11"]))
                try program.waitFor("ready")
                return program
            case .foreignIPv6:
                let route = ["ip", "-6", "route", "replace", "default", "via", "fd00:9::3"]
                #expect(try lab.lab.run(.device, route).status == 0)
                return nil
            }
        }
    }
}
