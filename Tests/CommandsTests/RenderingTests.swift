/// Answers of the daemon in words.

import Profiles
import Testing

@testable import Commands

/// 2026-12-01 10:00 UTC, in a place an hour ahead.
let moment = Moment(now: 1_796_119_200, zone: 3600)

func rendered(_ answer: Answer, _ json: String, coloured: Bool = false) throws -> Rendered {
    answer.render(try JSON5Reader.read(Array(json.utf8).span), Style(isColoured: coloured), moment)
}

struct RenderingTests {
    private static func status(_ health: String, more: String = "") -> String {
        """
        {"version":"0.1.0","gateway":"lab-3","uptime":11520,"profile":{"id":"whistle-qa","name":"Whistle QA",
        "source":"file","mode":"domain","capture":"names","captureBecause":null,
        "upstream":"http whistle.qa.example:8899"},
        "upstream":{"type":"http","host":"whistle.qa.example","port":8899,"kind":"whistle"},"health":\(health),
        "revision":17,"pending":{"revision":17,"until":1796119242},
        "devices":{"seen":12,"named":5,"assigned":3},"flows":{"open":120,"halfOpen":3,"udp":10},
        "traffic":{"up":1048576,"down":52428800,"upRate":30720,"downRate":0},
        "memory":{"residentKiB":31744,"bufferBytes":2097152},"descriptors":140,"connectivity":"direct",
        "limits":[{"limit":"flows","used":120,"of":65536,"hits":0},{"limit":"half_open","used":3,"of":2048,"hits":7},
        {"limit":"descriptors","used":930,"of":1024,"hits":0}],
        "notices":["ufw drops what devices send"],"insists":[],"clock":{"synchronised":false},\(more)
        "resolvers":["10.0.0.53"],"mark":1392508928,"reasons":{"reset":2,"refused by the upstream":12},"counters":{}}
        """
    }

