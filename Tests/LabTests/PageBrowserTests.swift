/// What a phone's owner sees and does on the page, and what others can't do by that phone's browser.

import Foundation
import TestSupport
import Testing

extension LabTests {
    @Suite("the page in a browser", .enabled(if: PageLab.isPossible && Upstream.mitmproxy.isAvailable))
    struct PageBrowserTests {
        @Test(
            "a first visit, a switch by a button and one by a scanned code, for one device alone",
            arguments: PageLab.Manner.both)
        func switches(_ manner: PageLab.Manner) throws {
            let lab = try PageLab(hasReader: true)
            let talk = try lab.talk()
            let walk = try lab.browse(
                """
                \(manner.commands)
                open \(manner.address)/
                look
                text
                answers
                type name pixel-7
                press Name this phone
                text
                open http://news.example/
                text
                open \(manner.address)/
                press Switch this phone to Reader
                text
                open http://shop.example/
                text
                open \(PageLab.page)/a?v=1&profile=dead
                text
                press Switch this phone to Nobody there
                open http://web.example/
                open \(manner.address)/
                look
                """)
            #expect(walk.statuses == [200, 200, 200, 200, 200, 200, 200, 200, 0, 200], "\(walk)")
            try #require(walk.texts.count == 6)
            PageLab.expectPhone(walk.looks[0], isDark: manner.isDark)
            #expect(walk.answers[0].contains { $0.hasSuffix("/page.js 200") } == manner.hasScript)

            let first = walk.texts[0]
            for part in [
                "Works: Lab", "10.77.0.2:8888", "What is written on this phone?", "Wi-Fi Assist", "Private DNS",
                "sees the names of hosts", "http://10.9.0.1/",
            ] { #expect(first.contains(part), "\(part): \(first)") }
            #expect(walk.pages[1].title.hasPrefix("pixel-7 "))
            #expect(walk.texts[1].contains("This phone: pixel-7"))

            #expect(walk.texts[2].hasPrefix(RouteLab.proxied))
            #expect(walk.texts[3].contains("Profile\nReader") && walk.texts[3].contains("this phone, "))
            #expect(walk.texts[4].hasPrefix(RouteLab.proxied))
            #expect(lab.routes.proxyWasAsked("news.example:80") && !lab.routes.proxyWasAsked("shop.example:80"))
            #expect(Lab.wait { lab.readerWasAsked("shop.example") }, "\(lab.reader?.output ?? "")")
            #expect(!lab.readerWasAsked("news.example"))

            let asking = walk.texts[5]
            #expect(asking.contains("Phone\npixel-7, and no other") && asking.contains("Now\nReader"), "\(asking)")
            #expect(asking.contains("Then\nNobody there") && asking.contains("Proxy\n10.77.0.2:9"), "\(asking)")
            #expect(!lab.routes.proxyWasAsked("web.example:80") && !lab.readerWasAsked("web.example"))
            let history = try lab.control("history")
            #expect(history.contains("pixel-7 uses mitm") && history.contains("pixel-7 uses dead"), "\(history)")
            #expect(lab.daemon.events("flow").allSatisfy { !$0.contains("client=10.9.0.3:") })
            try lab.expectUntouched(talk)
        }

        @Test("a dead proxy is red on the page, with its cause and what to do, and the page answers all the same")
        func deadUpstream() throws {
            let lab = try PageLab(hasReader: true)
            let walk = try lab.browse(
                """
                open \(PageLab.page)/
                press Switch this phone to Nobody there
                open http://web.example/
                open \(PageLab.page)/
                until Does not work: Nobody there
                until No good request yet
                \(PageLab.survey)
                text
                no-script
                press Try again for this phone
                open \(PageLab.page)/
                again Does not work: Nobody there
                \(PageLab.survey)
                text
                """)
            #expect(walk.statuses == [200, 200, 0, 200, 200, 200], "\(walk)")
            walk.expectGood(isDark: false)
            for (look, text) in zip(walk.looks, walk.texts) {
                #expect((look["state"] as? String ?? "").split(separator: " ").contains("red"), "\(look)")
                // The port is closed: the machine is there, and nothing listens.
                #expect(text.contains("Does not work: Nobody there") && text.contains("nothing listens at that port"))
                #expect(text.contains("Start it there") && text.contains("No good request yet"), "\(text)")
            }
            #expect(walk.pages[4].url.hasSuffix("/?done=tried"))
        }

        @Test("what another site makes the phone's browser send changes nothing, even with a token that is good")
        func hostileSite() throws {
            let lab = try PageLab(hasReader: true)
            _ = try lab.browse("open \(PageLab.page)/\npress Switch this phone to Reader")
            let page = try lab.lab.run(.device, ["curl", "-sS", "\(PageLab.page)/"]).output
            let form = try #require(page.firstRange(of: "action=\"/switch\""))
            let token = try #require(page[form.upperBound...].firstRange(of: "name=\"token\" value=\""))
            let fields =
                "token=\(page[token.upperBound...].prefix { $0 != "\"" })&profile=dead&name=evil&host=web.example"
                + "&link=v%3D1%26profile%3Ddead&domain=web.example&server=10.77.0.2%3A8888&port=8888"
            let site = try lab.lab.start(
                .origin, Lab.python(["page.py", "hostile", "198.51.100.13", PageLab.page, fields]))
            try site.waitFor("ready")
            let before = try (lab.control("history"), lab.assignments())
            #expect(before.1.count == 1 && before.1[0].contains("mitm"))
            let walk = try lab.browse(
                names: ["rebound.example=10.9.0.1"],
                """
                open http://stream.example/
                answers 28 \(PageLab.page)/
                frames 2
                open http://stream.example/form
                answers 1 \(PageLab.page)/
                open http://rebound.example/
                post http://rebound.example/switch \(fields)
                answers
                open \(PageLab.page)/requests
                text
                """)
            // It has come to us, and was refused there.
            let posts = walk.answers[0].filter { $0.hasPrefix("POST \(PageLab.page)/") }
            #expect(posts.count >= 14 && posts.allSatisfy { $0.hasSuffix(" 403") || $0.hasSuffix(" 415") }, "\(posts)")
            #expect(walk.answers[0].count { $0.hasPrefix("GET \(PageLab.page)/") } >= 14, "\(walk.answers[0])")
            #expect(Set(walk.frames[0]) == ["\(PageLab.page)/", "\(PageLab.page)/switch"])
            #expect(walk.answers[1].contains("POST \(PageLab.page)/switch 403"), "\(walk.answers[1])")
            #expect(walk.posts == [421] && walk.statuses == [200, 200, 421, 200], "\(walk.pages)")
            #expect(!walk.texts[0].contains("Set for this phone"))
            let after = try (lab.control("history"), lab.assignments())
            #expect(after == before)
            // The same form from a page of ours is taken, so the token was good.
            let own = try lab.browse("open \(PageLab.page)/\npost \(PageLab.page)/switch \(fields)")
            #expect(own.posts == [200])
            #expect(try lab.assignments()[0].contains("dead"))
        }

