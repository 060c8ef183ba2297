/// Every path with every method: what it asks for, and why it is refused.

import Bytes
import Testing

@testable import Control

private typealias Call = ControlCall

/// Each path with the methods that it has.
private let paths: [(path: String, allowed: [String])] = [
    ("/v1/status", ["GET", "HEAD"]), ("/v1/profiles", ["GET", "HEAD"]), ("/v1/devices", ["GET", "HEAD"]),
    ("/v1/history", ["GET", "HEAD"]), ("/v1/diff", ["GET", "HEAD"]), ("/v1/export", ["GET", "HEAD"]),
    ("/v1/openapi", ["GET", "HEAD"]), ("/v1/network", ["GET", "HEAD"]), ("/v1/flows", ["GET", "HEAD"]),
    ("/v1/explain", ["GET", "HEAD"]),
    ("/v1/why", ["GET", "HEAD"]), ("/v1/profiles/qa/ca", ["GET", "HEAD"]),
    ("/v1/profiles/qa", ["GET", "HEAD", "PUT", "DELETE"]),
    ("/v1/devices/pixel-7", ["GET", "HEAD", "PUT"]), ("/v1/devices/pixel-7/requests", ["GET", "HEAD"]),
    ("/v1/devices/pixel-7/lists", ["PUT"]), ("/v1/devices/pixel-7/learn", ["GET", "HEAD", "POST"]),
    ("/v1/config", ["GET", "HEAD", "PUT"]),
    ("/v1/activate", ["POST"]), ("/v1/release", ["POST"]), ("/v1/reload", ["POST"]), ("/v1/confirm", ["POST"]),
    ("/v1/rollback", ["POST"]), ("/v1/links", ["POST"]), ("/v1/links/apply", ["POST"]),
    ("/v1/capture", ["POST", "DELETE"]),
]

struct ControlCallTests {
    @Test("a method that a path doesn't have is answered with those that it has, whatever else is wrong (B212)")
    func methods() throws {
        for (path, allowed) in paths {
            for method in ["GET", "HEAD", "PUT", "POST", "DELETE", "OPTIONS", "PATCH", "TRACE", "get"]
            where !allowed.contains(method) {
                for line in ["\(method) \(path)", "\(method) \(path)?nonsense=1"] {
                    let error = try refusal(line, "nonsense", type: nil)
                    #expect(error.status == 405 && error.code == "methodNotAllowed", "\(line)")
                    #expect(error.allowed == allowed, "\(line)")
                }
            }
        }
    }

    @Test(
        "a path that is not there is said to be none",
        arguments: [
            "/", "/v1", "/v1/", "/v2/status", "/v1/status/", "/v1//status", "/v1/status/x", "/v1/profiles/a/b",
            "/v1/profiles/a/ca/b", "/v1/links/a", "/v1/devices/a/b", "/v1/devices/a/requests/b",
            "/v1/links/apply/x", "/v1/Status", "/v1/nowhere", "/V1/status", "/v1/..%2fstatus",
        ])
    func nowhere(path: String) throws {
        for method in ["GET", "POST", "OPTIONS"] {
            let error = try refusal("\(method) \(path)")
            #expect(error.status == 404 && error.code == "notFound")
            #expect(error.message.contains("GET /v1/openapi"))
        }
    }

    @Test("what is only looked at is asked for by GET and by HEAD alike")
    func looking() throws {
        let expected: [(String, Call)] = [
            ("/v1/status", .status), ("/v1/profiles", .profiles), ("/v1/profiles/qa", .profile("qa")),
            ("/v1/profiles/qa%2Fx/ca", .authority(profile: "qa/x")),
            ("/v1/devices", .devices), ("/v1/devices/3c:28:6d:12:34:56%40wlan0", .device("3c:28:6d:12:34:56@wlan0")),
            ("/v1/devices/stb/requests", .requests(device: "stb")), ("/v1/devices/stb/learn", .learned(device: "stb")),
            ("/v1/config", .configuration), ("/v1/history", .history), ("/v1/diff", .differences),
            ("/v1/export", .export), ("/v1/openapi", .description), ("/v1/network", .network),
            ("/v1/flows", .flows(.init())),
            ("/v1/flows?device=stb&profile=qa&limit=10000", .flows(.init(device: "stb", profile: "qa", limit: 10_000))),
            ("/v1/explain?host=example.com", .explain(.init(host: "example.com"))),
            (
                "/v1/explain?host=a&port=443&device=stb&udp=true",
                .explain(.init(host: "a", port: 443, device: "stb", isUDP: true))
            ),
            ("/v1/explain?host=a&udp", .explain(.init(host: "a", isUDP: true))),
            ("/v1/explain?host=a&udp=false", .explain(.init(host: "a"))),
            ("/v1/why?device=stb", .why(device: "stb", host: nil)),
            ("/v1/why?host=a&device=stb", .why(device: "stb", host: "a")),
        ]
        for (target, wanted) in expected {
            #expect(try call("GET \(target)") == wanted, "\(target)")
            #expect(try call("HEAD \(target)") == wanted, "\(target)")
        }
    }

