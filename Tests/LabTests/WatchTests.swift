/// `starshipctl watch` on a terminal: screens as tmux shows them, keys as tmux presses them, and a terminal that is as
/// it was when it is over.

import Foundation
import TestSupport
import Testing

private let health =
    #"{"colour":"green","cause":null,"note":null,"layers":{"connect":{"ok":true,"ms":3},"request":{"ok":true,"ms":45}}}"#

private let status = """
    {"version":"0.1.0","gateway":"lab-3","uptime":11520,"profile":{"id":"whistle-qa","name":"Whistle QA",
    "mode":"domain","upstream":"http whistle.qa.example:8899"},"upstream":{"kind":"whistle"},"health":\(health),
    "devices":{"seen":12,"assigned":3},"flows":{"open":120},"notices":[],"uplink":{"up":true,"words":""},
    "traffic":{"up":1048576,"down":52428800,"upRate":0,"downRate":1310720}}
    """

private let answers = """
    {"to":"GET /v1/profiles","status":200,"json":{"profiles":[
    {"id":"whistle-qa","name":"Whistle QA","active":true,"upstream":"http whistle.qa.example:8899",
    "devices":["pixel-7"],"health":{"colour":"green"}},
    {"id":"charles","name":"charles","active":false,"upstream":"http 10.0.0.7:8888","devices":["stb","tablet"],
    "health":{"colour":"red"}}]}},
    {"to":"GET /v1/flows","status":200,"json":{"flows":[
    {"device":"pixel-7","client":"10.9.0.23:50000","target":"198.18.0.20:443","name":"shop.example",
    "profile":"whistle-qa","upstream":"http whistle.qa.example:8899","rule":"domains","state":"established","up":2048,
    "down":5242880,"ms":61000},{"device":"stb","client":"10.9.0.24:50001","target":"192.0.2.9:80","name":null,
    "profile":"charles","upstream":"http 10.0.0.7:8888","rule":null,"state":"dialling","up":0,"down":0,"ms":900}],
    "total":120}},
    {"to":"GET /v1/devices","status":200,"json":{"devices":[
    {"id":"pixel-7","profile":"whistle-qa","profileBy":"assignment","addresses":["10.9.0.23"]},
    {"id":"stb","profile":"charles","profileBy":"file","addresses":["10.9.0.24"]}]}},
    {"to":"POST /v1/activate","status":200,"json":{"profile":"charles","moved":1,"devices":["stb"],"kept":[],
    "flows":{"reset":2,"draining":0,"untouched":0}}}
    """

/// A stream that says hello, and after a while what else there is.
private func stream(_ events: String = "", after pause: Double = 0) -> String {
    let head =
        #"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\nid: 4\nevent: hello\ndata: {\"newest\":4}\n\n"#
    return #"{"to":"GET /v1/events","hold":true,"pause":\#(pause),"pieces":["\#(head)","\#(events)"]}"#
}

private func script(_ status: String = status, _ events: String = stream()) -> String {
    "{\"answers\":[{\"to\":\"GET /v1/status\",\"status\":200,\"json\":\(status)},\(answers),\(events)]}"
}

private func watch(_ server: ScriptedControl, columns: Int, rows: Int) throws -> Tmux {
    try Tmux(
        ["\(Lab.binaries)/starshipctl", "--socket", server.socket, "watch"], columns: columns, rows: rows)
}

