/// Arguments to requests: each command, as it is meant.

import Profiles
import QRCode
import Testing

@testable import Commands

/// What a command line asks of the daemon, as one line: method, target, body.
func asked(_ line: String) throws -> String {
    guard case .ask(let request, _) = try CommandTable.parse(words(line)).command else { return "no request" }
    return wire(request)
}

func wire(_ request: APIRequest) -> String {
    let body = request.body.map { " " + String(decoding: $0, as: UTF8.self) } ?? ""
    return "\(request.method) \(request.target)\(body)"
}

/// Cuts at blanks; `_` within a word stands for a blank.
func words(_ line: String) -> [String] {
    line.split(separator: " ").map { String($0.map { $0 == "_" ? " " : $0 }) }
}

struct ParsingTests {
    static let requests: [(line: String, request: String)] = [
        ("status", "GET /v1/status"),
        (
            "use whistle-qa --device pixel-7",
            #"POST /v1/activate {"profile":"whistle-qa","device":"pixel-7"}"#
        ),
        ("use whistle-qa --all", #"POST /v1/activate {"profile":"whistle-qa","all":true}"#),
        (
            "use --all --override charles --now --confirm=60",
            #"POST /v1/activate {"profile":"charles","all":true,"override":true,"now":true,"confirm":60}"#
        ),
        (
            "use charles --device 3c:28:6d:12:34:56@wlan0 --for 2h --drain 500ms",
            #"POST /v1/activate {"profile":"charles","device":"3c:28:6d:12:34:56@wlan0","for":"2h","drain":"500ms"}"#
        ),
        (
            "use charles --device fe80::1 --for forever",
            #"POST /v1/activate {"profile":"charles","device":"fe80::1","for":"forever"}"#
        ),
        ("release --device pixel-7 --now", #"POST /v1/release {"device":"pixel-7","now":true}"#),
        ("release --all --drain 2s", #"POST /v1/release {"all":true,"drain":"2s"}"#),
        ("devices", "GET /v1/devices"),
        ("devices pixel-7", "GET /v1/devices/pixel-7"),
        ("devices a/b", "GET /v1/devices/a%2Fb"),
        ("devices name 2001:db8::7 stb", #"PUT /v1/devices/2001:db8::7 {"name":"stb"}"#),
        ("devices forget stb", #"PUT /v1/devices/stb {"name":null}"#),
        ("requests a/b", "GET /v1/devices/a%2Fb/requests"),
        ("learn pixel-7", "POST /v1/devices/pixel-7/learn"), ("learn pixel-7 --show", "GET /v1/devices/pixel-7/learn"),
        ("lists pixel-7", "GET /v1/devices/pixel-7"),
        (
            "lists pixel-7 --direct a.example,full:b.example --now",
            #"PUT /v1/devices/pixel-7/lists {"direct":["a.example","full:b.example"],"now":true}"#
        ),
        (
            "lists pixel-7 --direct none --proxied c.example --drain 5s",
            #"PUT /v1/devices/pixel-7/lists {"direct":[],"proxied":["c.example"],"drain":"5s"}"#
        ),
        ("why pixel-7", "GET /v1/why?device=pixel-7"),
        ("why pixel-7 shop.example", "GET /v1/why?device=pixel-7&host=shop.example"),
        ("profiles", "GET /v1/profiles"),
        ("profiles whistle-qa", "GET /v1/profiles/whistle-qa"),
        ("profiles delete old --move-to default", "DELETE /v1/profiles/old?moveTo=default"),
        ("profiles delete old", "DELETE /v1/profiles/old"),
        ("explain shop.example:443", "GET /v1/explain?host=shop.example&port=443"),
        ("explain 2001:db8::1 --udp", "GET /v1/explain?host=2001:db8::1&udp=true"),
        ("explain [2001:db8::1]:53 --device stb", "GET /v1/explain?host=2001:db8::1&port=53&device=stb"),
        ("explain 192.0.2.1:80", "GET /v1/explain?host=192.0.2.1&port=80"),
        ("flows", "GET /v1/flows?limit=50"),
        ("flows --device stb --profile qa --limit 7", "GET /v1/flows?device=stb&profile=qa&limit=7"),
        ("probe", "POST /v1/probe {}"),
        ("probe whistle-qa", #"POST /v1/probe {"profile":"whistle-qa"}"#),
        ("confirm 17", #"POST /v1/confirm {"revision":17}"#),
        ("rollback 3", #"POST /v1/rollback {"revision":3}"#),
        ("history", "GET /v1/history"),
        ("reload", "POST /v1/reload"),
        ("diff", "GET /v1/diff"),
        ("export", "GET /v1/export"),
        ("url whistle-qa", #"POST /v1/links {"profile":"whistle-qa","form":"starship"}"#),
        (
            "url whistle-qa --page 10.9.0.1",
            #"POST /v1/links {"profile":"whistle-qa","form":"page","page":"10.9.0.1"}"#
        ),
        (
            "url --host whistle.qa.example --port 8899 --key beetle",
            #"POST /v1/links {"host":"whistle.qa.example","port":8899,"key":"beetle","for":"30d","form":"starship"}"#
        ),
        (
            "url --host 192.0.2.1 --port 1080 --key k --type socks5 --name The_lab --domains a.example,b.example "
                + "--for 2d --once --gateway --page gw.lab:10080",
            #"POST /v1/links {"name":"The lab","type":"socks5","host":"192.0.2.1","port":1080,"#
                + #""domains":["a.example","b.example"],"key":"k","for":"2d","gateway":true,"once":true,"#
                + #""form":"page","page":"gw.lab:10080"}"#
        ),
        ("capture start", "POST /v1/capture {}"),
        (
            "capture start one.pcap --filter tcp_port_443 --snap 96 --size 1MiB --files 2",
            #"POST /v1/capture {"file":"one.pcap","filter":"tcp port 443","snap":96,"size":1048576,"files":2}"#
        ),
        ("capture stop", "DELETE /v1/capture"),
    ]

    @Test("each command asks the daemon for what it says", arguments: ParsingTests.requests)
    func request(line: String, request: String) throws {
        #expect(try asked(line) == request)
    }

    @Test("options stand anywhere, with a blank or an equals sign")
    func places() throws {
        let forms = [
            "use qa --device stb --for 2h", "--device stb use --for=2h qa", "use --for=2h --device=stb -- qa",
        ]
        for form in forms {
            #expect(
                try asked(form) == #"POST /v1/activate {"profile":"qa","device":"stb","for":"2h"}"#, "\(form)")
        }
    }

    @Test("what holds for all commands is read with each of them")
    func global() throws {
        let invocation = try CommandTable.parse(words("--socket /tmp/s status --json --color=never"))
        #expect(invocation.socket == "/tmp/s")
        #expect(invocation.isJSON)
        #expect(invocation.colour == .never)
        #expect(invocation.name == "status")
    }

    @Test("a document comes from a file, from standard input or from the web")
    func documents() throws {
        #expect(try CommandTable.parse(["push", "qa.json5"]).command == .push(.file("qa.json5"), confirm: nil))
        #expect(try CommandTable.parse(["push", "-", "--confirm", "5"]).command == .push(.standardInput, confirm: 5))
        let text = "http://Configs.example:8080/lab.json5?x=1#frag"
        guard case .push(.web(let address), confirm: nil) = try CommandTable.parse(["push", text]).command else {
            Issue.record("no address")
            return
        }
        #expect(address.host == .name("configs.example"))
        #expect(address.port == 8080)
        #expect(address.target == "/lab.json5?x=1")
        #expect(
            String(decoding: address.request, as: UTF8.self).hasPrefix(
                "GET /lab.json5?x=1 HTTP/1.1\r\nHost: configs.example:8080\r\n"))
        #expect(String(decoding: address.request, as: UTF8.self).hasSuffix("\r\n\r\n"))
        // What opens a door stands in no message.
        #expect(address.shown == "http://configs.example:8080/lab.json5")
    }

    @Test("a scanner's target is a device, all, or said by stickers")
    func scanning() throws {
        #expect(try CommandTable.parse(["scan"]).command == .scan(nil))
        #expect(try CommandTable.parse(["scan", "--all"]).command == .scan(.all))
        #expect(try CommandTable.parse(["scan", "--device", "stb"]).command == .scan(.device("stb")))
    }

    @Test("a code is drawn of a profile, a link, a sticker or a proxy, in three ways")
    func codes() throws {
        func plan(_ line: String) throws -> QRPlan? {
            if case .qr(let plan) = try CommandTable.parse(words(line)).command { plan } else { nil }
        }
        let profile = try #require(try plan("qr qa --svg a.svg --level h"))
        #expect(profile.output == .svg("a.svg"))
        #expect(profile.level == .high)
        let link = "starship://activate?v=1&profile=qa"
        #expect(try plan("qr STARSHIP://ACTIVATE?v=1&profile=qa --invert")?.subject == .text(link))
        #expect(try plan("qr \(link) --invert")?.output == .terminal(isInverted: true))
        #expect(try plan("qr http://proxy.example:8080#Lab --png a.png")?.output == .png("a.png"))
        let sticker = "starship://device?v=1&name=stb"
        #expect(try plan("qr \(sticker)")?.subject == .text(sticker))
    }

    @Test("a sheet's kind is its file's ending")
    func sheets() throws {
        let line = "qr --sheet wall.HTML --ssid Lab_5 --password-file pw --page 10.9.0.1 --level q"
        guard case .sheet(let plan) = try CommandTable.parse(words(line)).command else {
            Issue.record("no sheet")
            return
        }
        #expect(plan.format == .html)
        #expect(plan.network == "Lab 5")
        #expect(plan.form == .page(gateway: "10.9.0.1"))
        #expect(plan.level == .quartile)
    }

    @Test("a key's id is the name of its file, without place and ending")
    func keyNames() {
        #expect(KeyFile.id(of: "/etc/starship/keys/beetle.key") == "beetle")
        #expect(KeyFile.id(of: "beetle") == "beetle")
        #expect(KeyFile.id(of: "keys/") == nil)
        #expect(KeyFile.id(of: ".hidden") == "hidden")
        #expect(KeyFile.text([0, 15, 255]) == "000fff\n")
        #expect(
            KeyFile.line(id: "beetle", file: "/k/beetle")
                == #"keys: [{ id: "beetle", file: "/k/beetle", hosts: ["*.qa.example"], scope: ["links"] }],"#)
    }

    @Test("version and help are words and options alike")
    func generalities() throws {
        #expect(try CommandTable.parse(["--version"]).command == .version)
        #expect(try CommandTable.parse(["version"]).command == .version)
        for line in ["", "--help", "-h", "help"] {
            #expect(try CommandTable.parse(words(line)).command == .help(HelpText.overview), "\(line)")
        }
        #expect(try CommandTable.parse(["help", "use"]).command == CommandTable.parse(["use", "--help"]).command)
    }
}