    @Test("every path refuses a parameter that it doesn't know, and proposes the one that is meant")
    func unknownParameters() throws {
        for (path, allowed) in paths {
            for method in allowed {
                let error = try refusal("\(method) \(path)?confrm=1", "{}")
                #expect(error.status == 400 && error.path == "confrm", "\(method) \(path): \(error)")
            }
        }
        #expect(try refusal("PUT /v1/config?confrm=1", "{}").hint == "did you mean `confirm`?")
        #expect(try refusal("GET /v1/status?a=1").message.hasSuffix("expected none"))
    }

    @Test(
        "a parameter with a value that is none is refused with what would be right",
        arguments: [
            ("GET /v1/flows?limit=0", "limit"), ("GET /v1/flows?limit=10001", "limit"),
            ("GET /v1/flows?limit=", "limit"),
            ("GET /v1/flows?limit=-1", "limit"), ("GET /v1/flows?limit=+1", "limit"),
            ("GET /v1/flows?limit=1.0", "limit"),
            ("GET /v1/flows?limit=%D9%A1", "limit"), ("GET /v1/flows?limit=99999999999999999999", "limit"),
            ("GET /v1/explain", "host"), ("GET /v1/explain?host=", "host"), ("GET /v1/explain?host=a&port=0", "port"),
            ("GET /v1/explain?host=a&port=65536", "port"), ("GET /v1/explain?host=a&udp=yes", "udp"),
            ("GET /v1/why", "device"), ("GET /v1/why?device=", "device"), ("PUT /v1/config?confirm=0", "confirm"),
            ("PUT /v1/config?confirm=3601", "confirm"), ("PUT /v1/profiles/qa?confirm=x", "confirm"),
        ])
    func wrongParameters(line: String, path: String) throws {
        let error = try refusal(line, line.hasPrefix("PUT") ? "{}" : "")
        #expect(error.status == 400 && error.path == path)
        #expect(error.message.contains("expected"))
    }

