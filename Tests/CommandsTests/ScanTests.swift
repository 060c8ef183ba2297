/// Lines of scanners and keyboards.

import Bytes
import Profiles
import Testing

@testable import Commands

private let link = "starship://activate?v=1&profile=whistle-qa"
private let sticker = "starship://device?v=1&name=pixel-7"

private func at(_ seconds: Int64) -> Instant { Instant(nanoseconds: seconds * 1_000_000_000) }

private func take(_ session: inout ScanSession, _ text: String, at seconds: Int64 = 0) -> ScanSession.Step {
    session.take(Array(text.utf8), at: at(seconds))
}

struct ScanTests {
    @Test(
        "a line is read through what scanners put around it (B182)",
        arguments: [
            link, link + "\r", "\u{feff}" + link, "  \t\(link)  ", "QR-Code:" + link,
            "STARSHIP://ACTIVATE?v=1&profile=whistle-qa", "starship://activate/?v=1&profile=whistle-qa#frag",
        ])
    func forms(line: String) {
        var session = ScanSession(target: .device("stb"))
        guard case .apply(_, .device("stb")) = take(&session, line) else {
            Issue.record("not applied: \(line)")
            return
        }
        #expect(session.refused == 0)
    }

    @Test("empty lines are nothing")
    func empty() {
        var session = ScanSession(target: .all)
        for line in ["", "\r", "   ", "\u{feff}"] { #expect(take(&session, line) == .nothing) }
        #expect(session.exitCode == 0)
    }

    @Test(
        "a bad line is refused with its number and its reason, and the next one is read (B180, B184, B185)",
        arguments: [
            ("WIFI:T:WPA;S:lab;P:S3cr3t-Zq;;", "looks like a Wi-Fi code"),
            ("https://cfg.example.test/c.json", "the address of a page or a document"),
            ("dm1lc3M6Ly9leGFtcGxl", "a Base64 text"),
            ("vmess://abcdef", "a link of another proxy tool"),
            ("starship://activate?url=https://cfg.example.test/hello?alpha=1&beta=2", "what a link never carries"),
            ("starship://import?v=1&profile=qa", "found the action \"import\"; expected activate"),
            ("starship://device?v=1&name=", "the link's `name`"),
            ("starship://device?name=pixel-7", "expected starship://device?v=1&name=NAME"),
            ("starship://device?v=1&name=a&name=b", "each parameter once"),
            ("STARSHIP://ACTIVATE?V=1&PROFILE=WHISTLE-QA", "is Caps Lock on?"),
            ("http://user:S3cr3t-Zq@proxy.example", "has no port"),
        ])
    func bad(line: String, reason: String) {
        var session = ScanSession(target: .device("stb"))
        _ = take(&session, "")
        guard case .refuse(let text) = take(&session, line) else {
            Issue.record("not refused: \(line)")
            return
        }
        #expect(text.hasPrefix("line 2: "))
        #expect(text.contains(reason), "\(text)")
        #expect(!text.contains("S3cr3t"))
        #expect(!text.contains("\n"))
        #expect(session.exitCode == 1)
        #expect(take(&session, link) == .apply(link: link, .device("stb")))
    }

    @Test("octets that are no text, and lines without end, are refused")
    func octets() {
        var session = ScanSession(target: .all)
        guard case .refuse(let reason) = session.take([0x73, 0xff, 0xfe], at: at(0)) else {
            Issue.record("not refused")
            return
        }
        #expect(reason == "line 1: found what is not UTF-8; expected a config URL")
        guard case .refuse = session.take([UInt8](repeating: 0x61, count: ScanSession.lineLimit), at: at(0)) else {
            Issue.record("not refused")
            return
        }
        #expect(session.summary == "0 applied, 2 refused")
    }

    @Test("a sticker says whom links are for, for 60 s")
    func stickers() {
        var session = ScanSession(target: nil)
        #expect(
            take(&session, link)
                == .refuse("line 1: found no device; expected a device's sticker first (or --device NAME)"))
        #expect(take(&session, sticker, at: 1) == .sticker("pixel-7"))
        session.keep("pixel-7", at: at(1))
        #expect(take(&session, link, at: 60) == .apply(link: link, .device("pixel-7")))
        #expect(
            take(&session, link, at: 61)
                == .refuse(
                    "line 4: the sticker of pixel-7 was scanned over 60 s ago; expected a device's sticker first "
                        + "(or --device NAME)"))
        #expect(take(&session, "STARSHIP://DEVICE/?v=1&name=stb", at: 62) == .sticker("stb"))
    }

    @Test("with a target a sticker is refused: nobody shall believe that it counted")
    func fixed() {
        var session = ScanSession(target: .all)
        guard case .refuse(let reason) = take(&session, sticker) else {
            Issue.record("not refused")
            return
        }
        #expect(reason.contains("leave no choice"))
    }

    @Test("what was applied is said with its name and its end")
    func confirmations() throws {
        let answer = Found(
            try JSON5Reader.read(
                Array(#"{"profile":"qa","moved":3,"until":1796126400,"link":{"name":"Whistle QA"}}"#.utf8).span))
        #expect(
            ScanSession.confirmation(answer, for: .device("pixel-7"), moment)
                == "pixel-7 → Whistle QA, until 13:00, in 2 h")
        #expect(ScanSession.confirmation(answer, for: .all, moment) == "all devices → Whistle QA, 3 devices moved")
    }

    @Test("lines are cut at LF, CR and both, in any pieces")
    func cutting() {
        let stream = Array("one\ntwo\r\nthree\rfour".utf8)
        for size in 1...stream.count {
            var cutter = LineCutter()
            var lines: [[UInt8]] = []
            for start in stride(from: 0, to: stream.count, by: size) {
                lines += cutter.take(Array(stream[start..<min(start + size, stream.count)]))
            }
            lines.append(cutter.finish())
            #expect(
                lines.map { String(decoding: $0, as: UTF8.self) } == [
                    "one", "two", "three", "four",
                ])
        }
    }

    @Test("a line without end takes no memory without end")
    func endless() {
        var cutter = LineCutter()
        for _ in 0..<100 { #expect(cutter.take([UInt8](repeating: 0x61, count: 65_536)) == []) }
        #expect(cutter.finish().count == ScanSession.lineLimit)
    }

    @Test("a sticker's text is read as it was written")
    func stickerText() throws {
        let written = try #require(DeviceSticker(name: "pixel-7"))
        #expect(written.text == sticker)
        #expect(try DeviceSticker.parse(written.text) == written)
        #expect(DeviceSticker(name: "pixel 7") == nil)
        #expect(try DeviceSticker.parse(link) == nil)
        #expect(try DeviceSticker.parse("http://device?v=1&name=a") == nil)
    }
}
