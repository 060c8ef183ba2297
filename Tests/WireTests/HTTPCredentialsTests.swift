/// Basic credentials, and what is kept of a proxy's words.

import Testing
import Wire

@Suite struct HTTPCredentialsTests {
    private func field(_ user: String, _ password: String) throws -> String {
        var output: [UInt8] = []
        try #require(BasicCredentials(user: user, password: password)).writeProxyAuthorization(into: &output)
        return String(decoding: output, as: UTF8.self)
    }

    @Test(
        "B050, B054: user and password are taken literally and encoded once",
        arguments: [
            ("user@corp", "p@ss:w/rd", "dXNlckBjb3JwOnBAc3M6dy9yZA=="), ("u", "p:w", "dTpwOnc="),
            ("u", "e17$@#b&E&", "dTplMTckQCNiJkUm"), ("u", "100%25", "dToxMDAlMjU="), ("u", "päss", "dTpww6Rzcw=="),
            // RFC 7617, sections 2 and 2.1.
            ("Aladdin", "open sesame", "QWxhZGRpbjpvcGVuIHNlc2FtZQ=="), ("test", "123£", "dGVzdDoxMjPCow=="),
        ])
    func encodes(user: String, password: String, expected: String) throws {
        #expect(try field(user, password) == "Proxy-Authorization: Basic \(expected)\r\n")
    }

    @Test("B054: a user with a colon and control characters are refused")
    func refuses() {
        #expect(BasicCredentials(user: "a:b", password: "c") == nil)
        #expect(BasicCredentials(user: "a", password: "c\r\nX: y") == nil)
        #expect(BasicCredentials(user: "a\0", password: "c") == nil)
    }

    @Test func recognisesItsOwnField() throws {
        let credentials = try #require(BasicCredentials(user: "qa", password: "pw"))
        func matches(_ field: String) -> Bool { credentials.match(Array(field.utf8).span) }
        for right in ["Basic cWE6cHc=", "bAsIc cWE6cHc="] { #expect(matches(right)) }
        for wrong in ["Basic cWE6cHd=", "Basic cWE6cHc", "Bearer cWE6cHc=", "", "Basic CWE6cHc="] {
            #expect(!matches(wrong))
        }
    }

    @Test("B215: the secret is in no description, and is taken out of what a proxy echoes")
    func redacts() throws {
        let credentials = try #require(BasicCredentials(user: "qa", password: "S3cr3t-Zq"))
        var dumped = ""
        dump(credentials, to: &dumped)
        for text in ["\(credentials)", String(reflecting: credentials), dumped] {
            #expect(!text.contains("S3cr3t") && !text.contains("UzNjcjN0") && !text.contains("cWE6"))
        }
        let echoed = credentials.redacted(from: "you sent Basic cWE6UzNjcjN0LVpx, that is S3cr3t-Zq and S3cr3t-Zq")
        #expect(echoed == "you sent Basic …, that is … and …")
        #expect(credentials.redacted(from: "cut in the middle: S3cr3") == "cut in the middle: …")
        // An accent makes another character of the last letter, and leaves the rest to be read.
        #expect(credentials.redacted(from: "S3cr3t-Zq\u{301}!") == "…\u{301}!")
    }
}

@Suite struct HTTPErrorTextTests {
    private func text(_ head: String, _ page: String) throws -> String {
        var reader = HTTPReplyReader()
        _ = try #require(try reader.read(Array(head.utf8).span))
        var words = HTTPErrorText()
        words.append(Array(page.utf8).span)
        return words.text(of: reader.head)
    }

    @Test func takesTheWordsOutOfAPage() throws {
        let page = """
            <!DOCTYPE html><html><head><title>ERROR: The requested URL could not be retrieved</title>
            <style type="text/css"><!-- body { color: red } --></style><script>if (a<b) {}</script></head>
            <body><!-- <b>hidden</b> --><h1>Access   Denied.</h1>
            """
        let words = try text("HTTP/1.1 403 Forbidden\r\nContent-Type: text/html;charset=utf-8\r\n\r\n", page)
        #expect(words == "ERROR: The requested URL could not be retrieved Access Denied.")
    }

    @Test("squid's name for the error is told first")
    func squid() throws {
        let head = "HTTP/1.1 403 Forbidden\r\nX-Squid-Error: ERR_ACCESS_DENIED 0\r\n\r\n"
        #expect(try text(head, "no!") == "ERR_ACCESS_DENIED: no!")
        #expect(try text(head, "") == "ERR_ACCESS_DENIED: Forbidden")
    }

    @Test func fallsBackOnTheReason() throws {
        #expect(try text("HTTP/1.1 502 Bad Gateway\r\n\r\n", "") == "Bad Gateway")
        #expect(try text("HTTP/1.1 403 No\r\n\r\n", " \r\n ") == "No")
        #expect(try text("HTTP/1.1 403\r\n\r\n", "") == "")
    }

    @Test("keeps one line of 200 printable characters")
    func cleans() throws {
        #expect(try text("HTTP/1.1 403 No\r\n\r\n", "a\u{1b}[31m\r\nb\0\u{202e}c") == "a [31m b c")
        #expect(try text("HTTP/1.1 403 No\r\n\r\n", String(repeating: "é", count: 900)).count == 200)
        let broken = try text("HTTP/1.1 403 No\r\n\r\n", "<style>")
        #expect(broken == "No")
    }
}