    @Test("each change is read from its parameters and its body")
    func changing() throws {
        let expected: [(String, String, Call)] = [
            ("PUT /v1/profiles/qa", "{}", .putProfile("qa", confirm: nil)),
            ("PUT /v1/profiles/qa?confirm=3600", "{}", .putProfile("qa", confirm: 3600)),
            ("DELETE /v1/profiles/qa", "", .deleteProfile("qa", moveTo: nil)),
            ("DELETE /v1/profiles/qa?moveTo=default", "", .deleteProfile("qa", moveTo: "default")),
            ("PUT /v1/config?confirm=1", "{}", .putConfiguration(confirm: 1)),
            ("PUT /v1/devices/stb", "{\"name\":\"tv\"}", .name(device: "stb", "tv")),
            ("PUT /v1/devices/stb", "{name: null}", .name(device: "stb", nil)),
            ("POST /v1/devices/stb/learn", "", .learn(device: "stb")),
            (
                "PUT /v1/devices/stb/lists", "{direct: ['a.example'], drain: null}",
                .putLists(.init(device: "stb", direct: ["a.example"]))
            ),
            (
                "PUT /v1/devices/stb/lists", "{direct: [], proxied: ['b.example']}",
                .putLists(.init(device: "stb", direct: [], proxied: ["b.example"]))
            ),
            ("POST /v1/reload", "", .reload), ("POST /v1/confirm", "{\"revision\":7}", .confirm(7)),
            ("POST /v1/rollback", "{\"revision\":0}", .rollBack(0)),
            ("POST /v1/capture", "{}", .startCapture(.init())), ("DELETE /v1/capture", "", .stopCapture),
            (
                "POST /v1/capture", "{file: 'a.pcap', filter: 'tcp', snap: 40, size: 65536, files: 1000}",
                .startCapture(.init(file: "a.pcap", filter: "tcp", snap: 40, size: 65_536, files: 1000))
            ),
        ]
        for (line, body, wanted) in expected { #expect(try call(line, body) == wanted, "\(line) \(body)") }
    }

    @Test(
        "lists of a device that are none are refused with their place",
        arguments: [
            ("{}", nil), ("{direct: null}", "direct"), ("{proxied: 'a'}", "proxied"), ("{direct: [1]}", "direct"),
            ("{direct: [], for: '2h'}", "for"), ("{direct: [], now: true, drain: '1s'}", "now"),
            ("{direct: [\((0..<65).map { "'n\($0).example'" }.joined(separator: ","))]}", "direct"),
        ] as [(String, String?)])
    func wrongLists(body: String, path: String?) throws {
        let error = try refusal("PUT /v1/devices/stb/lists", body)
        #expect(error.status == 400 && error.path == path, "\(error)")
        #expect(error.message.contains("expected"))
    }

    @Test("a switch says whom it is for, for how long, and how open flows end")
    func switches() throws {
        var one = Call.Activation(profile: "qa", scope: .device("stb"))
        #expect(try call("POST /v1/activate", "{profile: 'qa', device: 'stb'}") == .activate(one))
        #expect(try call("POST /v1/activate", "{profile: 'qa', device: 'stb', all: null, for: null}") == .activate(one))
        one.duration = .time(.hours(2))
        one.manner.drain = .seconds(30)
        one.confirm = 60
        #expect(
            try call("POST /v1/activate", "{profile: 'qa', device: 'stb', for: '2h', drain: '30s', confirm: 60}")
                == .activate(one))
        one.duration = .forever
        one.manner.drain = .zero
        #expect(
            try call("POST /v1/activate", "{profile: 'qa', device: 'stb', for: 'forever', now: true, confirm: 60}")
                == .activate(one))
        #expect(
            try call("POST /v1/activate", "{profile: 'qa', all: true, override: true}")
                == .activate(.init(profile: "qa", scope: .all(override: true))))
        #expect(try call("POST /v1/release", "{all: true}") == .release(.all(override: false), .init()))
        #expect(try call("POST /v1/release", "{device: 'stb'}") == .release(.device("stb"), .init()))
        let link = "starship://activate?profile=qa"
        #expect(
            try call("POST /v1/links/apply", "{link: '\(link)', check: true}")
                == .applyLink(.init(link: link, isCheck: true)))
        #expect(
            try call("POST /v1/links/apply", "{link: '\(link)', device: 'stb', for: '1m'}")
                == .applyLink(.init(link: link, scope: .device("stb"), duration: .time(.seconds(60)))))
    }

    @Test("a link names a profile, or a proxy and who signs for it")
    func links() throws {
        #expect(try call("POST /v1/links", "{profile: 'qa'}") == .makeLink(.init(content: .profile("qa"))))
        #expect(
            try call("POST /v1/links", "{profile: 'qa', form: 'page', page: '10.9.0.1'}")
                == .makeLink(.init(content: .profile("qa"), page: "10.9.0.1")))
        let proxy = Call.LinkWish.Proxy(
            name: "QA", type: "socks5", host: "10.0.0.1", port: 1080, domains: ["a.test"], key: "ci",
            duration: .hours(24), isForThisGateway: true, isForOnce: true)
        #expect(
            try call(
                "POST /v1/links",
                "{name: 'QA', type: 'socks5', host: '10.0.0.1', port: 1080, domains: ['a.test'], key: 'ci', for: '24h', gateway: true, once: true}"
            ) == .makeLink(.init(content: .proxy(proxy))))
    }

    @Test(
        "a body that doesn't say what is wanted is refused with the key, and nothing is guessed",
        arguments: [
            ("POST /v1/activate", "{}", "profile"), ("POST /v1/activate", "{profile: ''}", "profile"),
            ("POST /v1/activate", "{profile: 7, all: true}", "profile"),
            ("POST /v1/activate", "{profile: 'a\\nb', all: true}", "profile"),
            ("POST /v1/activate", "{profil: 'qa', all: true}", "profil"),
            ("POST /v1/activate", "{profile: 'qa', device: 'stb', override: true}", "override"),
            ("POST /v1/activate", "{profile: 'qa', all: 'true'}", "all"),
            ("POST /v1/activate", "{profile: 'qa', all: true, for: '2h'}", "for"),
            ("POST /v1/activate", "{profile: 'qa', device: 'stb', for: '59s'}", "for"),
            ("POST /v1/activate", "{profile: 'qa', device: 'stb', for: '366d'}", "for"),
            ("POST /v1/activate", "{profile: 'qa', device: 'stb', for: 'ever'}", "for"),
            ("POST /v1/activate", "{profile: 'qa', device: 'stb', drain: '31s'}", "drain"),
            ("POST /v1/activate", "{profile: 'qa', device: 'stb', drain: '1s', now: true}", "now"),
            ("POST /v1/activate", "{profile: 'qa', device: 'stb', confirm: 0}", "confirm"),
            ("POST /v1/activate", "{profile: 'qa', device: 'stb', confirm: 1.5}", "confirm"),
            ("POST /v1/release", "{all: true, profile: 'qa'}", "profile"),
            ("POST /v1/confirm", "{}", "revision"), ("POST /v1/confirm", "{revision: -1}", "revision"),
            ("POST /v1/confirm", "{revision: '1'}", "revision"), ("POST /v1/confirm", "{revision: 1e99}", "revision"),
            ("POST /v1/rollback", "{revision: null}", "revision"), ("PUT /v1/devices/stb", "{}", "name"),
            ("PUT /v1/devices/stb", "{name: ''}", "name"), ("PUT /v1/devices/stb", "{name: 7}", "name"),
            ("PUT /v1/devices/stb", "{name: '\(String(repeating: "a", count: 65))'}", "name"),
            ("POST /v1/links", "{profile: 'qa', host: 'a'}", "host"), ("POST /v1/links", "{}", "host"),
            ("POST /v1/links", "{host: 'a'}", "port"), ("POST /v1/links", "{host: 'a', port: 0, key: 'k'}", "port"),
            ("POST /v1/links", "{host: 'a', port: 1}", "key"),
            ("POST /v1/links", "{host: 'a', port: 1, key: 'k', type: 'https'}", "type"),
            ("POST /v1/links", "{host: 'a', port: 1, key: 'k', domains: 'a'}", "domains"),
            ("POST /v1/links", "{host: 'a', port: 1, key: 'k', domains: [1]}", "domains"),
            ("POST /v1/links", "{profile: 'qa', form: 'qr'}", "form"),
            ("POST /v1/links", "{profile: 'qa', form: 'page'}", "page"),
            ("POST /v1/links", "{profile: 'qa', form: 'starship', page: 'a'}", "page"),
            ("POST /v1/links/apply", "{all: true}", "link"), ("POST /v1/capture", "{snap: 39}", "snap"),
            ("POST /v1/capture", "{size: 65535}", "size"), ("POST /v1/capture", "{files: 0}", "files"),
        ])
    func wrongBodies(line: String, body: String, path: String) throws {
        let error = try refusal(line, body)
        #expect(error.status == 400 && error.path == path, "\(error)")
        #expect(error.message.contains(path) && !error.message.contains("\n"))
    }

    @Test(
        "a switch without one target is noTarget",
        arguments: ["{profile: 'qa'}", "{profile: 'qa', all: false}", "{profile: 'qa', all: true, device: 'stb'}"])
    func noTarget(body: String) throws {
        let error = try refusal("POST /v1/activate", body)
        #expect(error.status == 400 && error.code == "noTarget")
    }

    @Test("a body is said to be JSON wherever there is one (B212)")
    func unsupportedTypes() throws {
        for line in [
            "PUT /v1/profiles/qa", "PUT /v1/config", "PUT /v1/devices/stb", "POST /v1/activate", "POST /v1/release",
            "POST /v1/confirm", "POST /v1/rollback", "POST /v1/links", "POST /v1/links/apply", "POST /v1/capture",
        ] {
            for type in [nil, "text/plain", "application/x-www-form-urlencoded", "application/jsonp"] {
                let error = try refusal(line, "{\"all\":true}", type: type)
                #expect(error.status == 415 && error.code == "unsupportedMediaType", "\(line)")
            }
        }
    }

    @Test(
        "a body that is no object, or no JSON, is refused",
        arguments: ["[]", "null", "'x'", "7", "{", "{} {}", "\u{1}"])
    func noObjects(body: String) throws {
        #expect(try refusal("POST /v1/confirm", body).status == 400)
    }

    @Test("a document that is too deep, or says something twice, is told from one that is wrong")
    func strangeBodies() throws {
        let deep = try refusal("POST /v1/confirm", String(repeating: "[", count: 10_000))
        #expect(deep.status == 400 && deep.code == "tooDeep")
        let double = try refusal("POST /v1/confirm", "{revision: 1, revision: 2}")
        #expect(double.status == 422 && double.code == "duplicateKey")
    }

    @Test("what a refusal repeats of the request is short and plain")
    func repeats() throws {
        let name = String(repeating: "%e2%80%ae%20", count: 10) + String(repeating: "x", count: 200)
        let error = try refusal("GET /v1/status?\(name)")
        #expect(error.path == String(repeating: "x", count: 64))
        #expect(error.message.utf8.allSatisfy { 0x20..<0x7f ~= $0 })
    }
}
