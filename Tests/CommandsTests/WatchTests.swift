/// `watch` without a terminal: what is drawn, what keys do, and that nothing is said twice or missed.

import Profiles
import TestSupport
import Testing

@testable import Commands

/// An answer of a daemon.
private func found(_ json: String) throws -> Found { Found(try JSON5Reader.read(Array(json.utf8).span)) }

private func health(_ colour: String, _ cause: String = "null") -> String {
    #"{"colour":"\#(colour)","cause":\#(cause),"note":null}"#
}

private func status(_ health: String, id: String = "whistle-qa") -> String {
    """
    {"version":"0.1.0","gateway":"lab-3","uptime":11520,"profile":{"id":"\(id)","name":"Whistle QA",
    "mode":"domain","upstream":"http whistle.qa.example:8899"},"upstream":{"kind":"whistle"},"health":\(health),
    "devices":{"seen":12,"assigned":3},"flows":{"open":120},"notices":[],"uplink":{"up":true,"words":""},
    "traffic":{"up":1048576,"down":52428800,"upRate":30720,"downRate":1310720}}
    """
}

private let green = """
    {"colour":"green","cause":null,"note":null,"since":1796115600,"layers":{
    "connect":{"ok":true,"ms":3,"at":1796119188,"misses":0},"request":{"ok":true,"ms":45,"at":1796119188,"misses":0},
    "traffic":null},"nextProbe":1796119218}
    """

private let profiles = """
    {"profiles":[{"id":"whistle-qa","name":"Whistle QA","active":true,"upstream":"http whistle.qa.example:8899",
    "devices":["pixel-7"],"health":\(health("green"))},
    {"id":"charles","name":"charles","active":false,"upstream":"http 10.0.0.7:8888","devices":["stb","tablet"],
    "health":\(health("red"))}]}
    """

private let flows = """
    {"flows":[{"device":"pixel-7","client":"10.9.0.23:50000","target":"198.18.0.20:443","name":"shop.example",
    "profile":"whistle-qa","upstream":"http whistle.qa.example:8899","rule":"domains","state":"established","up":2048,
    "down":5242880,"ms":61000},{"device":"stb","client":"10.9.0.24:50001","target":"192.0.2.9:80","name":null,
    "profile":"charles","upstream":"http 10.0.0.7:8888","rule":null,"state":"dialling","up":0,"down":0,"ms":900}],
    "total":120}
    """

private let devices = """
    {"devices":[{"id":"pixel-7","profile":"whistle-qa","profileBy":"assignment","addresses":["10.9.0.23"]},
    {"id":"stb","profile":"charles","profileBy":"file","addresses":["10.9.0.24"]}]}
    """

/// A state that has had one answer to each question.
private func state() throws -> WatchState {
    var state = WatchState(moment)
    state.take(try found(status(green)), to: .status)
    state.take(try found(profiles), to: .profiles)
    state.take(try found(flows), to: .flows)
    state.take(try found(devices), to: .devices)
    return state
}

/// Presses keys; the last wish.
private func press(_ keys: String, in state: inout WatchState) -> WatchWish? {
    var wish: WatchWish?
    for key in keys {
        let named: [Character: Key] = ["↵": .enter, "↑": .up, "↓": .down, "⎋": .escape, "←": .backspace]
        wish = state.press(named[key] ?? .character(key))
    }
    return wish
}

/// What a terminal shows of what it is told: just what `Screen.update` uses of ECMA-48.
private struct Paper {
    var rows: [[Character]]
    private var (row, column) = (0, 0)

    init(columns: Int, rows: Int) { self.rows = Array(repeating: Array(repeating: " ", count: columns), count: rows) }

    mutating func write(_ text: String) {
        var rest = text[...]
        while let character = rest.popFirst() {
            guard character == "\u{1b}" else {
                rows[row][column] = character
                column += 1
                continue
            }
            rest.removeFirst()
            let parameters = rest.prefix { !$0.isLetter }
            rest = rest.dropFirst(parameters.count)
            switch rest.removeFirst() {
            case "H":
                let place = parameters.split(separator: ";").compactMap { Int($0) }
                (row, column) = (place[0] - 1, place[1] - 1)
            case "J": rows = rows.map { $0.map { _ in " " } }
            case "K": for place in column..<rows[row].count { rows[row][place] = " " }
            default: break
            }
        }
    }