/// A screen without what depends on the time of day, and on how often it was looked.
private func still(_ lines: [String]) -> String {
    let text = lines.joined(separator: "\n").replacing(#/[0-9]{2}:[0-9]{2}:[0-9]{2} /#, with: "hh:mm:ss ")
    return text.replacing(#/[▁▂▃▄▅▆▇█]/#, with: " ")
}

private func blank(_ count: Int) -> [String] { Array(repeating: "", count: count) }

private func line(_ left: String, _ right: String, columns: Int) -> String {
    left + String(repeating: " ", count: columns - left.count - right.count) + right
}

extension LabTests {
    @Suite("the watch", .enabled(if: Lab.has("tmux") || Lab.isRequired, "tmux is not installed"))
    struct WatchTests {
        private static let top = [
            "http whistle.qa.example:8899 (whistle) · domain mode", "", "connect 3 ms   request 45 ms",
        ]
        private static let totals = "12 devices, 3 assigned, 120 flows, 1.0 MiB up, 50 MiB down"
        private static let profiles = [
            "      PROFILE     NAME        HEALTH  UPSTREAM                      DEVICES",
            "▸1 ●  whistle-qa  Whistle QA  green   http whistle.qa.example:8899  pixel-7",
            " 2    charles                 red     http 10.0.0.7:8888            stb, tablet",
            "2 of 120 flows, by newest",
        ]
        private static let keys = "1-9 ↑↓ Enter switch  s sort  / filter  p probe  ? help  q quit"

        private static let small: [String] =
            [line("● GREEN  whistle-qa  Whistle QA", "lab-3, up 3 h 12 min", columns: 80)] + top
            + ["latency           –           down           1.2 MiB/s   up           0 B/s", totals] + profiles
            + [
                "DEVICE   TARGET            STATE        UP       DOWN     AGE",
                "stb      192.0.2.9:80      dialling     0 B      0 B      0 s",
                "pixel-7  shop.example:443  established  2.0 KiB  5.0 MiB  61 s",
            ] + blank(6) + ["events", "hh:mm:ss whistle-qa is green", "", "", keys]

        private static let large: [String] =
            [line("● GREEN  whistle-qa  Whistle QA", "lab-3, up 3 h 12 min", columns: 200)] + top
            + [
                "latency " + line("", " –", columns: 51) + "           down " + line("", " 1.2 MiB/s", columns: 59)
                    + "   up " + line("", " 0 B/s", columns: 55), totals,
            ] + profiles
            + [
                "DEVICE   TARGET            STATE        UP       DOWN     AGE   PROFILE     "
                    + "UPSTREAM                      RULE",
                "stb      192.0.2.9:80      dialling     0 B      0 B      0 s   charles     http 10.0.0.7:8888",
                "pixel-7  shop.example:443  established  2.0 KiB  5.0 MiB  61 s  whistle-qa  "
                    + "http whistle.qa.example:8899  domains",
            ] + blank(27) + ["events", "hh:mm:ss whistle-qa is green"] + blank(7) + [keys]

        @Test("the screen at 80 by 24 and at 200 by 50, begun so or become so")
        func screens() throws {
            let server = try ScriptedControl(script())
            let sizes: [(columns: Int, rows: Int, lines: [String])] = [(80, 24, Self.small), (200, 50, Self.large)]
            for size in sizes {
                let tmux = try watch(server, columns: size.columns, rows: size.rows)
                try tmux.waitFor("pixel-7  shop")
                #expect(still(try tmux.screen()) == size.lines.joined(separator: "\n"))
                #expect(try tmux.painted().contains("\u{1b}[32m● GREEN"))
                for other in sizes + [(31, 5, Array(Self.small.prefix(1))), size] {
                    try tmux.resize(columns: other.columns, rows: other.rows)
                    let wanted = other.lines.joined(separator: "\n")
                    let first = String(line("● GREEN  whistle-qa  Whistle QA", "", columns: 31))
                    let came = try Lab.wait {
                        let lines = try tmux.screen()
                        return other.rows == 5 ? lines[0] == first && lines.count == 5 : still(lines) == wanted
                    }
                    let last = still(try tmux.screen())
                    #expect(came, "\(other.columns)x\(other.rows)\n\(last)")
                }
            }
        }

        @Test("an event is on the screen at once, and a switch by keys names its scope and says what it has done")
        func eventsAndKeys() throws {
            let event =
                #"id: 5\nevent: health\ndata: {\"profile\":\"charles\",\"colour\":\"red\",\"cause\":{\"text\":\"nobody listens\"}}\n\n"#
            let server = try ScriptedControl(script(status, stream(event, after: 0.5)))
            let tmux = try watch(server, columns: 80, rows: 24)
            try tmux.waitFor("charles is red: nobody listens")
            try tmux.press("2")
            try tmux.waitFor("charles for whom?  a all devices   d one device   Esc nobody")
            try tmux.press("d", "Down")
            try tmux.waitFor("▸  stb      charles     file        10.9.0.24")
            try tmux.press("Enter")
            try tmux.waitFor("stb is on charles · flows: 2 reset, 0 untouched")
            let wish = try server.requests().first { $0.method == "POST" }
            #expect(wish?.target == "/v1/activate" && wish?.body == #"{"profile":"charles","device":"stb"}"#)
            try tmux.press("/", "s", "h", "o", "p", "Enter")
            let lines = try tmux.waitFor("1 of 120 flows, by newest, with \"shop\"")
            #expect(!lines.contains { $0.contains("192.0.2.9") })
            try tmux.press("Escape")
            try tmux.waitFor("2 of 120 flows, by newest")
            try tmux.press("s")
            try tmux.waitFor("by oldest")
            try tmux.press("?")
            try tmux.waitFor("any key goes back")
            try tmux.press("q")
            try tmux.waitFor("by oldest")
        }

        @Test("the daemon may be killed and started anew: both are said, and the stream goes on where it was")
        func restart() throws {
            let server = try ScriptedControl(script())
            let tmux = try watch(server, columns: 80, rows: 24)
            try tmux.waitFor("pixel-7  shop")
            server.kill()
            let lines = try tmux.waitFor("NO DAEMON")
            #expect(lines.contains { $0.contains("found no daemon (Connection refused)") })
            #expect(lines.contains { $0.contains("▸1 ●  whistle-qa") })
            let red = #"{"colour":"red","cause":{"code":"portClosed","text":"nobody listens"}}"#
            try server.restart(script(status.replacingOccurrences(of: health, with: red)))
            let back = try tmux.waitFor("● RED  whistle-qa")
            #expect(back.contains { $0.contains("the daemon is back") } && back[2] == "nobody listens")
            let goesOn = try Lab.wait { try server.lastEvents() == ["4"] }
            #expect(goesOn)
        }

        @Test("a daemon that is stopped, and says nothing, is seen too")
        func silence() throws {
            let head = #""HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n""#
            let silent = #"{"to":"GET /v1/status","hold":true,"pieces":[\#(head)]}"#
            let first = #"{"to":"GET /v1/status","status":200,"json":\#(status)}"#
            let server = try ScriptedControl("{\"answers\":[\(first),\(first),\(silent),\(answers),\(stream())]}")
            let tmux = try watch(server, columns: 80, rows: 24)
            try tmux.waitFor("GREEN")
            try tmux.waitFor("NO DAEMON", within: 30)
            try tmux.waitFor("found no answer in time")
            try tmux.press("q")
            let isOver = try Lab.wait { try tmux.property("pane_dead") == "1" }
            #expect(isOver)
        }

        @Test(
            "the terminal is as it was, whatever ends the program",
            arguments: ["q", "C-c", "TERM", "HUP", "INT", "QUIT", "SEGV", "ABRT", "ILL"])
        func endings(how: String) throws {
            let server = try ScriptedControl(script())
            let line =
                "stty -g >\"$0\"; \"$@\"; echo \"ended $?\"; test \"$(stty -g)\" = \"$(cat \"$0\")\" && echo same; sleep 60"
            let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
            defer { try? FileManager.default.removeItem(at: file) }
            let command = ["\(Lab.binaries)/starshipctl", "--socket", server.socket, "watch"]
            let tmux = try Tmux(["sh", "-c", line, file.path] + command, columns: 80, rows: 24)
            try tmux.waitFor("pixel-7  shop")
            #expect(try tmux.property("alternate_on") == "1")
            if how == "q" || how == "C-c" {
                try tmux.press(how)
            } else {
                // The shell's only child.
                let shell = try tmux.property("pane_pid")
                let child = try String(contentsOfFile: "/proc/\(shell)/task/\(shell)/children", encoding: .utf8)
                let pid = String(child.prefix { $0 != " " })
                #expect(try Command.run(["/bin/kill", "-\(how)", pid], in: "/tmp").status == 0)
            }
            let lines = try tmux.waitFor("same")
            let isFault = ["QUIT", "SEGV", "ABRT", "ILL"].contains(how)
            #expect(lines.contains { $0 == "ended 0" } != isFault)
            #expect(try tmux.property("alternate_on") == "0")
            #expect(try tmux.property("cursor_flag") == "1")
        }

        @Test("the program stops and goes on as the shell wants it")
        func suspension() throws {
            let server = try ScriptedControl(script())
            let shell = ["env", "PS1=ready> ", "bash", "--norc", "--noprofile", "-i"]
            let tmux = try Tmux(shell, columns: 80, rows: 24)
            try tmux.waitFor("ready>")
            try tmux.press("\(Lab.binaries)/starshipctl --socket \(server.socket) watch", "Enter")
            try tmux.waitFor("pixel-7  shop")
            try tmux.press("C-z")
            try tmux.waitFor("Stopped")
            #expect(try tmux.property("alternate_on") == "0")
            try tmux.press("fg", "Enter")
            try tmux.waitFor("pixel-7  shop")
            try tmux.press("q")
            try tmux.waitFor("ready>")
            #expect(try tmux.property("alternate_on") == "0")
        }
    }
}
