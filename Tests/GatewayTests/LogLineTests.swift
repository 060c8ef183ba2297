/// Lines for people, programs and the journal.

import Testing

@testable import Gateway

@Suite("Log lines")
struct LogLineTests {
    private func line(_ level: LogLevel = .info, journal: Bool = false, _ fill: (inout LogLine) -> Void) -> String {
        var line = LogLine(level, event: "flow", journal: journal)
        fill(&line)
        line.finish()
        return String(decoding: line.bytes, as: UTF8.self)
    }

    @Test func aLineIsPairsAndEndsWithItsNewline() {
        let text = line {
            $0.add("client", "10.9.0.2:40001")
            $0.add("target", "[2001:db8::1]:443")
            $0.add("up", 12)
            $0.add("down", UInt64(4_294_967_296))
        }
        #expect(text == "event=flow client=10.9.0.2:40001 target=[2001:db8::1]:443 up=12 down=4294967296\n")
    }

    @Test(
        "numbers are written in full",
        arguments: [(0, "0"), (-1, "-1"), (10, "10"), (Int.max, "9223372036854775807"), (.min, "-9223372036854775808")])
    func numbers(value: Int, text: String) {
        #expect(line { $0.add("n", value) } == "event=flow n=\(text)\n")
    }

    @Test(
        "a text that could be misread is quoted",
        arguments: [
            ("", #""""#), ("plain-text_1.2:3/4", "plain-text_1.2:3/4"), ("two words", #""two words""#),
            (#"say "no""#, #""say \"no\"""#), (#"back\slash"#, #""back\\slash""#), ("a=b", #""a=b""#),
            ("tab\there", #""tab\there""#), ("käse", "\"käse\""),
        ])
    func quoting(text: String, written: String) {
        #expect(line { $0.add("reason", text) } == "event=flow reason=\(written)\n")
    }

    @Test(
        "nothing in a value can begin a line, a pair or a terminal's command",
        arguments: [
            "x\nevent=flow reason=forged", "x\r\n<3>event=panic", "\u{1b}[2J", "\u{0}", "\u{7f}", "\u{b}\u{c}",
            "x\" reason=\"forged", "x\\\" reason=forged", "\u{85}next line", "\u{9b}2J", "\u{2028}line\u{2029}",
            "\u{202e}desrever",
        ])
    func injection(value: String) throws {
        let text = line { $0.add("reason", value) }
        #expect(text.filter(\.isNewline) == "\n", "one newline, at the end")
        #expect(text.hasSuffix("\n"))
        for scalar in text.dropLast().unicodeScalars {
            let category = scalar.properties.generalCategory
            #expect(category != .control && category != .format, "U+\(String(scalar.value, radix: 16)) stands there")
        }
        // Event and one quoted value: every quote inside stands behind a backslash.
        #expect(text.wholeMatch(of: /event=flow reason="([^"\\]|\\.)*"\n/) != nil)
    }

    @Test(
        "under the journal a line begins with its priority",
        arguments: [
            // sd-daemon(3): SD_ERR 3, SD_WARNING 4, SD_NOTICE 5, SD_INFO 6, SD_DEBUG 7.
            (LogLevel.error, "<3>event=flow level=error\n"), (.warning, "<4>event=flow level=warning\n"),
            (.notice, "<5>event=flow\n"), (.info, "<6>event=flow\n"), (.debug, "<7>event=flow\n"),
        ])
    func priorities(level: LogLevel, text: String) {
        #expect(line(level, journal: true) { _ in } == text)
        #expect(line(level) { _ in } == text.dropFirst(3))
    }

    @Test func theMostImportantLevelComesFirst() {
        #expect([LogLevel.debug, .error, .info].sorted() == [.error, .info, .debug])
    }
}