    var text: String { rows.map { String($0).trimmedAtEnd + "\n" }.joined() }
}

struct WatchTests {
    @Test("a screen of 80 by 24 has everything")
    func screen() throws {
        let expected = """
            ● GREEN  whistle-qa  Whistle QA                             lab-3, up 3 h 12 min
            http whistle.qa.example:8899 (whistle) · domain mode · green since 10:00

            connect 3 ms, 12 s ago   request 45 ms, 12 s ago
            latency         █ 45 ms       down         █ 1.2 MiB/s   up         █ 30 KiB/s
            12 devices, 3 assigned, 120 flows, 1.0 MiB up, 50 MiB down
                  PROFILE     NAME        HEALTH  UPSTREAM                      DEVICES
            ▸1 ●  whistle-qa  Whistle QA  green   http whistle.qa.example:8899  pixel-7
             2    charles                 red     http 10.0.0.7:8888            stb, tablet
            2 of 120 flows, by newest
            DEVICE   TARGET            STATE        UP       DOWN     AGE
            stb      192.0.2.9:80      dialling     0 B      0 B      0 s
            pixel-7  shop.example:443  established  2.0 KiB  5.0 MiB  61 s






            events
            11:00:00 whistle-qa is green


            1-9 ↑↓ Enter switch  s sort  / filter  p probe  ? help  q quit

            """
        #expect(try state().screen(columns: 80, rows: 24).text == expected)
    }

    @Test("every size has as many lines as it wants, none too wide, in every mode, whatever the daemon says")
    func sizes() throws {
        let wide = try found(profiles.split(separator: "charles").joined(separator: "測試測試測試測試測試測試"))
        var wrong: [String] = []
        for keys in ["", "?", "/測試", "1", "1d"] {
            var state = try state()
            if keys == "/測試" { state.take(wide, to: .profiles) }
            _ = press(keys, in: &state)
            for columns in [1, 2, 3, 10, 39, 40, 79, 80, 81, 120, 200, 500] {
                for rows in 1...60 {
                    let lines = state.screen(columns: columns, rows: rows).lines
                    if lines.count != rows || lines.contains(where: { $0.columns > columns }) {
                        wrong.append("\(keys) \(columns)x\(rows)")
                    }
                }
            }
        }
        #expect(wrong == [])
        // A daemon that says nothing of what is asked.
        var state = WatchState(moment)
        for question in WatchQuestion.allCases { state.take(try found("{}"), to: question) }
        #expect(state.screen(columns: 80, rows: 24).text.hasPrefix("● GREY  no profile\n"))
    }

    @Test("on a small terminal the first lines stay, and a question is seen in any case")
    func small() throws {
        var state = try state()
        #expect(state.screen(columns: 20, rows: 1).text == "● GREEN  whistle-qa…\n")
        #expect(state.screen(columns: 80, rows: 2).text.hasSuffix("domain mode · green since 10:00\n"))
        _ = press("2", in: &state)
        #expect(state.screen(columns: 17, rows: 1).text == "charles for whom…\n")
        #expect(Rooms(17, profiles: 2).flows == 10)
        #expect(Rooms(6, profiles: 9).profiles == 6)
    }

