/// `starshipctl` itself, against a daemon that keeps to a script.

import Foundation
import Profiles
import TestSupport
import Testing

@testable import Commands

private let switched =
    #"{"revision":2,"profile":"qa","moved":1,"devices":["pixel-7"],"kept":[],"until":null,"flows":{"reset":1,"draining":0,"untouched":0},"pending":null,"warnings":["w"]"#

private let link = "starship://activate?v=1&profile=qa"

/// A script with these answers.
private func script(_ answers: String, web: String = "", names: String = "") -> String {
    "{\"answers\":[\(answers)],\"web\":[\(web)],\"names\":{\(names)}}"
}

private let refusal = #"{"error":{"code":"notFound","message":"found no profile qa; expected one that there is"}}"#

struct ProgramTests {
    @Test("an answer comes in words, its warnings on standard error")
    func words() throws {
        let server = try ScriptedControl(script(#"{"to":"POST /v1/activate","status":200,"json":\#(switched)}}"#))
        let result = try server.run(["use", "qa", "--device", "pixel-7"])
        #expect(result.output == "pixel-7 is on qa\nflows: 1 reset, 0 untouched\n")
        #expect(result.errors == "starshipctl use: warning: w\n")
        #expect(result.status == 0)
        #expect(try server.requests().map(\.body) == [#"{"profile":"qa","device":"pixel-7"}"#])
    }

    @Test("with --json the daemon's answer is printed as it is, an error too")
    func json() throws {
        let raw = #"{ "revision" : 7,   "odd":1.50e1 }"#
        let text = raw.split(separator: "\"").joined(separator: "\\\"")
        let server = try ScriptedControl(
            script(
                #"{"to":"GET /v1/history","status":200,"text":"\#(text)"},"#
                    + #"{"to":"POST /v1/rollback","status":404,"json":\#(refusal)}"#))
        #expect(try server.run(["history", "--json"]).output == raw + "\n")
        let refused = try server.run(["rollback", "3", "--json"])
        #expect(refused.output.hasPrefix(#"{"error": {"code": "notFound""#))
        #expect(refused.errors == "starshipctl rollback: found no profile qa; expected one that there is\n")
        #expect(refused.status == 1)
    }

    @Test(
        "status ends with the code of its colour, with --json too",
        arguments: [("green", 0), ("yellow", 1), ("grey", 1), ("red", 2)] as [(String, Int32)])
    func status(colour: String, code: Int32) throws {
        let server = try ScriptedControl(
            script(#"{"to":"GET /v1/status","status":200,"json":{"health":{"colour":"\#(colour)"}}}"#))
        #expect(try server.run(["status"]).status == code)
        #expect(try server.run(["status", "--json"]).status == code)
    }

    @Test("without a daemon each command ends with 3, and completion stays silent")
    func noDaemon() throws {
        let scratch = try Scratch()
        for line in [
            ["status"], ["watch"], ["watch", "--json"], ["probe"], ["ca", "qa"], ["use", "qa", "--all"], ["confirm"],
            ["qr", "qa"],
            ["push", "-"], ["apply", link, "--all"],
        ] {
            let result = try TestSupport.Command.run(
                ["env", "STARSHIP_SOCKET=\(scratch.path("no"))", "\(Lab.binaries)/starshipctl"] + line,
                in: scratch.directory, input: Array("{}".utf8))
            #expect(result.status == 3)
            #expect(result.errors.contains("\(scratch.path("no")): found no daemon (No such file or directory)"))
            #expect(result.errors.split(separator: "\n").count == 1)
        }
        let silent = try TestSupport.Command.run(
            ["\(Lab.binaries)/starshipctl", "completion", "--list", "profiles", "--socket", scratch.path("no")],
            in: scratch.directory)
        #expect(silent.errors == "" && silent.output == [] && silent.status == 0)
    }

    @Test("colours: on a terminal, never with NO_COLOR, always when told so")
    func colours() throws {
        let server = try ScriptedControl(
            script(#"{"to":"GET /v1/status","status":200,"json":{"health":{"colour":"green"}}}"#))
        let program = ["\(Lab.binaries)/starshipctl", "--socket", server.socket, "status"]
        func shown(_ environment: [String], _ more: [String] = []) throws -> String {
            let scratch = try Scratch()
            let line = Lab.python(["terminal.py", "", "env"]) + ["TERM=xterm"] + environment + program + more
            return String(
                decoding: try TestSupport.Command.run(line, in: scratch.directory).output, as: UTF8.self)
        }
        #expect(try shown([]).contains("\u{1b}[32m●"))
        #expect(try !shown(["NO_COLOR=1"]).contains("\u{1b}"))
        #expect(try !shown(["TERM=dumb"]).contains("\u{1b}"))
        #expect(try !shown([], ["--color", "never"]).contains("\u{1b}"))
        #expect(try !server.run(["status"]).output.contains("\u{1b}"))
        #expect(try server.run(["status", "--color", "always"], environment: ["NO_COLOR=1"]).output.contains("\u{1b}"))
    }

    /// Watches until a text was written, and for a while longer: all lines.
    private func watch(_ more: [String] = [], until text: String) throws -> [String] {
        let head = #"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\nevent: hello\ndata: {\"newest\":4}\n\n"#
        let red = #"{\"at\":0,\"profile\":\"qa\",\"colour\":\"red\",\"cause\":{\"text\":\"it is silent\"}}"#
        let event = #"id: 5\nevent: health\ndata: \#(red)\n\n"#
        let status =
            #"{"to":"GET /v1/status","status":200,"json":{"profile":{"id":"qa"},"health":{"colour":"COLOUR"}}}"#
        let answers = ["green", "green", "red"].map { status.split(separator: "COLOUR").joined(separator: $0) }
        let stream = #"{"to":"GET /v1/events","hold":true,"pause":0.5,"pieces":["\#(head)","\#(event)"]}"#
        let server = try ScriptedControl(script((answers + [stream]).joined(separator: ",")))
        let scratch = try Scratch()
        let line = ["\(Lab.binaries)/starshipctl", "--socket", server.socket, "watch"] + more
        let program = try LabProgram(beside: line, in: scratch.directory)
        try program.waitFor(text, within: 30)
        // Two more polls say nothing new.
        _ = Lab.wait(2.5) { false }
        #expect(program.errors == "" && program.isRunning)
        program.end(.terminate)
        return program.output.split(separator: "\n").map(String.init)
    }

    @Test("watch writes a line for each change where there is no terminal")
    func watchLines() throws {
        let lines = try watch(until: "silent")
        #expect(lines.map { $0.dropFirst(20) } == ["qa is green", "qa is red: it is silent"])
        #expect(lines.last?.hasPrefix("1970-01-01 ") == true)
    }

    @Test("watch --json passes events on as they are, and says of itself what no event says")
    func watchJSON() throws {
        let lines = try watch(["--json"], until: "silent")
        #expect(lines.first == #"{"event":"hello","data":{"newest":4}}"#)
        let red = #"{"at":0,"profile":"qa","colour":"red","cause":{"text":"it is silent"}}"#
        #expect(lines.last == #"{"event":"health","data":\#(red)}"#)
        #expect(lines.count == 3 && lines.contains { $0.hasSuffix(#""text":"qa is green"}}"#) })
    }

    @Test("probe --choose tries the pages of a file and prints the one that answers")
    func choose() throws {
        let answer = #"{"chosen":"http://b/","tried":[{"url":"http://a/","ok":false,"cause":"302"}]}"#
        let server = try ScriptedControl(script(#"{"to":"POST /v1/probe","status":200,"json":\#(answer)}"#))
        let scratch = try Scratch()
        try Scratch.put(Array("http://a/\n# later\nhttp://b/ 203 x y\n".utf8), scratch.path("pages"))
        let shown = try server.run(["probe", "qa", "--choose", "--pages", scratch.path("pages")])
        #expect(
            shown.output == "health: { url: \"http://b/\", status: 203, body: \"x y\" }\n"
                && shown.errors == "starshipctl probe: warning: http://a/: 302\n")
        #expect(try server.requests().map(\.body) == [#"{"profile":"qa","urls":["http://a/","http://b/ 203 x y"]}"#])
        #expect(try server.run(["probe", "--choose", "--pages", "/dev/null"]).errors.contains("/dev/null: "))
    }

    @Test("ca writes the certificate as it came, and ends with 1 when no phone can use it", arguments: [true, false])
    func authority(isGood: Bool) throws {
        let pem = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
        let answer = JSON.members([
            "profile": .string("qa"), "kind": .string("charles"), "url": .string("http://chls.pro/ssl"),
            "name": .string("Charles"), "subject": .string("CN=Charles"), "issuer": .string("CN=Charles"),
            "sha256": .string("AA:BB"), "notAfter": .integer(2_000_000_000), "isAuthority": .boolean(isGood),
            "pem": .string(pem), "warnings": .strings(isGood ? [] : ["found a certificate of a server"]),
        ]).text
        let server = try ScriptedControl(script(#"{"to":"GET /v1/profiles/qa/ca","status":200,"json":\#(answer)}"#))
        let scratch = try Scratch()
        let shown = try server.run(["ca", "qa", "--out", scratch.path("charles.pem")])
        #expect(try Scratch.bytes(scratch.path("charles.pem")) == Array(pem.utf8))
        #expect(shown.status == (isGood ? 0 : 1))
        #expect(shown.errors == (isGood ? "" : "starshipctl ca: warning: found a certificate of a server\n"))
        for words in ["subject  CN=Charles\n", "sha256   AA:BB\n", "until    2033-05-1", "http://chls.pro/ssl", "iOS"] {
            #expect(shown.output.contains(words), "\(shown.output)")
        }
        #expect(!shown.output.contains("issuer"))
    }

    @Test("confirm finds out what waits for it")
    func confirm() throws {
        let server = try ScriptedControl(
            script(
                #"{"to":"GET /v1/status","status":200,"json":{"pending":{"revision":18,"until":5}}},"#
                    + #"{"to":"GET /v1/status","status":200,"json":{"pending":null}},"#
                    + #"{"to":"POST /v1/confirm","status":200,"json":{"revision":18,"changed":[]}}"#))
        #expect(try server.run(["confirm"]).output == "revision 18: kept, nothing has changed\n")
        #expect(try server.requests().last?.body == #"{"revision":18}"#)
        let nothing = try server.run(["confirm"])
        #expect(nothing.errors.hasPrefix("starshipctl confirm: found nothing that waits for it; expected"))
        #expect(nothing.status == 1)
    }

    @Test("version names both programs")
    func version() throws {
        let server = try ScriptedControl(script(#"{"to":"GET /v1/status","status":200,"json":{"version":"9.9"}}"#))
        #expect(
            try server.run(["version"]).output
                == "starshipctl \(ProgramVersion.text)\nstarshipd 9.9, at \(server.socket)\n")
    }

    @Test("completion's words come from the daemon, one a line")
    func candidates() throws {
        let server = try ScriptedControl(
            script(
                #"{"to":"GET /v1/profiles","status":200,"json":{"profiles":[{"id":"a"},{"id":"b"},{"id":"$(touch x)"}]}},"#
                    + #"{"to":"GET /v1/devices","status":200,"json":{"devices":[{"id":"stb"}]}}"#))
        #expect(try server.run(["completion", "--list", "profiles"]).output == "a\nb\n")
        #expect(try server.run(["completion", "--list", "devices"]).output == "stb\n")
    }

    @Test("before the gateway goes each device of the last 7 days is named with what it must undo")
    func leaving() throws {
        let day = 86_400
        let now = Int(Date().timeIntervalSince1970)
        let server = try ScriptedControl(
            script(
                #"{"to":"GET /v1/devices","status":200,"json":{"devices":["#
                    + #"{"id":"pixel-7","name":"pixel-7","addresses":["10.9.0.23"],"profile":"qa","#
                    + #""seen":\#(now - 6 * day)},"#
                    + #"{"id":"10.9.0.4","addresses":["10.9.0.4"],"profile":"plain","seen":\#(now - 60)},"#
                    + #"{"id":"stb","name":"stb","addresses":[],"profile":"plain","seen":null},"#
                    + #"{"id":"long-gone","addresses":["10.9.0.5"],"profile":"qa","seen":\#(now - 8 * day)}]}},"#
                    + #"{"to":"GET /v1/profiles/qa","status":200,"json":{"upstream":{"type":"http","kind":"charles"}}},"#
                    + #"{"to":"GET /v1/profiles/plain","status":200,"json":{"upstream":{"type":"http","kind":"squid"}}}"#
            ))
        let lines = try server.run(["devices", "--leaving"]).output.split(separator: "\n")
        #expect(lines.first { $0.hasPrefix("pixel-7") }?.hasSuffix("router, DNS, certificate of qa") == true)
        #expect(lines.first { $0.hasPrefix("10.9.0.4") }?.hasSuffix("router, DNS") == true)
        #expect(lines.contains { $0.hasPrefix("stb") })
        #expect(!lines.contains { $0.contains("long-gone") || $0.contains("10.9.0.5") })
        #expect(lines.contains { $0.contains("starshipctl ca PROFILE") })
        #expect(try server.run(["devices", "pixel-7", "--leaving"]).status == ExitCode.usage)
    }

    @Test("a new key is in a new file of mode 0600, shown nowhere, and never written over")
    func keygen() throws {
        let server = try ScriptedControl(script(""))
        let scratch = try Scratch()
        let path = scratch.path("beetle.key")
        let made = try server.run(["keygen", path])
        #expect(made.status == 0)
        let key = String(decoding: try Scratch.bytes(path), as: UTF8.self)
        #expect(key.count == 65 && key.dropLast().allSatisfy { $0.isHexDigit && !$0.isUppercase })
        #expect(made.output.contains("key beetle, in \(path) (mode 0600)"))
        #expect(made.output.contains(#"keys: [{ id: "beetle", file: "\#(path)""#))
        #expect(!made.output.contains(key.dropLast()))
        let mode = try TestSupport.Command.run(["stat", "-c", "%a", path], in: scratch.directory)
        #expect(String(decoding: mode.output, as: UTF8.self) == "600\n")
        let again = try server.run(["keygen", path])
        #expect(again.status == 1)
        #expect(again.errors.contains("a key is never overwritten"))
        #expect(String(decoding: try Scratch.bytes(path), as: UTF8.self) == key)
        // Neither does it follow a link.
        _ = try TestSupport.Command.run(["ln", "-s", "nowhere", "link"], in: scratch.directory)
        #expect(try server.run(["keygen", scratch.path("link")]).status == 1)
        #expect(!scratch.names.contains("nowhere"))
    }
}

struct PushProgramTests {
    private static let pushed = #"{"revision":3,"changed":["profile qa is new"]}"#

    @Test("a file with one profile, and standard input with many, go where they belong")
    func files() throws {
        let server = try ScriptedControl(
            script(
                #"{"to":"PUT /v1/profiles/qa","status":201,"json":\#(Self.pushed)},"#
                    + #"{"to":"PUT /v1/config","status":200,"json":\#(Self.pushed)}"#))
        let scratch = try Scratch()
        let profile = "{ id: 'qa', // mine\r\n upstream: { type: 'http', host: 'a', port: 1 } }"
        try Scratch.put(Array(profile.utf8), scratch.path("qa.json5"))
        let one = try server.run(["push", scratch.path("qa.json5"), "--confirm", "60"])
        #expect(
            one.output == "\(scratch.path("qa.json5")): one profile, qa\nrevision 3: applied\n  profile qa is new\n")
        let many = try server.run(["push", "-"], input: "{ profiles: [] }")
        #expect(many.output.hasPrefix("standard input: all of the lab's profiles\n"))
        let requests = try server.requests()
        #expect(requests.map(\.target) == ["/v1/profiles/qa?confirm=60", "/v1/config"])
        #expect(requests.map(\.body) == [profile, "{ profiles: [] }"])
    }

    @Test("what the daemon says of a document begins with the document's name")
    func refused() throws {
        let error =
            #"{"error":{"code":"badValue","message":"line 2, column 9: profiles[0].upstream.port: found 70000; expected a whole number from 1 to 65535","line":2}}"#
        let server = try ScriptedControl(script(#"{"to":"PUT /v1/config","status":422,"json":\#(error)}"#))
        let result = try server.run(["push", "-"], input: "{ profiles: [{\n port: 70000 }] }")
        #expect(
            result.errors
                == "starshipctl push: standard input: line 2, column 9: profiles[0].upstream.port: found 70000; expected a "
                + "whole number from 1 to 65535\n")
        #expect(result.status == 1)
    }

    @Test("files that can't be pushed are named")
    func unreadable() throws {
        let server = try ScriptedControl(script(""))
        #expect(try server.run(["push", "/nonexistent"]).errors.contains("/nonexistent: No such file or directory"))
        #expect(try server.run(["push", "/tmp"]).errors.contains("/tmp: not a regular file"))
        let large = try server.run(["push", "-"], input: String(repeating: " ", count: (1 << 20) + 1))
        #expect(large.errors.contains("standard input: found more than 1024 KiB"))
        #expect(
            try server.run(["push", "-"], input: "{ upstream: {} }").errors.contains("id: found a profile without one"))
        #expect(try server.requests() == [])
    }

    private func server(
        _ web: String, state: String = "lost", names: String = #""cfg.example.test":"127.0.0.1""#
    ) throws -> ScriptedControl {
        try ScriptedControl(
            script(
                #"{"to":"GET /v1/status","status":200,"json":{"profile":{"upstreamState":"\#(state)"},"resolvers":["127.0.0.1:$DNS"],"mark":1392508928}},"#
                    + #"{"to":"PUT /v1/config","status":200,"json":\#(Self.pushed)}"#,
                web: web, names: names))
    }

    @Test("with a dead upstream a document is fetched past it, its name asked of the resolvers themselves (B189)")
    func fetched() throws {
        let server = try server(#"{"to":"GET /lab.json5","status":200,"text":"{ profiles: [] }"}"#)
        let address = "http://cfg.example.test:\(server.webPort)/lab.json5"
        let result = try server.run(["push", address + "?token=S3cr3t-Zq"])
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.output.hasPrefix("\(address): all of the lab's profiles\n"))
        #expect(!result.output.contains("S3cr3t"))
        #expect(try server.names() == ["cfg.example.test"])
        #expect(try server.requests("web").map(\.target) == ["/lab.json5?token=S3cr3t-Zq"])
        #expect(try server.requests().last?.body == "{ profiles: [] }")
    }

    @Test(
        "only 200 is a document: everything else is said, with the first 80 characters, and changes nothing (B184)",
        arguments: [
            (
                #""status":403,"text":"The subscription does not contain any valid info""#,
                "found status 403, \"The subscription does not contain any valid info\"; expected 200"
            ),
            (
                #""status":502,"text":"<html>\n<title>bad gateway\u001b[2J</title></html>""#,
                "found status 502, \"<html> <title>bad gateway[2J</title></html>\""
            ),
            (#""status":204,"text":"""#, "found status 204; expected 200"),
            (
                #""status":301,"text":"","fields":{"Location":"http://portal.example.test/login"}"#,
                "found status 301; expected 200 (redirects aren't followed"
            ),
            (
                #""status":500,"text":"\#(String(repeating: "x", count: 200))""#,
                "found status 500, \"\(String(repeating: "x", count: 80))\"; expected 200"
            ),
        ])
    func statuses(answer: String, message: String) throws {
        let server = try server("{\"to\":\"*\",\(answer)}")
        let result = try server.run(["push", "http://127.0.0.1:\(server.webPort)/c.json"])
        #expect(result.errors.contains(message), "\(result.errors)")
        #expect(result.errors.split(separator: "\n").count == 1)
        #expect(result.status == 1)
        #expect(try server.requests().map(\.method) == ["GET"])
    }

    @Test("a document that is none is refused by the daemon, in its words (B185)")
    func foreign() throws {
        let error =
            #"{"error":{"code":"syntax","message":"found what looks like a Base64 text; expected a configuration"}}"#
        let server = try ScriptedControl(
            script(
                #"{"to":"GET /v1/status","status":200,"json":{"resolvers":[]}},{"to":"PUT /v1/config","status":400,"json":\#(error)}"#,
                web: #"{"to":"*","status":200,"text":"dm1lc3M6Ly9leGFtcGxl"}"#))
        let result = try server.run(["push", "http://127.0.0.1:\(server.webPort)/c"])
        #expect(result.errors.contains("/c: found what looks like a Base64 text; expected a configuration"))
    }

    @Test("names that do not exist, servers that are not there and answers without end end by themselves")
    func failures() throws {
        let server = try server(
            #"{"to":"GET /silent","pieces":[],"hold":true},"#
                + #"{"to":"GET /torn","pieces":["HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{"]},"#
                + #"{"to":"GET /large","status":200,"text":"\#(String(repeating: " ", count: (1 << 20) + 1))"}"#,
            names: #""cfg.example.test":"127.0.0.1","mute.example.test":"silence""#)
        let here = "http://127.0.0.1:\(server.webPort)"
        for (address, message) in [
            ("http://nx.example.test/x", "the host's name does not exist, says 127.0.0.1"),
            ("http://mute.example.test/x", "the host's name was not resolved by 127.0.0.1"),
            ("http://127.0.0.1:1/x", "found no connection (127.0.0.1:1: Connection refused)"),
            ("\(here)/silent", "found no answer within 5 s"), ("\(here)/torn", "found a part of an answer"),
            ("\(here)/large", "found an answer of more than 1024 KiB"),
        ] {
            let result = try server.run(["push", address])
            #expect(result.errors.contains(message), "\(address): \(result.errors)")
            #expect(result.status == 1)
        }
        #expect(try server.requests().allSatisfy { $0.method == "GET" })
    }
}

struct LinkProgramTests {
    private static let answer = switched + #","link":{"action":"activate","profile":"qa","name":"Whistle QA"}}"#
    private static let applies = #"{"to":"POST /v1/links/apply","status":200,"json":\#(answer)}"#

    @Test("a link is looked at first, and applied with --yes")
    func agreed() throws {
        let server = try ScriptedControl(script(Self.applies))
        let result = try server.run(["apply", link, "--device", "pixel-7", "--yes"])
        #expect(result.status == 0)
        #expect(result.output.contains("profile     Whistle QA (qa)"))
        #expect(result.output.hasSuffix("pixel-7 is on qa\nflows: 1 reset, 0 untouched\n"))
        #expect(
            try server.requests().map(\.body) == [
                #"{"link":"\#(link)","device":"pixel-7","check":true}"#, #"{"link":"\#(link)","device":"pixel-7"}"#,
            ])
    }

    @Test("without a terminal and without --yes nothing happens")
    func unasked() throws {
        let server = try ScriptedControl(script(Self.applies))
        let result = try server.run(["apply", link, "--device", "pixel-7"], input: "y\n")
        #expect(result.errors == "starshipctl apply: found no terminal to ask on; expected one, or --yes\n")
        #expect(result.status == 1)
        #expect(try server.requests().map(\.body) == [#"{"link":"\#(link)","device":"pixel-7","check":true}"#])
    }

    @Test(
        "on a terminal it asks, and only yes is yes",
        arguments: [("y\n", 2), ("YES\n", 2), ("n\n", 1), ("\n", 1), ("x\n", 1)])
    func asked(input: String, requests: Int) throws {
        let server = try ScriptedControl(script(Self.applies))
        let scratch = try Scratch()
        let line = [
            "terminal.py", input, "\(Lab.binaries)/starshipctl", "--socket", server.socket, "apply", link, "--device",
            "pixel-7",
        ]
        let result = try TestSupport.Command.run(Lab.python(line), in: scratch.directory)
        let output = String(decoding: result.output, as: UTF8.self)
        #expect(output.contains("Do it? [y/N]"))
        #expect(output.hasSuffix(requests == 2 ? "exit 0\n" : "exit 1\n"))
        #expect(try server.requests().count == requests)
    }

    @Test("a link with a password comes from standard input, and is shown nowhere (B215)")
    func secret() throws {
        let server = try ScriptedControl(script(Self.applies))
        let text = "http://user:S3cr3t-Zq@proxy.example:8080#Lab"
        let result = try server.run(["apply", "-", "--all", "--yes"], input: text + "\r\n")
        #expect(result.status == 0, "\(result.errors)")
        #expect(!result.output.contains("S3cr3t") && !result.errors.contains("S3cr3t"))
        #expect(try server.requests().last?.body == #"{"link":"\#(text)","all":true}"#)
    }

    @Test("a scanner's lines are applied one by one, bad ones said, and the end says how many")
    func scanned() throws {
        let server = try ScriptedControl(
            script(
                Self.applies + "," + #"{"to":"POST /v1/links/apply","status":403,"json":\#(refusal)},"#
                    + Self.applies
                    + #",{"to":"GET /v1/devices/pixel-7","status":200,"json":{"id":"pixel-7","profile":"charles"}}"#))
        let lines =
            "\u{feff}\(link)\r\nrubbish\n\nstarship://device?v=1&name=nobody\nstarship://device?v=1&name=pixel-7\n\(link)\n\(link)\n\(link)"
        let result = try server.run(["scan"], input: lines)
        #expect(
            result.output == """
                pixel-7 (charles): scan its profile within 60 s
                pixel-7 → Whistle QA
                pixel-7 → Whistle QA
                2 applied, 4 refused

                """)
        let errors = result.errors.split(separator: "\n")
        #expect(errors.count == 4, "\(result.errors)")
        #expect(errors[0].hasPrefix("starshipctl scan: line 1: found no device; expected a device's sticker first"))
        #expect(result.errors.contains("line 7: found no profile qa"))
        #expect(result.status == 1)
        let good = try server.run(["scan", "--device", "stb"], input: link + "\n")
        #expect(good.output == "stb → Whistle QA\n1 applied, 0 refused\n")
        #expect(good.status == 0)
    }

    @Test("each line is applied as soon as it is there")
    func atOnce() throws {
        let server = try ScriptedControl(script(Self.applies))
        let scratch = try Scratch()
        // The input stays open until the first line has been seen.
        let command = """
            mkfifo in; \(Lab.binaries)/starshipctl --socket \(server.socket) scan --all <in >out & exec 3>in
            echo '\(link)' >&3
            for i in $(seq 100); do [ -s out ] && break; sleep 0.1; done
            cat out; exec 3>&-; wait
            """
        let result = try TestSupport.Command.run(["bash", "-c", command], in: scratch.directory)
        #expect(String(decoding: result.output, as: UTF8.self) == "all devices → Whistle QA, 1 device moved\n")
    }
}

struct DrawingProgramTests {
    private static let made =
        #"{"to":"POST /v1/links","status":200,"json":{"link":"http://10.9.0.1/a?v=1&profile=qa"}}"#

    @Test("zbarimg reads the image that qr writes, and what is printed is the link")
    func image() throws {
        let server = try ScriptedControl(script(Self.made))
        let scratch = try Scratch()
        let result = try server.run(["qr", "qa", "--page", "10.9.0.1", "--png", scratch.path("code.png")])
        #expect(result.output == "\(scratch.path("code.png")): http://10.9.0.1/a?v=1&profile=qa\n")
        let read = try TestSupport.Command.run(
            ["zbarimg", "-q", "--nodbus", "--raw", "code.png"], in: scratch.directory)
        #expect(String(decoding: read.output, as: UTF8.self) == "http://10.9.0.1/a?v=1&profile=qa\n")
    }

    @Test("without colours a code says for which background it is; --invert is for the other one")
    func terminal() throws {
        let server = try ScriptedControl(script(Self.made))
        #expect(try server.run(["qr", "qa"]).output.hasSuffix("(drawn for a dark background)\n"))
        #expect(try server.run(["qr", "qa", "--invert"]).output.hasSuffix("(drawn for a light background)\n"))
        #expect(try server.run(["qr", "qa", "--color", "always"]).output.hasPrefix("\u{1b}[38;5;16;48;5;231m"))
    }

    @Test("the sheet is written with mode 0600 when it opens the Wi-Fi, and its password file must be secret")
    func sheet() throws {
        let server = try ScriptedControl(
            script(
                #"{"to":"GET /v1/status","status":200,"json":{"gateway":"lab"}},"#
                    + #"{"to":"GET /v1/profiles","status":200,"json":{"profiles":[{"id":"qa","name":"QA","selfService":true}]}},"#
                    + #"{"to":"GET /v1/devices","status":200,"json":{"devices":[]}}"#))
        let scratch = try Scratch()
        try Scratch.put(Array("S3cr3t-Zq\n".utf8), scratch.path("pw"))
        let line = ["qr", "--sheet", scratch.path("wall.svg"), "--ssid", "Lab", "--password-file", scratch.path("pw")]
        _ = try TestSupport.Command.run(["chmod", "644", "pw"], in: scratch.directory)
        let open = try server.run(line)
        #expect(open.errors.contains("others may read this secret"))
        _ = try TestSupport.Command.run(["chmod", "600", "pw"], in: scratch.directory)
        let result = try server.run(line)
        #expect(result.output == "\(scratch.path("wall.svg")): Wi-Fi Lab, QA\n", "\(result.errors)")
        #expect(!result.output.contains("S3cr3t"))
        let mode = try TestSupport.Command.run(["stat", "-c", "%a", "wall.svg"], in: scratch.directory)
        #expect(String(decoding: mode.output, as: UTF8.self) == "600\n")
    }
}
