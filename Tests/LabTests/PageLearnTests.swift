/// Learning which domains an app needs, in a phone's browser.

import Foundation
import TestSupport
import Testing

extension LabTests {
    @Suite("learning on the page", .enabled(if: PageLab.isPossible))
    struct PageLearnTests {
        /// A gateway in domain mode.
        private static func lab() throws -> PageLab {
            try PageLab { settings, _ in settings.profile = "domains: [\"web.example\"]" }
        }

        @Test(
            "names that a phone opens are grouped, what is ticked is proxied for it alone, and the text is a profile's",
            arguments: PageLab.Manner.both)
        func learns(_ manner: PageLab.Manner) throws {
            let lab = try Self.lab()
            let walk = try lab.browse(
                """
                \(manner.commands)
                open http://shop.example/
                text
                open \(manner.address)/learn
                \(PageLab.survey)
                press Learn from this phone for 2 minutes
                \(PageLab.survey)
                open http://news.example/
                text
                open http://shop.example/
                open http://img.shop.example/
                open \(manner.address)/learn
                text
                \(PageLab.survey)
                press Add the ticked domains to this phone's list
                text
                \(PageLab.survey)
                tick shop.example
                press Add the ticked domains to this phone's list
                text
                \(PageLab.survey)
                open http://shop.example/
                text
                open http://news.example/
                text
                open \(manner.address)/requests
                text
                """)
            #expect(walk.statuses == [200, 200, 200, 200, 200, 0, 200, 422, 200, 200, 200, 200], "\(walk.pages)")
            walk.expectGood(isDark: manner.isDark)
            let direct = walk.texts[0]
            #expect(direct.hasPrefix("peer ") && !direct.hasPrefix(RouteLab.proxied), "\(direct)")

            let learnt = walk.texts[2]
            #expect(learnt.contains("Learning: ends"), "\(learnt)")
            #expect(learnt.contains("news.example") && learnt.contains("img.shop.example"), "\(learnt)")
            #expect(!learnt.contains("domains: ["))
            #expect(walk.texts[3].contains("Not taken: found no domain that is ticked"), "\(walk.texts[3])")
            #expect(walk.ticks == [true])

            let added = walk.texts[4]
            #expect(added.contains("The domains are in this phone's list"), "\(added)")
            #expect(added.contains("domains: [\"shop.example\"],"), "\(added)")
            #expect(walk.texts[5].hasPrefix(RouteLab.proxied), "\(walk.texts[5])")
            #expect(!walk.texts[6].hasPrefix(RouteLab.proxied), "\(walk.texts[6])")
            #expect(lab.routes.proxyWasAsked("shop.example:80") && !lab.routes.proxyWasAsked("news.example:80"))
            #expect(walk.texts[7].contains("Proxied\nshop.example"), "\(walk.texts[7])")

            let own = try lab.assignments()
            #expect(own.count == 1 && own[0].contains("lab"), "for its lease: \(own)")
            let history = try lab.history()
            #expect(history.count == 1 && history[0].hasSuffix("has shop.example proxied (lab)"), "\(history)")
            try expectPasted(added, lab)
        }

        /// What stands on the page is what a profile has: the other device goes the same way with it, and not before.
        private func expectPasted(_ page: String, _ lab: PageLab) throws {
            let before = try lab.browse(on: .tablet, "open http://shop.example/\ntext").texts[0]
            #expect(before.hasPrefix("peer ") && !before.hasPrefix(RouteLab.proxied), "\(before)")
            let line = try #require(page.split(separator: "\n").first { $0.hasPrefix("domains: [") })
            var settings = lab.settings
            settings.profile = String(line)
            try lab.daemon.reload(settings)
            let after = try lab.browse(on: .tablet, "open http://shop.example/\ntext").texts[0]
            #expect(after.hasPrefix(RouteLab.proxied), "\(after)")
        }
    }
}
