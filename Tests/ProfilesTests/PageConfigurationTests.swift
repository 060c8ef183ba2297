/// Where there is a page, and who may look at what.

import Addresses
import Profiles
import Testing

/// A gateway with devices on a LAN.
private func lab(_ more: String) -> String {
    minimal("network: { setup: 'gateway', lan: ['wlan0'] }, " + more)
}

struct PageConfigurationTests {
    @Test("where the gateway makes the routes for devices there is a page, unless it is turned off, and nowhere else")
    func presence() throws {
        #expect(try configuration(lab("")).page?.port == 10080)
        #expect(try configuration(lab("page: {}")) == configuration(lab("")))
        #expect(try configuration(lab("page: false")).page == nil)
        #expect(try configuration(minimal()).page == nil)
        #expect(try configuration(minimal("page: false")).page == nil)
        #expect(try configuration(minimal("network: { setup: 'host' }")).page == nil)
    }

    @Test("the page's settings reach their places")
    func settings() throws {
        let page = try #require(
            try configuration(lab("page: { port: 1024, viewers: ['10.20.0.0/16', '2001:db8::/64'] }")).page)
        #expect(page.port == 1024)
        #expect(page.viewers.map(\.description) == ["10.20.0.0/16", "2001:db8::/64"])
        #expect(page.shows(IPAddress(v4: 0x0a14_034d)))
        #expect(!page.shows(IPAddress(v4: 0x0a15_034d)))
        #expect(page.shows(IPAddress(high: 0x2001_0db8 << 32, low: 1)))
    }

    @Test(
        "a page that can't be is refused",
        arguments: [
            Refused(lab("page: true"), .wrongType, "page", "found true"),
            Refused(lab("page: { port: 80 }"), .badValue, "page.port", "1024"),
            Refused(lab("page: { port: 65536 }"), .badValue, "page.port", "65535"),
            Refused(lab("page: { port: '10080' }"), .wrongType, "page.port"),
            Refused(lab("page: { viewers: ['10.20.0.1/16'] }"), .badValue, "page.viewers", "10.20.0.1/16"),
            Refused(lab("page: { listen: '0.0.0.0' }"), .unknownKey, "page.listen", "one of port, viewers"),
            Refused(lab("viewers: []"), .unknownKey, "viewers", "belongs in `page`"),
            Refused(minimal("page: {}"), .conflict, "page", "setup \"none\"", "devices on network.lan"),
            Refused(minimal("network: { setup: 'host' }, page: {}"), .conflict, "page", "setup \"host\""),
            Refused(lab("page: { port: 10808 }"), .conflict, "page", "where socks listens"),
            Refused(lab("page: { port: 10053 }"), .conflict, "page.port", "where dns listens"),
            Refused(
                lab("dns: { listen: '10.9.0.1:10080' }"), .conflict, "page", "where dns listens"),
        ])
    func refused(row: Refused) { expectRefusal(row) }

    @Test("a port of its own is free of the name service that is off")
    func withoutNames() throws {
        #expect(try configuration(lab("page: { port: 10053 }, dns: false")).page?.port == 10053)
    }

    @Test("what is written is read back as the same; what is as by default is left out")
    func writing() throws {
        for text in ["", "page: false", "page: { port: 8080 }", "page: { viewers: ['10.20.0.0/16'] }"] {
            let page = try configuration(lab(text))
            let written = page.json.text
            #expect(try configuration(written) == page, "\(written)")
            #expect(written.contains("\"page\"") == !text.isEmpty)
        }
        #expect(!(try configuration(minimal()).json.text.contains("\"page\"")))
    }

    @Test("another port and other viewers count at once, unless the routes go too; both are named as differences")
    func changes() throws {
        let plain = try configuration(lab(""))
        let moved = try configuration(lab("page: { port: 8080, viewers: ['10.20.0.0/16'] }"))
        #expect(moved.sections(differingFrom: plain).isEmpty)
        #expect(
            moved.differences(from: plain).map(\.description) == [
                "page: not in the file, running {\"port\":8080,\"viewers\":[\"10.20.0.0/16\"]}"
            ])
        let effective = try moved.resolve().withSections(of: plain).configuration.page
        #expect(effective == moved.page)
        #expect(try configuration(lab("page: false")).sections(differingFrom: plain).isEmpty)
        let none = try configuration(minimal())
        #expect(none.sections(differingFrom: plain).contains("page"))
        #expect(try none.resolve().withSections(of: plain).configuration.page == plain.page)
        let watched = try configuration(lab("page: { viewers: ['10.20.0.0/16'] }"))
        #expect(watched.sections(differingFrom: plain).isEmpty)
    }

    @Test("a summary says where the page is")
    func summary() throws {
        let row = { (text: String) in
            try configuration(lab(text)).resolve().summary.split(separator: "\n").first { $0.hasPrefix("page ") }
        }
        #expect(try row("") == "page        port 80 of the gateway's addresses, at 10080")
        #expect(
            try row("page: { viewers: ['10.20.0.0/16'] }")
                == "page        port 80 of the gateway's addresses, at 10080, the board for 10.20.0.0/16")
        #expect(try row("page: false") == "page        off")
        #expect(!(try configuration(minimal()).resolve().summary.contains("\npage ")))
    }
}
