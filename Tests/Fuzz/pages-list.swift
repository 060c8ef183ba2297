/// Any bytes as a list of pages and as the URL of one: what is read is a line that is read so, and a profile's setting.

import Addresses
import Profiles

@testable import Commands

func fuzzPagesList(_ input: [UInt8]) {
    let text = String(decoding: input, as: UTF8.self)
    checkURL(text)
    do throws(PageListError) {
        let pages = try PageList.read(text)
        precondition((1...PageList.limit).contains(pages.count), "no page, or too many")
        let lines = pages.map(\.line)
        precondition((try? PageList.read(lines.joined(separator: "\n"))) == pages, "written and read as others")
        for (page, line) in zip(pages, lines) {
            precondition((try? PageList.read(line)) == [page], "a page that is another one alone")
            checkSetting(page)
        }
    } catch {
        precondition(error.line >= 1, "a refusal without a place")
        checkRefusal(error.description)
    }
}

private func checkURL(_ text: String) {
    do throws(PageURLError) {
        let url = try PageURL.parse(text)
        precondition((try? PageURL.parse(url.description)) == url, "a URL that does not read as it is written")
        if case .address(let address) = url.host, !address.isIPv4 {
            precondition(text.utf8.contains(UInt8(ascii: "[")), "an IPv6 address without brackets (RFC 3986)")
        }
        precondition(url.port > 0 && url.target.hasPrefix("/"), "nothing that can be asked for")
    } catch {
        checkRefusal(error.description)
    }
}

/// What is advised can be done.
private func checkSetting(_ page: HealthOptions.Page) {
    let file = #"{ profiles: [{ id: "a", upstream: { type: "http", host: "b", port: 1 } }], \#(page.setting) }"#
    let octets = Array(file.utf8)
    guard let configuration = try? Configuration.parse(octets.span) else {
        preconditionFailure("a page that no profile can have")
    }
    precondition(configuration.health.page == page, "a profile has another page")
}

/// A refusal is one short line.
private func checkRefusal(_ text: String) {
    precondition(!text.isEmpty && text.utf8.count < 1000, "a refusal of no length, or without end")
    let hasControls = text.unicodeScalars.contains { $0.properties.generalCategory == .control }
    precondition(!hasControls, "a refusal that is no line")
}
