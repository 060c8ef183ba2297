/// HTTP CONNECT end to end: a scripted proxy says odd, slow or wrong things, and the device sees the truth.

import TestSupport
import Testing

extension LabTests {
    @Suite("HTTP CONNECT through a scripted proxy")
    struct ConnectTests {
        /// The reply arrives octet by octet (B030).
        @Test("a reply in single octets opens the tunnel, and only what follows reaches the client")
        func splitReply() throws {
            let lab = try Lab()
            let proxy = try ScriptedProxy(
                lab,
                [
                    [
                        .connect,
                        .send(
                            "HTTP/1.1 200 Connection established\r\nProxy-Agent: whistle\r\n\r\n", chunk: 1, gap: 0.005),
                        .send("abc"), .close(.fin),
                    ]
                ])
            let daemon = try Daemon(lab)
            for way in Way.allCases {
                let talk = try lab.client(way, [.receiveEnd(.fin)])
                #expect(talk.data == "abc", "\(way): \(daemon.program.errors)")
            }
            withExtendedLifetime(proxy) {}
        }

        /// The server speaks first and its banner shares the reply's segment (B032).
        @Test("a banner behind the reply's head comes at once", arguments: Way.allCases)
        func banner(way: Way) throws {
            let lab = try Lab()
            let proxy = try ScriptedProxy(
                lab, [[.connect, .send("HTTP/1.1 200 OK\r\n\r\nSSH-2.0-OpenSSH_9.6\r\n"), .pause(5)]])
            let daemon = try Daemon(lab)
            let watch = Stopwatch()
            let talk = try lab.client(way, port: 22, [.receive("SSH-2.0-OpenSSH_9.6\r\n", within: 3)])
            #expect(talk.problem == nil, "\(daemon.program.errors)")
            // The proxy says both in one breath, so whoever is connected is to be greeted within the case's 500 ms.
            #expect((talk.receiveSeconds ?? .infinity) < 0.5 + watch.allowance, "\(talk)")
            withExtendedLifetime(proxy) {}
        }

        /// RFC 9110 section 9.3.6: a client must ignore framing fields in a 2xx to CONNECT (B033).
        @Test(
            "framing fields in the reply mean nothing",
            arguments: ["Content-Length: 0", "Content-Length: 5", "Transfer-Encoding: chunked"])
        func framing(field: String) throws {
            let lab = try Lab()
            let proxy = try ScriptedProxy(
                lab, [[.connect, .send("HTTP/1.1 200 OK\r\n\(field)\r\n\r\nhello"), .echo()]])
            let daemon = try Daemon(lab)
            for way in Way.allCases {
                let talk = try lab.client(
                    way, [.receive("hello"), .send("more"), .receive("more"), .halfClose, .receiveEnd(.fin)])
                #expect(talk.problem == nil, "\(way): \(daemon.program.errors)")
            }
            withExtendedLifetime(proxy) {}
        }

        /// `Connection: close` is about the proxy's connection, not the tunnel (B036).
        @Test("a reply with Connection: close keeps the tunnel open")
        func connectionClose() throws {
            let lab = try Lab()
            let proxy = try ScriptedProxy(
                lab,
                [
                    [
                        .connect, .send("HTTP/1.1 200 OK\r\nConnection: close\r\nProxy-Connection: close\r\n\r\n"),
                        .echo(for: 20),
                    ]
                ])
            let daemon = try Daemon(lab)
            let seconds = LongRun.isOn ? 10 : 2
            for way in Way.allCases {
                let talk = try lab.client(way, [.pingPong(bytes: 4, count: seconds * 5, gap: 0.2)])
                #expect(talk.problem == nil, "\(way): \(daemon.program.errors)")
            }
            withExtendedLifetime(proxy) {}
        }

        /// The last of the three segments that open a connection carries what is asked for.
        @Test("CONNECT comes with the segment that ends the handshake")
        func asksAtOnce() throws {
            let lab = try Lab()
            let proxy = try ScriptedProxy(lab, [[.connect, .established, .close(.fin)]])
            let daemon = try Daemon(lab)
            let packets = try lab.start(
                .internet, ["tcpdump", "-lnni", "eth0", "src 10.77.0.1 and tcp dst port \(ScriptedProxy.port)"])
            try packets.waitFor("listening on")
            _ = try lab.client(.tunnel, [.receiveEnd(.fin)])
            try packets.waitFor("Flags [F.]")
            let lines = packets.output.split(separator: "\n")
            #expect(lines[0].contains("Flags [S]") && lines[1].contains("Flags [P.]"), "\(lines)")
            withExtendedLifetime((proxy, daemon)) {}
        }

