/// What a document is, before it is sent.

import Profiles
import Testing

@testable import Commands

struct PushTests {
    @Test(
        "one profile goes to its own place, everything else to the overlay",
        arguments: [
            ("{ id: 'qa', upstream: { type: 'http', host: 'a', port: 1 } }", PushDocument.profile(id: "qa")),
            ("\u{feff}{\r\n\"id\": \"qa\"\r\n}", .profile(id: "qa")),
            ("{ profiles: [] }", .overlay), ("{ profiles: [], id: 'x' }", .overlay), ("{ active: 'qa' }", .overlay),
            ("{}", .overlay), ("[]", .overlay), ("null", .overlay), ("", .overlay),
            // What the daemon is to refuse in its own words (B164, B184, B185).
            ("<!doctype html><title>502</title>", .overlay), ("proxies:\n  - name: a\n", .overlay),
            ("dm1lc3M6Ly9leGFtcGxl", .overlay), ("{\"upstream\":\"http://127.0.0.1:8888\"", .overlay),
        ])
    func kinds(text: String, kind: PushDocument) throws {
        #expect(try PushDocument.kind(of: Array(text.utf8)) == kind)
    }

    @Test("a profile without a usable id has no place to go to")
    func ids() {
        #expect(throws: PushDocumentError.noID) { try PushDocument.kind(of: Array("{ upstream: {} }".utf8)) }
        #expect(throws: PushDocumentError.noID) { try PushDocument.kind(of: Array("{ id: 3 }".utf8)) }
        #expect(throws: PushDocumentError.badID) { try PushDocument.kind(of: Array("{ id: '../etc/x' }".utf8)) }
    }

    @Test("a document is sent octet for octet, so that lines in errors are the file's")
    func octets() {
        let text = Array("{\r\n  // mine\r\n  id: 'qa' }".utf8)
        let request = APIRequest.push(profile: "qa", text, confirm: 60)
        #expect(request.method == "PUT")
        #expect(request.target == "/v1/profiles/qa?confirm=60")
        #expect(request.body == text)
        #expect(APIRequest.push(profile: nil, text, confirm: nil).target == "/v1/config")
    }
}
