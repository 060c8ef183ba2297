/// Codes to print, read back by another program.

import Page
import Profiles
import QRCode
import TestSupport
import Testing

@testable import Commands

private func found(_ json: String) throws -> Found { Found(try JSON5Reader.read(Array(json.utf8).span)) }

private let profiles = """
    {"profiles":[
    {"id":"whistle-qa","name":"Whistle <QA> & \\"co\\"","selfService":true,"hidden":false},
    {"id":"secret","name":"Secret","selfService":false,"hidden":false},
    {"id":"old","name":"Old","selfService":true,"hidden":true},
    {"id":"charles","name":"Charles 測試","selfService":true,"hidden":false}]}
    """
private let devices = """
    {"devices":[{"id":"pixel-7","name":"pixel-7"},{"id":"10.9.0.9","name":null},{"id":"stb","name":"stb"}]}
    """
private let expected = [
    #"WIFI:T:WPA;S:Lab\;5\:\\;P:pass\"word\,\;;;"#, "http://10.9.0.1/a?v=1&profile=whistle-qa",
    "http://10.9.0.1/a?v=1&profile=charles", "starship://device?v=1&name=pixel-7", "starship://device?v=1&name=stb",
]

private func sheet() throws -> CodeSheet {
    var sheet = CodeSheet(gateway: "lab<3>", level: .medium)
    try sheet.add(try WiFiCode(network: #"Lab;5:\"#, password: #"pass"word,;"#))
    try sheet.add(profiles: try found(profiles), .page(gateway: "10.9.0.1"))
    try sheet.add(devices: try found(devices))
    return sheet
}

struct SheetTests {
    @Test("zbarimg reads every code of the drawing, the Wi-Fi and the self-service profiles and stickers alone")
    func drawing() throws {
        let scratch = try Scratch()
        try Scratch.put(Array(try sheet().svg.utf8), scratch.path("sheet.svg"))
        let painted = try TestSupport.Command.run(
            ["rsvg-convert", "-d", "150", "-p", "150", "-o", "sheet.png", "sheet.svg"], in: scratch.directory)
        #expect(painted.status == 0, "\(painted.errors)")
        let read = try TestSupport.Command.run(
            ["zbarimg", "-q", "--nodbus", "--raw", "-Sdisable", "-Sqrcode.enable", "sheet.png"], in: scratch.directory)
        let texts = String(decoding: read.output, as: UTF8.self).split(separator: "\n").map(String.init)
        #expect(texts.sorted() == expected.sorted())
    }

    @Test("the page for a browser holds the same codes, in their order, and well-formed text")
    func page() throws {
        let sheet = try sheet()
        let html = sheet.html
        let paths = sheet.entries.map(\.code.path)
        var rest = html[...]
        for path in paths {
            let place = try #require(rest.range(ofFirst: path))
            rest = rest[place.upperBound...]
        }
        #expect(html.contains("Whistle &lt;QA&gt; &amp; &quot;co&quot;"))
        #expect(html.contains("Starship Gateway lab&lt;3&gt;"))
        // The password stands in the code, and nowhere as text (B215).
        #expect(!html.contains("pass"))
        #expect(!sheet.svg.contains("pass"))
    }

    @Test("the titles come in the order in which they are needed")
    func order() throws {
        #expect(
            try sheet().entries.map(\.title)
                == [#"Wi-Fi Lab;5:\"#, #"Whistle <QA> & "co""#, "Charles 測試", "pixel-7", "stb"])
    }

    @Test("a sheet with many codes has them all within its edges")
    func many() throws {
        var sheet = CodeSheet(gateway: "lab", level: .low)
        let list = (1...40).map { #"{"id":"d\#($0)","name":"d\#($0)"}"# }.joined(separator: ",")
        try sheet.add(devices: try found("{\"devices\":[\(list)]}"))
        #expect(sheet.entries.count == 40)
        // 14 rows of 68 mm, with the title above.
        #expect(sheet.svg.contains("viewBox=\"0 0 210 994\""))
    }

    @Test(
        "names and passwords of Wi-Fi are checked as the standard has them",
        arguments: [
            ("", "12345678", WiFiCodeError.network), (String(repeating: "n", count: 33), nil, .network),
            ("lab", "1234567", .password), ("lab", "", .password), ("lab", "pässword", .password),
            ("lab", String(repeating: "a", count: 65), .password),
            ("lab", String(repeating: "g", count: 64), .password),
        ] as [(String, String?, WiFiCodeError)])
    func wifi(network: String, password: String?, error: WiFiCodeError) {
        #expect(throws: error) { try WiFiCode(network: network, password: password) }
    }

    @Test("a network without a password says so")
    func open() throws {
        #expect(try WiFiCode(network: "guests", password: nil).text == "WIFI:T:nopass;S:guests;;")
    }
}

extension Substring {
    fileprivate func range(ofFirst text: String) -> Range<Index>? {
        String(self).isEmpty ? nil : ranges(of: text).first
    }
}