        /// One deadline over the whole of CONNECT, which no octet renews (B038).
        @Test("a silent proxy and a dripping one fail at the deadline", arguments: [false, true])
        func deadline(drips: Bool) throws {
            let lab = try Lab()
            let script: [Step] =
                drips
                ? [.connect, .send("HTTP/1.1 200 OK\r\nX: "), .drip("a", every: 0.5, for: 30)]
                : [.connect, .pause(30)]
            let proxy = try ScriptedProxy(lab, [script])
            let daemon = try Daemon(lab, Daemon.Settings { $0.limits = "connect: \"3s\"" })
            let talks = try Way.allCases.map { try lab.startClient($0, patience: 20, []) }
            let tunnel = try Talk.of(talks[0])[0]
            #expect(tunnel.cause == "refused" && (tunnel.openSeconds ?? 99) < 4.5, "\(tunnel)")
            let socks = try Talk.of(talks[1])[0]
            #expect(socks.reply == 1 && (socks.openSeconds ?? 99) < 4.5, "\(socks)")
            #expect(daemon.flow(with: ["did not answer in time"]), "\(daemon.program.errors)")
            withExtendedLifetime(proxy) {}
        }

        /// RFC 3986 section 3.2.2: exactly one pair of brackets (B040).
        @Test("IPv6 targets stand in brackets", arguments: Way.allCases)
        func sixthAuthority(way: Way) throws {
            let lab = try Lab()
            let proxy = try ScriptedProxy(lab, [[.connect, .established, .close(.fin)]])
            let daemon = try Daemon(lab)
            _ = try lab.client(way, to: "2001:db8::1", [.receiveEnd(.fin)])
            let head = try proxy.finished()[0].heads?.first ?? ""
            #expect(
                head == "CONNECT [2001:db8::1]:443 HTTP/1.1\r\nHost: [2001:db8::1]:443\r\n\r\n",
                "\(daemon.program.errors)")
        }

        /// The same for clients that write the address as a name (B040).
        @Test(
            "IPv6 literals in SOCKS5 names get one pair of brackets",
            arguments: ["050100030b323030313a6462383a3a3101bb", "050100030d5b323030313a6462383a3a315d01bb"])
        func sixthName(request: String) throws {
            let lab = try Lab()
            let proxy = try ScriptedProxy(lab, [[.connect, .established, .close(.fin)]])
            let daemon = try Daemon(lab)
            let talk = try lab.socksBytes([
                .send(bytes("050100")), .receive(bytes("0500")), .send(bytes(request)), .receive(bytes("050000")),
            ])
            #expect(talk.problem == nil, "\(daemon.program.errors)")
            let head = try proxy.finished()[0].heads?.first ?? ""
            #expect(head.hasPrefix("CONNECT [2001:db8::1]:443 HTTP/1.1\r\nHost: [2001:db8::1]:443\r\n"), "\(head)")
        }

        /// squid's stock rules refuse CONNECT to port 80 (B042).
        @Test("with http80: connect a refusal for port 80 is told at once, with status and port")
        func port80() throws {
            let lab = try Lab()
            let refusal =
                "HTTP/1.1 403 Forbidden\r\nServer: squid/6.6\r\nX-Squid-Error: ERR_ACCESS_DENIED 0\r\n"
                + "Content-Length: 3\r\n\r\nno!"
            let proxy = try ScriptedProxy(lab, [[.connect, .send(refusal), .pause(2)]])
            let daemon = try Daemon(
                lab,
                Daemon.Settings { $0.upstream = Daemon.Settings.http(ScriptedProxy.port, "http80: \"connect\"") })
            // A busy machine makes one slow, a fault each.
            func refused(_ way: Way) throws -> Talk {
                var talk = try lab.client(way, port: 80, [.receiveEnd()])
                for _ in 0..<2 where (talk.openSeconds ?? 9) >= 0.5 {
                    talk = try lab.client(way, port: 80, [.receiveEnd()])
                }
                return talk
            }
            let tunnel = try refused(.tunnel)
            #expect(tunnel.cause == "refused" && (tunnel.openSeconds ?? 9) < 0.5, "\(tunnel)")
            let socks = try refused(.socks)
            #expect(socks.reply == 2 && (socks.openSeconds ?? 9) < 0.5, "\(socks)")
            #expect(daemon.flow(with: ["403", ":80"]), "\(daemon.program.errors)")
            withExtendedLifetime(proxy) {}
        }

