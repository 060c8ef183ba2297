/// Credentials towards the proxy, end to end.

import Foundation
import TestSupport
import Testing

extension LabTests {
    @Suite("authentication at the proxy")
    struct AuthenticationTests {
        /// Settings with a user whose password stands in a file.
        private func settings(_ lab: Lab, user: String, password: String, _ more: String = "") throws -> Daemon.Settings
        {
            let file = lab.directory.appending(path: "secret")
            try "\(password)\n".write(to: file, atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
            return Daemon.Settings {
                $0.upstream = Daemon.Settings.http(
                    ScriptedProxy.port, "user: \"\(user)\", passwordFile: \"\(file.path)\"\(more)")
            }
        }

        /// Credentials are taken literally and sent in the clear text's Base64 (B050, B054).
        @Test(
            "Basic credentials are the user's and the password's own octets",
            arguments: [
                ("user@corp", "p@ss:w/rd", "dXNlckBjb3JwOnBAc3M6dy9yZA=="), ("u", "100%25", "dToxMDAlMjU="),
                ("u", "p\u{e4}ss", "dTpww6Rzcw=="),
            ])
        func literal(user: String, password: String, token: String) throws {
            let lab = try Lab()
            let proxy = try ScriptedProxy(lab, [[.connect, .established, .close(.fin)]])
            let daemon = try Daemon(lab, try settings(lab, user: user, password: password))
            _ = try lab.client(.socks, [.receiveEnd(.fin)])
            let head = try proxy.finished()[0].heads?.first ?? ""
            #expect(head.contains("\r\nProxy-Authorization: Basic \(token)\r\n"), "\(head)")
            let secrets = [password, token].filter { $0.count > 6 }
            #expect(!secrets.contains { daemon.program.errors.contains($0) }, "no secret stands in the log")
        }

        /// A proxy that closes after its 407 (B052, first row).
        @Test("after a 407 that closes, CONNECT is sent again on a new connection")
        func challengeCloses() throws {
            let lab = try Lab()
            let proxy = try ScriptedProxy(
                lab,
                [
                    [
                        .connect,
                        .send(
                            "HTTP/1.1 407 A\r\nProxy-Authenticate: Basic realm=\"r\"\r\n"
                                + "Connection: close\r\n\r\nbody"), .close(.fin),
                    ],
                    [.expect("Proxy-Authorization: Basic dTpw"), .send("HTTP/1.1 200 OK\r\n\r\nT"), .close(.fin)],
                ])
            let daemon = try Daemon(
                lab, try settings(lab, user: "u", password: "p", ", auth: \"challenge\""))
            let talk = try lab.client(.socks, [.receiveEnd(.fin)])
            #expect(talk.data == "T", "\(daemon.program.errors)")
            let seen = try proxy.finished(2)
            #expect(seen.allSatisfy { $0.problem == nil })
            let firstHead = seen[0].heads?.first ?? ""
            #expect(!firstHead.contains("Proxy-Authorization"))
        }

        /// A proxy that keeps the connection, with a body in two pieces (B052, second row).
        @Test("after a 407 that stays open, its body is skipped exactly", arguments: [false, true])
        func challengeStays(reconnects: Bool) throws {
            let lab = try Lab()
            let challenge: [Step] = [
                .connect,
                .send("HTTP/1.1 407 A\r\nProxy-Authenticate: Basic realm=\"r\"\r\nContent-Length: 2000\r\n\r\n"),
                .sendBytes(1000), .pause(0.1), .sendBytes(1000),
            ]
            let again: [Step] = [
                .expect("Proxy-Authorization: Basic dTpw"), .send("HTTP/1.1 200 OK\r\n\r\nT"), .close(.fin),
            ]
            // The gateway may use the same connection or a new one: both are right, both are played.
            let proxy = try ScriptedProxy(
                lab, reconnects ? [challenge + [.close(.fin)], again] : [challenge + again, again])
            let daemon = try Daemon(
                lab, try settings(lab, user: "u", password: "p", ", auth: \"challenge\""))
            let talk = try lab.client(.socks, [.receiveEnd(.fin)])
            #expect(talk.data == "T", "\(daemon.program.errors)")
            withExtendedLifetime(proxy) {}
        }

        /// Nothing that we can do is offered (B057, first row).
        @Test("a proxy that wants only NTLM or Negotiate is named with its schemes, and gets no Basic")
        func unsupported() throws {
            let lab = try Lab()
            let challenge =
                "HTTP/1.1 407 A\r\nProxy-Authenticate: Negotiate\r\nProxy-Authenticate: NTLM\r\n"
                + "Content-Length: 0\r\n\r\n"
            let proxy = try ScriptedProxy(lab, [[.connect, .send(challenge), .receiveEnd(within: 3)]])
            let daemon = try Daemon(
                lab, try settings(lab, user: "u", password: "p", ", auth: \"challenge\""))
            let talk = try lab.client(.socks, [])
            #expect(talk.reply == 2, "\(talk)")
            #expect(daemon.flow(with: ["NTLM", "Negotiate"]), "\(daemon.program.errors)")
            let seen = try proxy.finished()
            #expect(seen.count == 1 && seen[0].data == "", "no second CONNECT: \(seen)")
        }

        /// Several challenges in one field (B057, second row).
        @Test("Basic is found behind another challenge in the same field")
        func mixed() throws {
            let lab = try Lab()
            let challenge =
                "HTTP/1.1 407 A\r\nProxy-Authenticate: Digest realm=\"a, b\", nonce=\"n\", qop=\"auth\", "
                + "Basic realm=\"x\"\r\nContent-Length: 0\r\n\r\n"
            let again: [Step] = [
                .expect("Proxy-Authorization: (Digest|Basic)"), .send("HTTP/1.1 200 OK\r\n\r\nT"), .close(.fin),
            ]
            let proxy = try ScriptedProxy(lab, [[.connect, .send(challenge)] + again, again])
            let daemon = try Daemon(
                lab, try settings(lab, user: "u", password: "p", ", auth: \"challenge\""))
            let talk = try lab.client(.socks, [.receiveEnd(.fin)])
            #expect(talk.data == "T", "\(daemon.program.errors)")
            withExtendedLifetime(proxy) {}
        }

        @Test("credentials that got a 407 rest: the next flows don't lock the account")
        func rests() throws {
            let lab = try Lab()
            let refusal = "HTTP/1.1 407 A\r\nProxy-Authenticate: Basic realm=\"r\"\r\nContent-Length: 0\r\n\r\n"
            let proxy = try ScriptedProxy(lab, [[.connect, .send(refusal), .receiveEnd(within: 2)]])
            let daemon = try Daemon(lab, try settings(lab, user: "u", password: "wrong"))
            for _ in 0..<5 {
                let talk = try lab.client(.socks, [])
                #expect(talk.opened == false && talk.reply == 2, "\(talk)")
            }
            _ = Lab.wait(3) { false }
            let heads = try proxy.talks.flatMap { $0.heads ?? [] }
            let tries = heads.filter { $0.contains("Proxy-Authorization") }.count
            #expect(tries == 1, "\(heads) \(daemon.program.errors)")
        }
    }
}
