/// What a request's head comes to.

import Bytes
import Testing

@testable import Control

/// The request of a head without a body.
private func head(_ line: String, _ fields: String = "Host: localhost\r\n") throws -> ControlRequest {
    let session = Client()
    return try #require(session.send("\(line)\r\n\(fields)\r\n"), "\(line)")
}

struct ControlRequestTests {
    @Test(
        "a path is taken apart before its escapes are read, so that none of them makes a segment (RFC 3986, section 2.4)"
    )
    func paths() throws {
        #expect(try request("GET /v1/status").path == ["v1", "status"])
        #expect(try request("GET /v1/profiles/..%2f..%2fetc").path == ["v1", "profiles", "../../etc"])
        #expect(
            try request("GET /v1/devices/3c:28:6d:12:34:56%40wlan0").path == [
                "v1", "devices", "3c:28:6d:12:34:56@wlan0",
            ])
        #expect(try request("GET /v1/devices/%E5%AE%A2").path == ["v1", "devices", "客"])
        #expect(try request("GET /v1//status/").path == ["v1", "", "status", ""])
        #expect(try request("GET /").path == [""])
    }

    @Test("parameters are decoded once, and each stands once")
    func parameters() throws {
        let flows = try request("GET /v1/flows?device=a%2525&limit=&x&y=1=2%26")
        #expect(flows.target == "/v1/flows?device=a%2525&limit=&x&y=1=2%26")
        #expect(
            flows.parameters == [
                .init(name: "device", value: "a%25"), .init(name: "limit", value: ""), .init(name: "x", value: ""),
                .init(name: "y", value: "1=2&"),
            ])
        #expect(flows.parameter("y") == "1=2&" && flows.parameter("z") == nil)
        #expect(try request("GET /v1/flows?").parameters.isEmpty)
    }

    @Test(
        "a target with escapes that mean no text, or a parameter twice, is refused",
        arguments: [
            "/v1/%", "/v1/%4", "/v1/%zz", "/v1/%ff", "/v1/flows?a=%c3%28", "/v1/flows?a=1&a=2", "/v1/flows?a&%61",
        ])
    func wrongTargets(target: String) {
        let session = Client()
        let request = session.send("GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(request == nil)
        #expect(session.readAll().text.hasPrefix("HTTP/1.1 400 Bad Request\r\n"))
    }

    @Test("a target with a scheme is served, and its host counts (RFC 9112, section 3.2.2)")
    func absoluteForm() throws {
        let status = try head("GET HTTP://gateway.test:10801/v1/flows?limit=1 HTTP/1.1")
        #expect(status.host == "gateway.test:10801")
        #expect(status.target == "/v1/flows?limit=1")
        #expect(status.path == ["v1", "flows"])
        let bare = try head("GET http://[fd00::1]?x HTTP/1.1")
        #expect(bare.host == "[fd00::1]" && bare.path == [""] && bare.parameter("x") == "")
    }

    @Test("Host is kept as it stands; 1.0 may do without (RFC 9112, section 3.2)")
    func hosts() throws {
        #expect(try head("GET /v1/status HTTP/1.1", "host:\t10.9.0.1:10801 \r\n").host == "10.9.0.1:10801")
        #expect(try head("GET /v1/status HTTP/1.1", "Host:\r\n").host == "")
        #expect(try head("GET /v1/status HTTP/1.0", "").host == "")
    }

    @Test(
        "a body is JSON when its one type says so (RFC 9110, section 8.3)",
        arguments: [
            ("Content-Type: application/json\r\n", true), ("content-type:Application/JSON;charset=utf-8\r\n", true),
            ("Content-Type: application/json ; x=y\r\n", true), ("", false), ("Content-Type:\r\n", false),
            ("Content-Type: text/json\r\n", false), ("Content-Type: application/jsonp\r\n", false),
            ("Content-Type: application/json, text/plain\r\n", false),
            ("Content-Type: text/plain\r\nContent-Type: application/json\r\n", false),
            ("Content-Type: application/json\r\nContent-Type: application/json\r\n", false),
            ("Content-Type: application/json\r\nContent-Encoding: gzip\r\n", false),
            ("Content-Type: application/json\r\nContent-Encoding: identity\r\n", true),
        ])
    func types(fields: String, isJSON: Bool) throws {
        #expect(try head("PUT /v1/config HTTP/1.1", "Host: a\r\n" + fields).isJSON == isJSON)
    }

    @Test("methods are told apart by case, and every other one is one that no path has (RFC 9110, section 9.1)")
    func methods() throws {
        for method in ["GET", "PUT", "POST", "DELETE"] {
            #expect(try request("\(method) /v1/status").method.rawValue == method)
        }
        #expect(try request("HEAD /v1/status").method == .get)
        for method in ["get", "OPTIONS", "PATCH", "TRACE", "other", "BREW"] {
            #expect(try request("\(method) /v1/status").method == .other)
        }
    }

    @Test("the fields of a signature are kept, and said twice they are refused")
    func signature() throws {
        let fields = "Host: a\r\nStarship-Key: ci\r\nSTARSHIP-TIME: 17\r\nX-Starship-Nonce: n\r\n"
        #expect(
            try head("GET /v1/status HTTP/1.1", fields).signature == ["starship-key": "ci", "starship-time": "17"])
        let session = Client()
        #expect(session.send("GET /v1/status HTTP/1.1\r\n\(fields)Starship-Key: ci\r\n\r\n") == nil)
        #expect(session.readAll().text.hasPrefix("HTTP/1.1 400 "))
    }
}
