/// The SOCKS5 server, octet by octet, with the proxy behind it.

import Foundation
import TestSupport
import Testing

extension LabTests {
    @Suite("SOCKS5")
    struct SOCKSTests {
        private static let request = bytes("05010001c633640a01bb")

        /// A client that writes octet by octet (B060).
        @Test("a handshake in single octets is understood")
        func fragmented() throws {
            let lab = try Lab()
            let proxy = try ScriptedProxy(lab, [[.connect, .established, .send("T"), .close(.fin)]])
            let daemon = try Daemon(lab)
            let talk = try lab.socksBytes([
                .send(bytes("050100"), chunk: 1, gap: 0.01), .receive(bytes("0500")),
                .send(Self.request, chunk: 1, gap: 0.01), .receive(bytes("050000")), .receiveEnd(.fin),
            ])
            #expect(talk.problem == nil && talk.data?.last == "T", "\(daemon.program.errors)")
            withExtendedLifetime(proxy) {}
        }

        /// BIND, UDP ASSOCIATE, one that nobody has defined, and Tor's (B062).
        @Test("other commands get reply 07 and the end", arguments: ["02", "03", "05", "f0"])
        func commands(command: String) throws {
            let lab = try Lab()
            let proxy = try ScriptedProxy(lab, [[.connect, .established]])
            let daemon = try Daemon(lab)
            let talk = try lab.socksBytes([
                .send(bytes("050100")), .receive(bytes("0500")), .send(bytes("05\(command)0001000000000000")),
                .receive(bytes("050700")), .receiveEnd(.fin),
            ])
            #expect(talk.problem == nil, "\(daemon.program.errors)")
            #expect([12, 24].contains(talk.count), "a whole reply behind the method: \(talk)")
            #expect(try proxy.talks.isEmpty)
        }

        /// ATYP 4 (B064).
        @Test("an IPv6 request is carried, and its reply has the length that its type says")
        func sixth() throws {
            let lab = try Lab()
            let proxy = try ScriptedProxy(lab, [[.connect, .established, .close(.fin)]])
            let daemon = try Daemon(lab)
            let talk = try lab.socksBytes([
                .send(bytes("050100")), .receive(bytes("0500")),
                .send(bytes("0501000420010db800000000000000000000000101bb")), .receive(bytes("050000")),
                .receiveEnd(.fin),
            ])
            #expect(talk.problem == nil && [12, 24].contains(talk.count), "\(daemon.program.errors)")
            let head = try proxy.finished()[0].heads?.first ?? ""
            #expect(head.hasPrefix("CONNECT [2001:db8::1]:443 "))
        }