    @Test("what the terminal is told turns one screen into the next, and nothing is told twice")
    func update() throws {
        var generator = SeededGenerator(seed: 20_261_201)
        var state = try state()
        var paper = Paper(columns: 80, rows: 24)
        var shown: Screen?
        for _ in 0..<300 {
            let keys = Array("12?/s↑↓⎋xa")
            _ = press(String(keys[Int.random(in: 0..<keys.count, using: &generator)]), in: &state)
            if Bool.random(using: &generator) { state.take(event: "config", try found(#"{"text":"new"}"#)) }
            let screen = state.screen(columns: 80, rows: 24)
            paper.write(screen.update(from: shown, Style(isColoured: Bool.random(using: &generator))))
            shown = screen
            #expect(paper.text == screen.text)
            #expect(screen.update(from: shown, Style(isColoured: true)) == "")
        }
        // A line as wide as the screen is not followed by an erasure of its last column.
        let full = Screen([ScreenLine("abcd")], columns: 4, rows: 1)
        #expect(full.update(from: nil, Style(isColoured: false)) == "\u{1b}[0m\u{1b}[2J\u{1b}[1;1Habcd")
    }

    @Test("a switch asks for whom, and says what it does")
    func switches() throws {
        var state = try state()
        #expect(press("2", in: &state) == nil)
        #expect(
            state.screen(columns: 80, rows: 24).text.hasSuffix(
                "charles for whom?  a all devices   d one device   Esc nobody\n"))
        #expect(press("a", in: &state) == .ask(.activate("charles", .all), .switched))
        #expect(state.screen(columns: 80, rows: 24).text.hasSuffix("putting all devices on charles …\n"))
        // One wish at a time.
        #expect(press("1a", in: &state) == nil)
        state.finish("2 devices moved: pixel-7, stb are on charles\nflows: 0 reset\n", isGood: true)
        let last = "2 devices moved: pixel-7, stb are on charles · flows: 0 reset\n"
        #expect(state.screen(columns: 80, rows: 24).text.hasSuffix(last))
        state.tick(Moment(now: moment.now + 10, zone: 3600))
        #expect(state.screen(columns: 80, rows: 24).text.hasSuffix("q quit\n"))
        #expect(press("↓↓↓↵d", in: &state) == nil)
        #expect(state.screen(columns: 80, rows: 24).text.contains("\n▸  pixel-7  whistle-qa  assignment  10.9.0.23\n"))
        // The list changes, and the mark stays with its device.
        _ = press("↓", in: &state)
        state.take(try found(#"{"devices":[{"id":"a"},{"id":"stb"},{"id":"z"}]}"#), to: .devices)
        #expect(press("↵", in: &state) == .ask(.activate("charles", .device("stb")), .switched))
        state.finish("", isGood: true)
        // A device that is gone is nobody's.
        _ = press("1d", in: &state)
        state.take(try found(#"{"devices":[{"id":"b"}]}"#), to: .devices)
        #expect(press("↵", in: &state) == nil)
        #expect(press("⎋", in: &state) == nil && state.mode == .normal)
        #expect(press("9", in: &state) == nil && state.mode == .normal)
        #expect(press("p", in: &state) == .ask(.probe("whistle-qa"), .probed))
    }

    @Test("keys that end, stop or redraw do so in every mode but that of typing")
    func endings() throws {
        for keys in ["", "?", "/q", "1", "1d"] {
            var state = try state()
            _ = press(keys, in: &state)
            #expect(state.press(.control("c")) == .quit)
            #expect(state.press(.control("z")) == .suspend)
            #expect(state.press(.control("l")) == .redraw)
        }
        var state = try state()
        #expect(press("/q", in: &state) == nil)
        #expect(press("⎋q", in: &state) == .quit)
    }

    @Test("flows are sorted and filtered")
    func sorting() throws {
        var state = try state()
        func names() -> [String] { state.shownFlows.compactMap { $0["device"].text } }
        var orders: [String] = []
        for _ in FlowOrder.allCases {
            orders.append("\(state.order.rawValue) \(names().joined(separator: " "))")
            _ = press("s", in: &state)
        }
        #expect(
            orders == [
                "newest stb pixel-7", "oldest pixel-7 stb", "down pixel-7 stb", "up pixel-7 stb",
                "device pixel-7 stb", "target stb pixel-7",
            ])
        _ = press("/SHOPX←↵", in: &state)
        #expect(names() == ["pixel-7"])
        #expect(state.screen(columns: 80, rows: 24).text.contains("1 of 120 flows, by newest, with \"SHOP\"\n"))
        _ = press("⎋", in: &state)
        #expect(names().count == 2)
    }

    @Test("a daemon that is gone is said once, its last words stay, and so is its return")
    func restarts() throws {
        var state = try state()
        _ = state.takeNews(asJSON: false)
        state.lose("/run/s: found no daemon")
        state.tick(Moment(now: moment.now + 65, zone: 3600))
        state.lose("/run/s: found no daemon")
        let text = state.screen(columns: 80, rows: 24).text
        #expect(text.hasPrefix("○ NO DAEMON for 65 s; it is tried again every second\n"))
        #expect(text.contains("\n/run/s: found no daemon\n") && text.contains("▸1 ●  whistle-qa"))
        state.take(try found(status(health("red", #"{"code":"port_closed","text":"nobody listens"}"#))), to: .status)
        #expect(
            state.takeNews(asJSON: false) == """
                2026-12-01 11:00:00 the daemon is gone; it is tried again every second
                2026-12-01 11:01:05 the daemon is back
                2026-12-01 11:01:05 whistle-qa is red: nobody listens

                """)
        #expect(state.takeNews(asJSON: false) == "")
    }

    @Test("an event is said once; what no event says, the second poll that sees it does")
    func corrections() throws {
        var state = WatchState(moment)
        func see(_ colour: String, id: String = "qa") throws -> String {
            state.take(try found(status(health(colour), id: id)), to: .status)
            return state.takeNews(asJSON: false).split(separator: "\n").map { String($0.dropFirst(20)) }
                .joined(separator: "|")
        }
        func hear(_ name: String, _ json: String) throws -> String {
            state.take(event: name, try found(json))
            return state.takeNews(asJSON: false).split(separator: "\n").map { String($0.dropFirst(20)) }
                .joined(separator: "|")
        }
        var said = [try see("green")]
        said.append(try hear("health", #"{"profile":"qa","colour":"red","cause":{"code":"x","text":"silent"}}"#))
        for colour in ["red", "red", "green", "red", "yellow", "yellow", "yellow"] { said.append(try see(colour)) }
        said.append(try hear("switch", #"{"profile":"other","device":null,"by":"root"}"#))
        for id in ["other", "other", "qa", "qa"] { said.append(try see("yellow", id: id)) }
        #expect(
            said == [
                "qa is green", "qa is red: silent", "", "", "", "", "", "qa is yellow", "",
                "the default is on other now, by root", "", "", "", "the default is qa now",
            ])
    }

    @Test("each event has words, its own where it has some, and none can move the cursor")
    func words() throws {
        let events: [(String, String, String?)] = [
            ("hello", #"{"newest":4}"#, nil),
            ("missed", "{}", "some events were missed; what is shown is right again"),
            ("config", #"{"revision":7,"changed":["profile qa is new"]}"#, "revision 7: profile qa is new"),
            (
                "group", #"{"profile":"lab","chosen":"b","former":"a","cause":{"text":"a is silent"}}"#,
                "lab goes by b now in place of a: a is silent"
            ),
            ("switch", #"{"profile":"qa","device":"stb"}"#, "stb is on qa now"),
            ("certificate", #"{"text":"stb refuses \u001b[2J"}"#, #"stb refuses U+001B[2J"#),
            ("flow", #"{"device":"stb","count":3,"at":5}"#, "flow device=stb count=3"),
            ("health", #"{"profile":"qa","colour":"grey","cause":null,"note":"asleep"}"#, "qa is grey: asleep"),
        ]
        for (name, json, text) in events {
            #expect(EventLine(name: name, data: try found(json), now: 1)?.text == text)
        }
        #expect(EventLine(at: 7, "a\"b").json == "{\"event\":\"note\",\"data\":{\"at\":7,\"text\":\"a\\\"b\"}}\n")
    }

    @Test("latency is taken once for each measurement, and a miss is seen")
    func latency() throws {
        var state = WatchState(moment)
        for (at, ok) in [(1, true), (1, true), (2, true), (3, false), (3, false)] {
            let layers = #"{"request":{"ok":\#(ok),"ms":\#(ok ? "\(at * 10)" : "null"),"at":\#(at),"misses":0}}"#
            state.take(try found(status(#"{"colour":"green","layers":\#(layers)}"#)), to: .status)
        }
        #expect(state.latencies.values == [10, 20, nil])
        #expect(state.screen(columns: 80, rows: 6).text.contains("latency       ▄█× missed"))
    }

    @Test("a curve is as high as its greatest value, and what is nothing lies at the bottom")
    func curves() {
        #expect(Sparkline.text([1, 2, 3, 4, 5, 6, 7, 8], width: 8) == "▁▂▃▄▅▆▇█")
        #expect(Sparkline.text([0, nil, 9], width: 5) == "  ▁×█")
        #expect(Sparkline.text([9, 0, 0], width: 2) == "▁▁")
        #expect(Sparkline.text([.max, 1, -5], width: 3) == "█▁▁")
        #expect(Sparkline.text([1], width: 0) == "")
        var samples = Samples()
        for number in 0..<1000 { samples.add(number) }
        #expect(samples.values.count == 240 && samples.values.first == 760)
    }

    @Test("sizes, rates and times are short")
    func quantities() {
        let sizes = [0, 999, 1000, 1024, 10_239, 10_240, 1_023_999, 1_024_000, 5 << 30, .max]
        #expect(
            sizes.map(Quantities.size) == [
                "0 B", "999 B", "0.9 KiB", "1.0 KiB", "9.9 KiB", "10 KiB", "999 KiB", "0.9 MiB", "5.0 GiB",
                "8388607 TiB",
            ])
        #expect(
            [0, 999, 1000, 9999, 10_000, 130_000].map(Quantities.time) == [
                "0 ms", "999 ms", "1.0 s", "9.9 s", "10 s", "2 min",
            ])
    }
}

struct KeyReaderTests {
    @Test("keys are read from what terminals send, in pieces of every size")
    func keys() {
        let text = "a\u{1b}[A\u{1b}OB\r\u{7f}é測\u{3}\u{1b}[5~\u{1b}[6~\u{1b}[1;5C\u{1b}[200~x\n"
        let expected: [Key] = [
            .character("a"), .up, .down, .enter, .backspace, .character("é"), .character("測"), .control("c"), .pageUp,
            .pageDown, .character("x"), .enter,
        ]
        let octets = Array(text.utf8)
        for size in 1...octets.count {
            var reader = KeyReader()
            var keys: [Key] = []
            for start in stride(from: 0, to: octets.count, by: size) {
                keys += reader.take(Array(octets[start..<min(start + size, octets.count)]))
            }
            #expect(keys == expected && !reader.isPending, "in pieces of \(size)")
        }
    }

    @Test("Escape is told from the beginning of a sequence by what follows, or by nothing")
    func escape() {
        var reader = KeyReader()
        #expect(reader.take([0x1b]) == [] && reader.isPending)
        #expect(reader.finish() == [.escape] && !reader.isPending)
        #expect(reader.take([0x1b, 0x1b]) == [.escape])
        #expect(reader.finish() == [.escape])
        #expect(reader.take(Array("\u{1b}x".utf8)) == [.escape, .character("x")])
        // The beginning of a sequence that never ends is no key of its own.
        #expect(reader.take(Array("\u{1b}[".utf8)) == [])
        #expect(reader.finish() == [.escape, .character("[")])
        #expect(reader.take(Array(("\u{1b}[" + String(repeating: "1", count: 40)).utf8)) == [])
        #expect(reader.take(Array("q".utf8)) == [.character("q")])
    }

    @Test("no octets are too many or too odd")
    func hostile() {
        var generator = SeededGenerator(seed: 7)
        var reader = KeyReader()
        for _ in 0..<2000 {
            let octets = (0..<Int.random(in: 0...20, using: &generator)).map { _ in
                UInt8.random(in: 0...255, using: &generator)
            }
            _ = reader.take(octets)
            if Bool.random(using: &generator) { _ = reader.finish() }
        }
        _ = reader.finish()
        #expect(reader.take(Array("q".utf8)).last == .character("q"))
    }
}