    // B154: each result has its age.
    @Test("status is a card: colour, cause and layers first, then the way, what it carries, and what is wrong besides")
    func status() throws {
        let health = """
            {"colour":"red","cause":{"code":"silent","text":"whistle.qa.example:8899 takes connections and does not answer CONNECT within 10 s"},
            "note":null,"since":1796119080,"lastGood":1796119020,"layers":{"connect":{"ok":true,"ms":3,"at":1796119188,"misses":0},
            "request":{"ok":false,"ms":null,"at":1796119190,"misses":2},"traffic":null},"nextProbe":1796119203}
            """
        let more = """
            "uplink":{"up":false,"words":"eth0 has no carrier"},"decrypts":{"issuer":"Whistle Root CA","refused":true},
            "groups":[{"profile":"lab","choose":"fallback","members":[{"id":"a","colour":"red"},
            {"id":"b","colour":"green"}],"chosen":"b"}],
            "lockdown":{"holds":true,"capabilities":"net_admin","systemCalls":110,"missing":[]},
            """
        let shown = try rendered(.status, Self.status(health, more: more))
        #expect(
            shown.text == """
                ● RED  whistle-qa  Whistle QA
                cause       whistle.qa.example:8899 takes connections and does not answer
                            CONNECT within 10 s
                last good   3 min ago
                since       2 min ago
                connect     3 ms, 12 s ago
                request     fails, 2 times in a row, 10 s ago
                next probe  in 3 s
                uplink      the gateway has none: eth0 has no carrier
                upstream    http whistle.qa.example:8899 (whistle)
                decrypts    yes, with certificates of Whistle Root CA; a device has refused its
                            certificate lately
                group       lab, fallback: b, of a (red), b (green)
                mode        domain, captures names
                from        the file
                gateway     lab-3, version 0.1.0, up 3 h 12 min
                lock-down   holds; rights left: net_admin, 110 system calls
                devices     12 seen, 5 named, 3 assigned
                flows       120 open, 3 half-open, 10 of UDP
                traffic     1.0 MiB up, 50 MiB down; now 30 KiB/s up, 0 B/s down
                memory      31 MiB, 2.0 MiB of buffers, 140 descriptors
                revision    17
                pending     revision 17 is taken back at 11:00, in 42 s, unless `starshipctl
                            confirm` keeps it
                resolvers   10.0.0.53
                refusals    12 refused by the upstream, 2 reset
                limit       half open: 3 of 2048, reached 7 times
                limit       descriptors: 930 of 1024
                clock       not synchronised: signed links can't be checked
                notice      ufw drops what devices send

                """)
        #expect(shown.exitCode == 2)
    }

    @Test("a lock-down that lacks something is told among the notices, and never called whole")
    func notLockedDown() throws {
        let more = """
            "lockdown":{"holds":false,"capabilities":"none","systemCalls":null,"missing":["filter of system calls"]},
            """
        let shown = try rendered(.status, Self.status("null", more: more))
        #expect(shown.text.contains("lock-down   not whole"))
        #expect(!shown.text.contains("holds"))
    }

    @Test(
        "status ends with the code of its colour; what is not known is grey",
        arguments: [
            (#"{"colour":"green"}"#, "● GREEN", 0), (#"{"colour":"yellow"}"#, "● YELLOW", 1),
            (#"{"colour":"grey"}"#, "● GREY", 1), (#"{"colour":"red"}"#, "● RED", 2),
            (#"{"colour":"mauve"}"#, "● GREY", 1), ("null", "● GREY", 1),
        ] as [(String, String, Int32)])
    func codes(health: String, sign: String, code: Int32) throws {
        let shown = try rendered(.status, Self.status(health))
        #expect(shown.text.hasPrefix(sign + "  whistle-qa") && shown.exitCode == code)
    }

    @Test("colours come only where they are wanted")
    func colours() throws {
        let red = Self.status(#"{"colour":"red"}"#)
        #expect(try !rendered(.status, red).text.contains("\u{1b}"))
        let painted = "\u{1b}[31m● RED\u{1b}[0m  \u{1b}[1mwhistle-qa"
        #expect(try rendered(.status, red, coloured: true).text.hasPrefix(painted))
    }

    @Test("a probe shows each step with its time and its error, and ends as status does")
    func probed() throws {
        let shown = try rendered(
            .probed,
            """
            {"profile":"whistle-qa","steps":[{"step":"resolve","ok":true,"ms":2,"words":"10.0.0.7","error":null},
            {"step":"connect","ok":true,"ms":1400,"error":null},
            {"step":"proxy","ok":false,"ms":10000,"error":"no answer to CONNECT within 10 s; is the proxy stopped, or does it ask somebody?"},
            {"step":"request","ok":null,"ms":null,"error":null}],
            "health":{"colour":"red","cause":{"code":"silent","text":"it is silent"}}}
            """)
        #expect(
            shown.text == """
                whistle-qa
                ✓ resolve     2 ms     10.0.0.7
                ✓ connect     1.4 s
                ✗ proxy       10 s     no answer to CONNECT within 10 s; is the proxy stopped,
                                       or does it ask somebody?
                – request
                ● RED  it is silent

                """)
        #expect(shown.exitCode == 2)
    }

    @Test("the page that was chosen stands alone, and why others were not is said beside it")
    func chosen() throws {
        let tried =
            #"[{"url":"http://a/","ok":false,"cause":"302 to http://login.example/"},{"url":"http://b/","ok":true}]"#
        let pages = try PageList.read("http://a/\nhttp://b/ 204\n")
        let shown = try rendered(.pageChosen(pages), #"{"chosen":"http://b/","tried":\#(tried)}"#)
        let setting = "health: { url: \"http://b/\", status: 204 }\n"
        #expect(shown == Rendered(setting, warnings: ["http://a/: 302 to http://login.example/"]))
        let none = try rendered(.pageChosen(pages), #"{"chosen":null,"tried":[]}"#)
        #expect(none.text == "" && none.exitCode == 1 && none.warnings.count == 1)
    }

    @Test("a list of pages is read line by line, and what is none is named with its line")
    func pages() throws {
        let list = try PageList.read("# 2026\r\n\r\nhttp://a.example/ok  200,204 \tall is \"well\" #1 \r\n http://b/\n")
        #expect(list.map(\.line) == ["http://a.example/ok 200,204 all is \"well\" #1", "http://b/"])
        let settings = [
            #"health: { url: "http://a.example/ok", status: [200,204], body: "all is \"well\" #1" }"#,
            #"health: { url: "http://b/" }"#,
        ]
        #expect(list.map(\.setting) == settings)
        let wrong: [(String, String)] = [
            ("", "line 1: found no page; expected one a line"),
            ("http://a/ 99", "line 1: found no statuses; expected some of 200 to 599, with commas between them"),
            (String(repeating: "http://a/\n", count: 33), "line 33: found more than 32 pages; expected fewer"),
        ]
        for (text, message) in wrong {
            let error = #expect(throws: PageListError.self) { try PageList.read(text) }
            #expect(error.map { "\($0)" } == message)
        }
        #expect(throws: PageListError.self) { try PageList.read("https://a/") }
    }

    @Test("a switch says who moved, until when, what became of flows, and who stayed")
    func switched() throws {
        let one = try rendered(
            .switched,
            """
            {"revision":18,"profile":"whistle-qa","moved":1,"devices":["pixel-7"],"kept":[],"until":1796126400,
            "flows":{"reset":12,"draining":3,"untouched":40},"pending":null,"warnings":[]}
            """)
        #expect(
            one.text == """
                pixel-7 is on whistle-qa until 13:00, in 2 h
                flows: 12 reset, 3 busy and draining, 40 untouched

                """)
        #expect(one.warnings == [])
        let all = try rendered(
            .switched,
            """
            {"revision":19,"profile":"charles","moved":2,"devices":["pixel-7","stb"],
            "kept":[{"device":"iphone","profile":"whistle-qa"}],"until":null,
            "flows":{"reset":0,"draining":0,"untouched":4},"pending":{"revision":19,"until":1796119260},
            "warnings":["the upstream did not answer a connection"]}
            """)
        #expect(
            all.text == """
                2 devices moved: pixel-7, stb are on charles
                flows: 0 reset, 4 untouched
                with a profile of their own, not moved: iphone (whistle-qa); --override moves them too
                taken back at 11:01, in 60 s, unless `starshipctl confirm` keeps it

                """)
        #expect(all.warnings == ["the upstream did not answer a connection"])
    }

    @Test("what a device wanted is a line a name, with what became of it")
    func requests() throws {
        let shown = try rendered(
            .requests,
            """
            {"device":"pixel-7","requests":[
            {"name":"shop.example","port":443,"fate":"proxied","profile":"qa","failed":false,"count":3,"open":2,
            "up":2048,"down":5242880,"age":4},
            {"name":"ads.example","fate":"refused","rule":"rules: X","outcome":"refused by a rule","failed":true,
            "count":1,"open":0,"up":0,"down":0,"age":130},
            {"name":"shop.example","fate":"proxied","outcome":"the proxy refused CONNECT shop.example:443 with 403",
            "rule":"domains: x","failed":true,"count":1,"open":0,"up":0,"down":0,"age":131},
            {"name":"news.example","fate":"asked","failed":false,"count":1,"open":0,"up":0,"down":0,"age":7300}]}
            """
        ).text
        let lines = shown.split(separator: "\n").map(String.init)
        #expect(lines.count == 5 && lines.allSatisfy { $0.columns <= 80 })
        let expected = [
            ["4 s", "shop.example", "proxied", "3×", "5.0 MiB", "2 open"],
            ["2 min", "ads.example", "refused", "rules: X"],
            ["2 min", "shop.example", "proxied", "the proxy refused CONNECT"], ["2 h", "news.example", "asked"],
        ]
        for (line, words) in zip(lines.dropFirst(), expected) {
            for word in words { #expect(line.contains(word), "\(word): \(line)") }
        }
        #expect(try rendered(.requests, #"{"device":"stb","requests":[]}"#).text == "stb has wanted nothing yet\n")
    }

    @Test("lists say beside which profile and until when they count, and what was reset for them")
    func ownLists() throws {
        let shown = try rendered(
            .lists,
            """
            {"revision":4,"device":"pixel-7","profile":"qa","until":1796126400,"direct":["cdn.example","full:a.example"],
            "proxied":[],"flows":{"reset":1,"draining":0,"untouched":3},"warnings":["w"]}
            """)
        #expect(
            shown.text == """
                pixel-7, beside qa until 13:00, in 2 h
                direct      cdn.example, full:a.example
                flows: 1 reset, 3 untouched

                """)
        #expect(shown.warnings == ["w"])
        let none = try rendered(.lists, #"{"device":"stb","profile":"qa","direct":[],"proxied":[]}"#)
        #expect(none.text == "stb has no lists of its own\n")
    }

    @Test("what was learned is shown by suffix, then ready to be pasted")
    func lesson() throws {
        let shown = try rendered(
            .lesson,
            """
            {"device":"stb","learning":true,"secondsLeft":90,"names":2,"cut":false,"groups":[{"suffix":"shop.example",
            "names":[{"name":"a.shop.example","asked":true,"opened":false},
            {"name":"shop.example","asked":true,"opened":true}]}],"domains":["shop.example"],
            "text":"domains: [\\"shop.example\\"]"}
            """)
        #expect(
            shown.text == """
                shop.example
                  a.shop.example

                domains: ["shop.example"]
                learning for 90 s more: use stb now, then `starshipctl learn stb --show`

                """)
    }

    @Test("an assignment that is about to end is warned of")
    func ending() throws {
        let shown = try rendered(
            .switched, #"{"profile":"qa","moved":1,"devices":["stb"],"until":1796119260,"flows":{},"kept":[]}"#)
        #expect(shown.warnings == ["the assignment ends at 11:01, in 60 s; `starshipctl use` again makes it longer"])
    }

    @Test("a release names the default")
    func released() throws {
        let shown = try rendered(
            .released,
            #"{"profile":"whistle-qa","moved":1,"devices":["stb"],"kept":[],"flows":{"reset":2,"draining":0,"untouched":0}}"#
        )
        #expect(shown.text == "stb is on the default (whistle-qa) again\nflows: 2 reset, 0 untouched\n")
    }

    @Test("devices stand in a table of 80 columns, whatever their names")
    func devices() throws {
        let long = String(repeating: "long-", count: 12)
        let shown = try rendered(
            .devices,
            """
            {"devices":[{"id":"pixel-7","name":"pixel-7","mac":"3c:28:6d:12:34:56","interface":"wlan0",
            "addresses":["fe80::1","10.9.0.23","2001:db8::23"],"known":true,"profile":"whistle-qa","profileBy":"assignment",
            "until":1796126400,"seen":1796119190,"marks":[],"flows":12},
            {"id":"02:00:00:00:00:01","name":null,"mac":"02:00:00:00:00:01","interface":"wlan0","addresses":[],
            "proposal":"looks like iphone","known":false,"profile":"charles","profileBy":"default","until":null,
            "seen":1796119190,"marks":["several devices behind it"],"flows":0},
            {"id":"\(long)","name":"\(long)","addresses":["10.9.0.24"],"profile":"\(long)","profileBy":"file",
            "marks":["\(long)"],"flows":0}]}
            """)
        let lines = shown.text.split(separator: "\n").map(String.init)
        #expect(lines.count == 4)
        #expect(lines[0].hasPrefix("DEVICE"))
        #expect(lines[1].hasPrefix("pixel-7"))
        #expect(lines[1].contains("10.9.0.23 +2"))
        #expect(lines[1].contains("13:00"))
        #expect(lines[2].contains("several"))
        for line in lines { #expect(line.columns <= 80, "\(line)") }
    }

    @Test("a name of a device can't move the cursor")
    func escapes() throws {
        let shown = try rendered(
            .devices, #"{"devices":[{"id":"10.9.0.9","addresses":["10.9.0.9"],"proposal":"\u001b[2Jx","marks":[]}]}"#)
        #expect(!shown.text.contains("\u{1b}"))
        #expect(shown.text.contains("U+001B[2Jx"))
    }

    @Test("one device is told in full")
    func device() throws {
        let shown = try rendered(
            .device,
            """
            {"id":"pixel-7","name":"pixel-7","mac":"3c:28:6d:12:34:56","interface":"wlan0","addresses":["10.9.0.23"],
            "profile":"whistle-qa","profileBy":"assignment","until":1796126400,"seen":1796119190,"marks":["insists"],"flows":3}
            """)
        #expect(
            shown.text == """
                device      pixel-7
                profile     whistle-qa, by assignment
                until       13:00, in 2 h
                mac         3c:28:6d:12:34:56 on wlan0
                addresses   10.9.0.23
                seen        10 s ago
                flows       3
                mark        insists

                """)
    }

    @Test("wide characters take two columns, and tables stay straight")
    func wide() {
        #expect("測試".columns == 4)
        #expect("e\u{301}".columns == 1)
        var table = TextTable(headings: ["A", "B"])
        table.rows = [["測試", "x"], ["ab", "y"]]
        #expect(table.text(Style(isColoured: false)) == "A     B\n測試  x\nab    y\n")
        #expect("測試測試".cut(to: 5) == "測試…")
    }

    @Test("why stops at the first step that is broken")
    func why() throws {
        let shown = try rendered(
            .why,
            """
            {"steps":[{"step":"seen on the LAN","ok":true,"evidence":"wlan0, 10.9.0.23, 2 s ago"},
            {"step":"asks our DNS","ok":null,"evidence":"not asked yet"},
            {"step":"upstream","ok":false,"evidence":"whistle.qa.example:8899 refuses connections"},
            {"step":"bytes back","ok":true,"evidence":"never shown"}],"verdict":"The upstream is down."}
            """)
        #expect(shown.exitCode == 1)
        #expect(
            shown.text == """
                1 ✓ seen on the LAN  wlan0, 10.9.0.23, 2 s ago
                2 – asks our DNS     not asked yet
                3 ✗ upstream         whistle.qa.example:8899 refuses connections
                The upstream is down.

                """)
        let once = try rendered(
            .why,
            #"{"steps":[{"step":"upstream","ok":false,"evidence":"it is down"}],"verdict":"upstream: it is down"}"#)
        #expect(once.text == "1 ✗ upstream  it is down\n")
        let good = try rendered(.why, #"{"steps":[{"step":"a","ok":true,"evidence":"b"}],"verdict":"All is well."}"#)
        #expect(good.exitCode == 0)
    }

    @Test("a push says what changed, and what waits for a start")
    func pushed() throws {
        let shown = try rendered(
            .reloaded,
            """
            {"revision":20,"changed":["profile whistle-qa: port 8899 is 8900"],"flows":{"reset":1,"draining":0,"untouched":2},
            "pending":null,"warnings":[],"needsRestart":["control","push"]}
            """)
        #expect(
            shown.text == """
                revision 20: read again
                  profile whistle-qa: port 8899 is 8900
                flows: 1 reset, 2 untouched

                """)
        #expect(
            shown.warnings == ["control, push: changed in the file, and taken at the next start of starshipd alone"])
        #expect(
            try rendered(.pushed, #"{"revision":3,"changed":[]}"#).text == "revision 3: applied, nothing has changed\n")
    }

    @Test("lists of profiles, revisions, flows and differences fit 80 columns")
    func lists() throws {
        let texts = [
            try rendered(
                .profiles,
                """
                {"profiles":[{"id":"whistle-qa","name":"Whistle QA, the one on the second floor behind the printer",
                "source":"file","hidden":false,"active":true,"selfService":true,"mode":"domain",
                "upstream":"http whistle.qa.example:8899","devices":["pixel-7","stb"]},
                {"id":"charles","name":"charles","source":"store","hidden":true,"active":false,"selfService":false,
                "mode":"global","upstream":"http 10.0.0.7:8888","devices":[]}]}
                """
            ).text,
            try rendered(
                .history,
                """
                {"current":17,"revisions":[{"revision":17,"at":1796119190,"by":"root","how":"push",
                "summary":"profile whistle-qa was added, and the default went from charles to it at once"},
                {"revision":16,"at":1796000000,"by":"key beetle","how":"link","summary":"pixel-7 to charles"}]}
                """
            ).text,
            try rendered(
                .flows,
                """
                {"flows":[{"device":"pixel-7","client":"10.9.0.23:50000","target":"198.18.0.20:443","name":"shop.example",
                "profile":"whistle-qa","upstream":"http whistle.qa.example:8899","rule":"domains","state":"established",
                "up":2048,"down":5242880,"ms":61000}],"total":120}
                """
            ).text,
        ]
        for text in texts {
            for line in text.split(separator: "\n") { #expect(String(line).columns <= 80, "\(line)") }
        }
        #expect(texts[1].contains("2026-11-30"))
        #expect(texts[2].contains("shop.ex"))
        #expect(texts[2].contains("1 of 120"))
        let differences = try rendered(
            .differences,
            #"{"differences":[{"path":"active","file":"charles","running":"whistle-qa"},{"path":"x","file":null,"running":[1,{"a":true}]}]}"#
        )
        #expect(differences.exitCode == 1)
        #expect(
            differences.text == """
                active
                  file:    charles
                  running: whistle-qa
                x
                  file:    nothing
                  running: [1, { a: true }]

                """)
        #expect(try rendered(.differences, #"{"differences":[]}"#).exitCode == 0)
    }

    @Test(
        "an error is one line, with everything that it says, once",
        arguments: [
            (
                #"{"error":{"code":"badValue","message":"line 3: port: found 70000; expected a whole number from 1 to 65535","path":"port","line":3,"found":"70000","expected":"a whole number from 1 to 65535"}}"#,
                "line 3: port: found 70000; expected a whole number from 1 to 65535"
            ),
            (
                #"{"error":{"code":"notFound","message":"no such profile","path":"profile","found":"whistel","expected":"one that there is","hint":"did you mean whistle?"}}"#,
                "profile: no such profile; found whistel; expected one that there is (did you mean whistle?)"
            ),
            (#"{"error":{"code":"unavailable"}}"#, "unavailable"),
            (#"{"error":{"message":"two\nlines"}}"#, "twoU+000Alines"),
        ])
    func errors(json: String, line: String) throws {
        #expect(Found(try JSON5Reader.read(Array(json.utf8).span)).error == line)
    }

    @Test(
        "every answer is shown without trouble when it says nothing",
        arguments: [
            Answer.status, .switched, .released, .devices, .device, .named, .forgotten, .profiles, .pushed, .confirmed,
            .rolledBack, .reloaded, .history, .differences, .why, .explanation, .flows, .link, .capturing, .captured,
        ])
    func empty(answer: Answer) throws {
        for json in ["{}", "[]", "null", "3", #"{"devices":3,"profile":[],"flows":{"reset":"x"},"until":1e300}"#] {
            for line in try rendered(answer, json).text.split(separator: "\n") { #expect(String(line).columns <= 80) }
        }
    }

    @Test("a document is shown as JSON, or as it came")
    func documents() throws {
        #expect(
            try rendered(.document, #"{"id":"qa","upstream":{"port":1}}"#).text == """
                {
                  "id": "qa",
                  "upstream": {
                    "port": 1
                  }
                }

                """)
        #expect(try rendered(.document, #"{"a":0.5}"#).text == "")
    }

    @Test("a link is looked at before it is applied")
    func preview() throws {
        let json = """
            {"link":{"action":"activate","profile":"link-1","name":"Whistle QA","upstream":"http whistle.qa.example:8899",
            "domains":["a.example","b.example"],"key":"beetle","expires":1796126400,"isNew":true}}
            """
        let answer = Found(try JSON5Reader.read(Array(json.utf8).span))
        func preview(_ application: Application) -> String {
            ApplyText.preview(answer, of: application, Style(isColoured: false), moment)
        }
        #expect(
            preview(Application(target: .device("pixel-7"), duration: "2h")) == """
                profile     Whistle QA (link-1, new)
                upstream    http whistle.qa.example:8899
                domains     a.example, b.example
                signed by   beetle
                link ends   13:00, in 2 h
                for         pixel-7
                lasts       2h

                """)
        #expect(
            preview(Application(target: .all)).hasSuffix("for         all devices, but those with one of their own\n"))
    }
}