        /// A refused connection is never used again (B044).
        @Test("after a refusal the next flow gets its own octets alone", arguments: Way.allCases)
        func refusedThenGood(way: Way) throws {
            let lab = try Lab()
            let proxy = try ScriptedProxy(
                lab,
                [
                    [
                        .connect,
                        .send(
                            "HTTP/1.1 403 Forbidden\r\nContent-Length: 9\r\nConnection: keep-alive\r\n\r\nforbidden"),
                        .pause(3),
                    ],
                    [.connect, .send("HTTP/1.1 200 OK\r\n\r\nfine"), .close(.fin)],
                ])
            let daemon = try Daemon(lab)
            let refused = try lab.client(way, to: "198.51.100.11", [])
            #expect(refused.opened == false)
            let good = try lab.client(way, to: "198.51.100.12", [.receiveEnd(.fin)])
            #expect(good.data == "fine", "\(daemon.program.errors)")
            withExtendedLifetime(proxy) {}
        }

        /// Odd but tolerable heads (B047).
        @Test(
            "odd replies open the tunnel",
            arguments: [
                "HTTP/1.1 200 \r\n\r\n", "HTTP/1.1 200 OK\n\n",
                "HTTP/1.0 200 Connection established\r\nproxy-agent: tinyproxy/1.11\r\n\r\n",
                "HTTP/1.1 200 OK\r\nX-Fold: a\r\n b\r\n\r\n", "HTTP/1.1 201 Created\r\n\r\n",
                "HTTP/1.1 200 OK\r\n" + String(repeating: "x-line: value\r\n", count: 40) + "\r\n",
                "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
            ])
        func tolerant(reply: String) throws {
            let lab = try Lab()
            let proxy = try ScriptedProxy(lab, [[.connect, .send(reply + "T"), .close(.fin)]])
            let daemon = try Daemon(lab)
            let talk = try lab.client(.socks, [.receiveEnd(.fin)])
            #expect(talk.data == "T", "\(daemon.program.errors)")
            withExtendedLifetime(proxy) {}
        }

        /// The last row of B047.
        @Test("a head of a megabyte fails at the limit and costs no memory")
        func hugeHead() throws {
            let lab = try Lab()
            let proxy = try ScriptedProxy(
                lab,
                [
                    [
                        .connect, .send("HTTP/1.1 200 OK\r\nX-Big: "), .sendBytes(1_048_576, filledWith: "a"),
                        .send("\r\n\r\nT"),
                    ]
                ])
            let daemon = try Daemon(lab)
            _ = try lab.client(.socks, [])
            let before = daemon.residentKiB
            let talk = try lab.client(.socks, [.receiveEnd()])
            #expect(talk.opened == false && talk.reply == 1, "\(talk)")
            #expect(daemon.residentKiB - before <= 512)
            #expect(daemon.isRunning)
            withExtendedLifetime(proxy) {}
        }

        @Test("CONNECT is sent alone: request line, Host, nothing else", arguments: Way.allCases)
        func nothingElse(way: Way) throws {
            let lab = try Lab()
            let proxy = try ScriptedProxy(lab, [[.connect, .established, .close(.fin)]])
            let daemon = try Daemon(lab)
            _ = try lab.client(way, [.receiveEnd(.fin)])
            let head = try proxy.finished()[0].heads?.first
            #expect(
                head == "CONNECT 198.51.100.10:443 HTTP/1.1\r\nHost: 198.51.100.10:443\r\n\r\n",
                "\(daemon.program.errors)")
        }

        @Test("a proxy that is not there looks refused, and the next flow after it came works")
        func proxyAbsent() throws {
            let lab = try Lab()
            let daemon = try Daemon(lab)
            let tunnel = try lab.client(.tunnel, [])
            #expect(tunnel.cause == "refused" && (tunnel.openSeconds ?? 9) < 1, "\(tunnel)")
            let socks = try lab.client(.socks, [])
            #expect(socks.reply == 1, "\(socks)")
            let proxy = try ScriptedProxy(lab, [[.connect, .established, .send("T"), .close(.fin)]])
            let talk = try lab.client(.tunnel, [.receiveEnd(.fin)])
            #expect(talk.data == "T", "\(daemon.program.errors)")
            withExtendedLifetime(proxy) {}
        }
    }
}

/// The text with one character for each octet of a hexadecimal string.
func bytes(_ hexadecimal: String) -> String {
    var text = ""
    var rest = hexadecimal[...]
    while let byte = UInt8(rest.prefix(2), radix: 16), rest.count >= 2 {
        text.unicodeScalars.append(UnicodeScalar(byte))
        rest = rest.dropFirst(2)
    }
    return text
}
