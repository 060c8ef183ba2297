/// `doctor` and `report` as they are typed, and a diagnosis as it is shown.

import Profiles
import Testing

@testable import Commands

@Suite("doctor as it is typed and shown")
struct DoctorTextTests {
    @Test("a file and an output are taken, and what is no option of theirs is refused")
    func arguments() throws {
        #expect(try CommandTable.parse(["doctor"]).command == .doctor(DoctorOrder()))
        let json = try CommandTable.parse(["doctor", "--json", "--config", "a.json5"])
        #expect(json.command == .doctor(DoctorOrder(configuration: "a.json5")) && json.isJSON)
        var order = DoctorOrder()
        order.output = "r.txt"
        order.isAnonymous = true
        #expect(try CommandTable.parse(["report", "--output=r.txt", "--anonymous"]).command == .report(order))
        #expect(throws: ArgumentError.self) { try CommandTable.parse(["report", "--json"]) }
        #expect(throws: ArgumentError.self) { try CommandTable.parse(["doctor", "lan"]) }
        #expect(throws: ArgumentError.self) { try CommandTable.parse(["doctor", "--output", "x"]) }
    }

    private static let sheet = DoctorSheet([
        .init(
            "forwarding", .wrong, "net/ipv4/ip_forward is 0, not 1",
            meaning: "What devices send direct is not passed on.",
            mending: ["sysctl -w net/ipv4/ip_forward=1"], advice: "Something sets it back."),
        .init("access", .unseen, "for root alone"), .init("disk", .ok, "room"), .init("clock", .ok, "right\u{1b}[31m"),
    ])

    @Test("each finding has its mark, its meaning and its commands whole; no text of others moves the cursor")
    func words() {
        let rendered = Self.sheet.rendered(Style(isColoured: false))
        #expect(rendered.exitCode == 1)
        #expect(
            rendered.text == """
                1 wrong; 1 could not be looked at

                ✗ forwarding  net/ipv4/ip_forward is 0, not 1
                              What devices send direct is not passed on.
                              Something sets it back.
                              $ sysctl -w net/ipv4/ip_forward=1

                – access      for root alone

                ✓ disk        room
                ✓ clock       rightU+001B[31m

                """)
    }

    @Test("without anything wrong it ends with 0, whatever there is to be noticed")
    func exitCodes() {
        #expect(DoctorSheet([.init("clock", .notice, "a")]).rendered(Style(isColoured: false)).exitCode == 0)
        let clean = DoctorSheet([.init("clock", .ok, "a")]).rendered(Style(isColoured: false))
        #expect(clean.exitCode == 0 && clean.text.hasPrefix("Nothing is wrong\n"))
    }

    @Test("as JSON everything is there")
    func json() {
        #expect(
            Self.sheet.json.text == """
                {"grade":"wrong","findings":[{"check":"forwarding","grade":"wrong","words":"net/ipv4/ip_forward is 0, \
                not 1","meaning":"What devices send direct is not passed on.","mend":["sysctl -w net/ipv4/ip_forward=1"],\
                "advice":"Something sets it back."},{"check":"access","grade":"unseen","words":"for root alone",\
                "mend":[]},{"check":"disk","grade":"ok","words":"room","mend":[]},{"check":"clock","grade":"ok",\
                "words":"right\\u001b[31m","mend":[]}]}
                """)
    }
}