        private func withUser(_ lab: Lab) throws -> Daemon.Settings {
            let file = lab.directory.appending(path: "secret")
            try "pw\n".write(to: file, atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
            return Daemon.Settings { $0.socks = "users: [{ name: \"qa\", passwordFile: \"\(file.path)\" }]" }
        }

        /// Offering no method but "none", or none of the sub-negotiation (B065).
        @Test("authentication can't be left out")
        func notSkippable() throws {
            let lab = try Lab()
            let proxy = try ScriptedProxy(lab, [[.connect, .established]])
            let daemon = try Daemon(lab, try withUser(lab))
            let first = try lab.socksBytes([
                .send(bytes("050100")), .receive(bytes("05ff")), .receiveEnd(within: 2),
            ])
            #expect(first.problem == nil && first.count == 2, "\(first) \(daemon.program.errors)")
            let second = try lab.socksBytes([
                .send(bytes("05020002")), .receive(bytes("0502")), .send(Self.request), .receiveEnd(within: 2),
            ])
            #expect(second.problem == nil, "\(second)")
            #expect(try proxy.talks.isEmpty)
        }

        /// RFC 1929 (B067).
        @Test("the right password opens, a wrong one is told and ends")
        func password() throws {
            let lab = try Lab()
            let proxy = try ScriptedProxy(lab, [[.connect, .established, .close(.fin)]])
            let daemon = try Daemon(lab, try withUser(lab))
            let good = try lab.socksBytes([
                .send(bytes("050102")), .receive(bytes("0502")), .send(bytes("01027161027077")),
                .receive(bytes("0100")), .send(Self.request), .receive(bytes("050000")),
            ])
            #expect(good.problem == nil, "\(good) \(daemon.program.errors)")
            let bad = try lab.socksBytes([
                .send(bytes("050102")), .receive(bytes("0502")), .send(bytes("01027161027078")), .receive(bytes("01")),
                .receiveEnd(within: 2),
            ])
            #expect(bad.problem == nil && bad.count == 4 && bad.data?.unicodeScalars.last != "\0", "\(bad)")
            withExtendedLifetime(proxy) {}
        }

        struct Reply: Sendable {
            let status: String
            let code: Int
        }

        /// Each cause its code (B069; DESIGN.md "Routes").
        @Test(
            "the proxy's answer maps to the reply's code",
            arguments: [
                Reply(status: "403 X", code: 2), Reply(status: "407 X", code: 2), Reply(status: "502 X", code: 5),
                Reply(status: "503 X", code: 1), Reply(status: "504 X", code: 4), Reply(status: "", code: 1),
            ])
        func codes(reply: Reply) throws {
            let lab = try Lab()
            let answer: [Step] =
                reply.status.isEmpty
                ? [.close(.fin)] : [.send("HTTP/1.1 \(reply.status)\r\nContent-Length: 0\r\n\r\n"), .pause(1)]
            let proxy = try ScriptedProxy(lab, [[.connect] + answer])
            let daemon = try Daemon(lab)
            let talk = try lab.socksBytes([
                .send(bytes("050100")), .receive(bytes("0500")), .send(Self.request), .receiveEnd(within: 10),
            ])
            #expect(talk.count == 12 && talk.ended == "fin", "\(talk) \(daemon.program.errors)")
            let code = talk.data.flatMap { $0.unicodeScalars.dropFirst(3).first?.value }
            #expect(code.map(Int.init) == reply.code, "\(talk)")
            withExtendedLifetime(proxy) {}
        }

        /// Names of length 0, too long for a label, of the greatest legal length; port 0 (B071).
        @Test("names at the edges of their length are refused or carried whole")
        func lengths() throws {
            let lab = try Lab()
            let proxy = try ScriptedProxy(lab, [[.connect, .established, .close(.fin)]])
            let daemon = try Daemon(lab)
            let label = String(repeating: "61", count: 255)
            for request in ["050100030001bb", "05010003ff\(label)01bb", "05010003086578612e746573740000"] {
                let talk = try lab.socksBytes([
                    .send(bytes("050100")), .receive(bytes("0500")), .send(bytes(request)), .receiveEnd(within: 10),
                ])
                let code = talk.data.flatMap { $0.unicodeScalars.dropFirst(3).first?.value }
                #expect(code != nil && code != 0, "\(request.prefix(20)): \(talk) \(daemon.program.errors)")
            }
            #expect(try proxy.talks.isEmpty)
            let name = [60, 60, 60, 60].map { String(repeating: "a", count: $0) }.joined(separator: ".") + ".aaaa.test"
            let legal = try lab.client(.socks, to: name, [.receiveEnd(.fin)])
            #expect(legal.opened == true && name.count == 253, "\(name.count) \(legal) \(daemon.program.errors)")
            let head = try proxy.finished()[0].heads?.first ?? ""
            #expect(head.hasPrefix("CONNECT \(name):443 HTTP/1.1\r\nHost: \(name):443\r\n"))
        }

        @Test("only the networks that are allowed may use it")
        func allowed() throws {
            let lab = try Lab()
            let proxy = try ScriptedProxy(lab, [[.connect, .established, .close(.fin)]])
            let daemon = try Daemon(lab)
            let inside = try lab.client(.socks, [.receiveEnd(.fin)])
            #expect(inside.opened == true, "\(daemon.program.errors)")
            // The internet namespace reaches the same listener from an address outside of `allow`.
            let outside = try lab.run(
                .internet, ["curl", "-sS", "--max-time", "3", "--socks5", "10.9.0.1:10808", "http://198.51.100.10/"])
            #expect(outside.status != 0 && outside.status != 28, "refused, not left waiting: \(outside)")
            #expect(try proxy.finished().count == 1)
        }
    }
}
