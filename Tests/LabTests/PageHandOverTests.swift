/// One phone goes to somebody else, beside another one that stays with its owner.

import Foundation
import TestSupport
import Testing

extension LabTests {
    @Suite("hand-over on the page", .enabled(if: PageLab.isPossible && Lab.has("openssl")))
    struct PageHandOverTests {
        @Test(
            "what was set for a phone ends and what it did is forgotten; the other phone keeps all of its own",
            arguments: PageLab.Manner.both)
        func handsOver(_ manner: PageLab.Manner) throws {
            var other: LabProgram?
            let lab = try PageLab { settings, lab in
                other = try PageLab.startWhistle(in: lab, .internet)
                settings.profiles = """
                    { id: "whistle", name: "Whistle QA", selfService: true,
                      upstream: { type: "http", host: "10.77.0.2", port: \(PageLab.whistlePort), kind: "whistle" } }
                    """
            }
            let whistle = try #require(other)
            let use = """
                \(manner.commands)
                open \(manner.address)/
                press Switch this phone to Whistle QA
                open http://news.example/
                text
                """
            let owner = try lab.browse(
                """
                \(use)
                open \(manner.address)/requests
                \(PageLab.survey)
                press Send news.example direct for this phone
                text
                \(PageLab.survey)
                wait 2.5
                open http://news.example/
                text
                """)
            owner.expectGood(isDark: manner.isDark)
            #expect(owner.texts[0].hasPrefix("peer ") && whistle.output.contains("GET http://news.example/"))
            #expect(owner.texts[1].contains("Direct\nfull:news.example"), "\(owner.texts[1])")
            #expect(!owner.texts[2].hasPrefix(RouteLab.proxied), "\(owner.texts[2])")
            let beside = try lab.browse(on: .tablet, use)
            #expect(beside.texts[0].hasPrefix("peer "))
            let talk = try lab.talk()
            #expect(try lab.assignments().count == 2)

            let successor = try lab.browse(
                """
                \(manner.commands)
                open \(manner.address)/
                text
                press Hand this phone over
                text
                \(PageLab.survey)
                open \(manner.address)/requests
                text
                \(PageLab.survey)
                open http://news.example/
                text
                """)
            #expect(successor.statuses == [200, 200, 200, 200], "\(successor.pages)")
            successor.expectGood(isDark: manner.isDark)
            #expect(successor.pages[1].url.hasSuffix("/?done=handed-over"))
            #expect(successor.texts[0].contains("Profile\nWhistle QA"))
            let first = successor.texts[1]
            for part in [
                "Handed over: what was set for this phone has ended", "Profile\nLab", "the gateway's default",
                "What is written on this phone?", "Wi-Fi Assist", "Remove the certificate of Whistle",
            ] { #expect(first.contains(part), "\(part): \(first)") }
            #expect(!successor.texts[2].contains("news.example"), "\(successor.texts[2])")
            #expect(successor.texts[3].hasPrefix(RouteLab.proxied) && lab.routes.proxyWasAsked("news.example:80"))

            // The other one.
            let own = try lab.assignments()
            #expect(own.count == 1 && own[0].contains("whistle"), "\(own)")
            let stays = try lab.browse(
                on: .tablet,
                """
                \(manner.commands)
                open \(manner.address)/requests
                text
                open http://shop.example/
                text
                """)
            #expect(stays.texts[0].contains("news.example") && stays.texts[1].hasPrefix("peer "), "\(stays.texts)")
            #expect(whistle.output.contains("GET http://shop.example/"))
            let words = talk.output.split(separator: "\n").count
            #expect(Lab.wait { talk.output.split(separator: "\n").count > words + 5 })
            #expect(talk.isRunning && !talk.output.contains("broken"))
            let history = try lab.history()
            #expect(history[0].hasPrefix("device ") && history[0].hasSuffix("is handed over"), "\(history)")
        }
    }
}
