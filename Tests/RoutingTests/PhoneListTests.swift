/// The host lists that come with the program.

import Addresses
import Foundation
import Routing
import TestSupport
import Testing

/// A line of connectivity.answers: what a check is answered in the place of its host.
private struct CheckAnswer {
    enum What: Equatable {
        case page(path: String, status: Int, body: String)
        case address(IPAddress)
    }

    var host: String
    var what: What

    /// A line that is none of these.
    struct Unreadable: Error { let line: String }

    /// Reads the file as its first comment says.
    static func parse(_ bytes: [UInt8]) throws -> [CheckAnswer] {
        var answers: [CheckAnswer] = []
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") where !line.hasPrefix("#") {
            guard let answer = CheckAnswer(line) else { throw Unreadable(line: String(line)) }
            answers.append(answer)
        }
        return answers
    }

    private init?(_ line: Substring) {
        let columns = line.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: true).map {
            String($0.drop { $0 == " " })
        }
        guard columns.count >= 3 else { return nil }
        host = columns[0]
        if columns[1] == "dns" {
            guard let address = IPAddress(parsing: columns[2].filter { $0 != " " }) else { return nil }
            what = .address(address)
        } else {
            guard let status = Int(columns[2]) else { return nil }
            what = .page(path: columns[1], status: status, body: columns.count > 3 ? columns[3] : "")
        }
    }
}

struct PhoneListTests {
    private static let names = [
        "connectivity", "connectivity-shared", "encrypted-dns", "private-relay", "push",
    ]

    private static func list(_ name: String) throws -> RuleList {
        let path = "Configs/phones/\(name).txt"
        let bytes = try file(path)
        return try RuleList.parse(bytes.span, name: name, file: path, format: .plain)
    }

    @Test("every list of Configs/phones is a plain list with a date, in names alone", arguments: names)
    func lists(name: String) throws {
        let list = try Self.list(name)
        #expect(list.count > 1)
        let bytes = try file("Configs/phones/\(name).txt")
        let guessed = try RuleList.parse(bytes.span, name: name).format
        #expect(guessed == .plain)
        #expect(String(decoding: bytes, as: UTF8.self).contains("# State: 20"))
        #expect(!list.contains(RouteQuery(address: IPAddress(v4: 0x0808_0808), port: 443, network: .tcp)))
    }

    @Test("no file of Configs/phones is missing here")
    func complete() throws {
        let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        let files = try FileManager.default.contentsOfDirectory(atPath: "/\(root)/Configs/phones")
            .filter { $0.hasSuffix(".txt") }.map { String($0.dropLast(4)) }
        #expect(files.sorted() == Self.names)
    }

    @Test(
        "checks and push of each vendor are listed, and what lies beside them is not",
        arguments: [
            ("connectivity", "captive.apple.com", true), ("connectivity", "connectivitycheck.gstatic.com", true),
            ("connectivity", "connectivitycheck.android.com", true), ("connectivity", "www.google.com", false),
            ("connectivity", "connectivity.samsung.com.cn", true), ("connectivity", "connect.rom.miui.com", true),
            ("connectivity", "connectivitycheck.platform.hicloud.com", true),
            ("connectivity", "conn1.oppomobile.com", true), ("connectivity", "wifi.vivo.com.cn", true),
            ("connectivity", "spectrum.s3.amazonaws.com", true), ("connectivity", "s3.amazonaws.com", false),
            ("connectivity", "www.msftconnecttest.com", true), ("connectivity", "www.microsoft.com", false),
            ("connectivity-shared", "www.google.com", true), ("connectivity-shared", "mail.google.com", false),
            ("push", "courier.push.apple.com", true), ("push", "17-courier.push.apple.com", true),
            ("push", "2-courier.sandbox.push.apple.com", true), ("push", "www.apple.com", false),
            ("push", "mtalk.google.com", true), ("push", "alt8-mtalk.google.com", true), ("push", "google.com", false),
            ("encrypted-dns", "dns.google", true), ("encrypted-dns", "mozilla.cloudflare-dns.com", true),
            ("encrypted-dns", "abcdef.dns.nextdns.io", true), ("encrypted-dns", "www.cloudflare.com", false),
        ])
    func hosts(name: String, host: String, isListed: Bool) throws {
        #expect(try Self.list(name).contains(try to(host)) == isListed)
    }

    @Test("B094: the names by which devices ask for leave are all listed")
    func canaries() throws {
        let relay = try Self.list("private-relay")
        for name in ["mask.icloud.com", "mask-h2.icloud.com", "mask-canary.icloud.com"] {
            #expect(relay.contains(try to(name)), "\(name)")
        }
        let encrypted = try Self.list("encrypted-dns")
        for name in ["doh.dns.apple.com", "use-application-dns.net"] {
            #expect(encrypted.contains(try to(name)), "\(name)")
        }
    }

    @Test("no host is in two lists that say different things of it")
    func disjoint() throws {
        let lists = try Self.names.map { try Self.list($0) }
        let answers = try CheckAnswer.parse(try file("Configs/phones/connectivity.answers"))
        for host in Set(answers.map(\.host)) {
            #expect(lists.count { $0.contains(RouteQuery(name: host)) } == 1, "\(host)")
        }
    }

    @Test("every host of a connectivity check has its answer, and every answer has a host that is asked")
    func answers() throws {
        let answers = try CheckAnswer.parse(try file("Configs/phones/connectivity.answers"))
        for name in ["connectivity", "connectivity-shared"] {
            let lines = String(decoding: try file("Configs/phones/\(name).txt"), as: UTF8.self).split(separator: "\n")
            for line in lines where !line.hasPrefix("#") {
                let host = line.hasPrefix("full:") ? line.dropFirst(5) : line
                #expect(answers.contains { $0.host == host }, "\(host)")
            }
        }
        for answer in answers {
            #expect(try DomainName.normalise(answer.host) == answer.host)
            guard case .page(let path, let status, let body) = answer.what else { continue }
            #expect(path == "*" || path.hasPrefix("/"), "\(answer.host)")
            #expect(status == 200 && !body.isEmpty || status == 204 && body.isEmpty, "\(answer.host)")
        }
        let pages = answers.map { answer -> String in
            if case .page(let path, _, _) = answer.what { return answer.host + path }
            return answer.host + "\(answer.what)"
        }
        #expect(Set(pages).count == pages.count, "a path is answered twice")
    }

    @Test("the answers are those that devices compare with")
    func bodies() throws {
        let answers = try CheckAnswer.parse(try file("Configs/phones/connectivity.answers"))
        func body(_ host: String) -> String? {
            for answer in answers where answer.host == host {
                if case .page(_, 200, let body) = answer.what { return body }
            }
            return nil
        }
        #expect(body("captive.apple.com") == "<HTML><HEAD><TITLE>Success</TITLE></HEAD><BODY>Success</BODY></HTML>")
        #expect(body("www.msftconnecttest.com") == "Microsoft Connect Test")
        #expect(body("www.msftncsi.com") == "Microsoft NCSI")
        #expect(body("spectrum.s3.amazonaws.com")?.contains("81ce4465-7167-4dcb-835b-dcc9e44c112a") == true)
        let address = try #require(IPAddress(parsing: "131.107.255.255"))
        #expect(answers.contains { $0.host == "dns.msftncsi.com" && $0.what == .address(address) })
    }
}