        @Test(
            "axe-core finds nothing wrong with any page, in light and in dark",
            .enabled(if: PageLab.axe != nil || Lab.isRequired, "scripts/test could not get axe-core from PyPI"))
        func accessible() throws {
            let lab = try PageLab(hasReader: true)
            let axe = try #require(PageLab.axe)
            let site = try lab.lab.start(
                .origin, Lab.python(["page.py", "hostile", "198.51.100.13", PageLab.page, "name=evil"]))
            try site.waitFor("ready")
            let paths = [
                "", "a?v=1&profile=dead", "a?v=1&profile=nobody", "requests", "learn", "ca", "codes", "lab", "check",
                "adhoc", "l?port=8899", "nothing", "switch",
            ]
            var commands = ["open \(PageLab.page)/", "axe \(axe)", "press Switch this phone to Reader"]
            for colours in ["dark", "light"] {
                commands.append(colours)
                for path in paths { commands += ["open \(PageLab.page)/\(path)", "axe \(axe)", "look", "wait 0.1"] }
            }
            for (path, field, label) in [
                ("", "name", "Name this phone"), ("adhoc", "server", "Switch this phone to this proxy"),
            ] {
                commands += [
                    "open \(PageLab.page)/\(path)", "type \(field) <b>!", "press \(label)", "axe \(axe)", "text",
                ]
            }
            // It does find something where there is something.
            commands += ["open http://stream.example/", "axe \(axe)"]
            let walk = try lab.browse(commands.joined(separator: "\n"))
            #expect(walk.faults.dropLast().flatMap { $0 } == [])
            #expect(walk.faults.count == 2 * paths.count + 4)
            #expect(walk.faults.last?.contains { $0.hasPrefix("image-alt: ") } == true)
            for (index, look) in walk.looks.enumerated() { PageLab.expectPhone(look, isDark: index < paths.count) }
            let refusals = walk.pages.suffix(2 * 2 + 1).filter { $0.status == 422 }
            #expect(refusals.count == 2 && walk.texts.allSatisfy { $0.contains("Not taken: ") }, "\(walk.pages)")
        }

        @Test("a device that asks more than 20 times a second is told so, and no other device is")
        func flood() throws {
            let lab = try PageLab(hasReader: true)
            let text = try lab.lab.program(.device, ["page.py", "flood", "\(PageLab.page)/style.css", "200"])
            let curl = ["curl", "-sS", "-o", "/dev/null", "-w", "%{http_code}", "\(PageLab.page)/"]
            #expect(try lab.lab.run(.tablet, curl).output == "200")
            let found = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Double])
            let seconds = try #require(found["seconds"])
            let good = try #require(found["200"])
            // 40 at once after a quiet time, and 20 a second.
            #expect(good >= 40 && good <= 41 + 20 * seconds, "\(found)")
            let refused = try #require(found["429"])
            #expect(refused > 0 && found["Retry-After 1"] == refused, "\(found)")
        }
    }
}
