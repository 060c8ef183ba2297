/// Which proxies people may bring along, and what becomes of those that they have brought.

import Addresses
import Bytes
import Devices
import Profiles
import Testing

private func adhoc(_ keys: String) -> String { minimal("adhoc: { \(keys) }") }

struct OwnProxyConfigurationTests {
    @Test("nobody brings anything unless the file says so; networks alone are enough")
    func read() throws {
        #expect(try configuration(minimal()).adhoc == nil)
        #expect(try configuration(minimal("adhoc: false")).adhoc == nil)
        let usual = try #require(try configuration(adhoc("from: ['10.20.0.0/16']")).adhoc)
        #expect(usual.ports == 1024...65535 && usual.lease == .hours(1) && usual.longest == .hours(8))
        let text = "from: ['10.20.0.0/16', '2001:db8::/32'], ports: '8000-9000', lease: '30m', max: '90m'"
        let own = try #require(try configuration(adhoc(text)).adhoc)
        #expect(own.from.map(\.description) == ["10.20.0.0/16", "2001:db8::/32"] && own.ports == 8000...9000)
        #expect(own.lease == .seconds(1800) && own.longest == .seconds(5400))
        #expect(try configuration(adhoc("from: ['10.20.0.0/16'], ports: '8899'")).adhoc?.ports == 8899...8899)
        // A lease beyond the usual bound is its own bound.
        let long = try #require(try configuration(adhoc("from: ['10.20.0.0/16'], lease: '12h'")).adhoc)
        #expect(long.longest == .hours(12))
    }

    @Test(
        "what can't be is refused, with what would be right",
        arguments: [
            Refused(minimal("adhoc: true"), .wrongType, "adhoc", "found true"),
            Refused(adhoc(""), .missingKey, "adhoc.from", "the networks of people's machines"),
            Refused(adhoc("from: []"), .badValue, "adhoc.from", "adhoc: false turns it off"),
            Refused(adhoc("from: '10.20.0.0/16'"), .wrongType, "adhoc.from", "found a text"),
            Refused(adhoc("from: ['10.20.0.1/16']"), .badValue, "adhoc.from", "10.20.0.0/16"),
            Refused(adhoc("from: ['0.0.0.0/0']"), .conflict, "adhoc.from", "everybody"),
            Refused(adhoc("from: ['::/0']"), .conflict, "adhoc.from", "everybody"),
            Refused(adhoc("from: ['127.0.0.0/8']"), .conflict, "adhoc.from", "no proxy of somebody's"),
            Refused(adhoc("from: ['224.0.0.0/8']"), .conflict, "adhoc.from", "no proxy of somebody's"),
            Refused(adhoc("from: ['169.254.0.0/16']"), .conflict, "adhoc.from", "no proxy of somebody's"),
            Refused(adhoc("from: ['10.0.0.0/8'], ports: 8899"), .wrongType, "adhoc.ports", "found a number"),
            Refused(adhoc("from: ['10.0.0.0/8'], ports: '0-9'"), .badValue, "adhoc.ports", "from 1 to 65535"),
            Refused(adhoc("from: ['10.0.0.0/8'], ports: '9-8'"), .badValue, "adhoc.ports", "two ports"),
            Refused(adhoc("from: ['10.0.0.0/8'], ports: '1-70000'"), .badValue, "adhoc.ports", "two ports"),
            Refused(adhoc("from: ['10.0.0.0/8'], ports: '1-2-3'"), .badValue, "adhoc.ports", "two ports"),
            Refused(adhoc("from: ['10.0.0.0/8'], ports: '-9'"), .badValue, "adhoc.ports", "two ports"),
            Refused(adhoc("from: ['10.0.0.0/8'], lease: '30s'"), .badValue, "adhoc.lease", "from"),
            Refused(adhoc("from: ['10.0.0.0/8'], lease: false"), .wrongType, "adhoc.lease", "a duration"),
            Refused(adhoc("from: ['10.0.0.0/8'], max: '8d'"), .badValue, "adhoc.max", "7d"),
            Refused(adhoc("from: ['10.0.0.0/8'], lease: '2h', max: '1h'"), .conflict, "adhoc.lease", "at most max"),
            Refused(adhoc("from: ['10.0.0.0/8'], networks: []"), .unknownKey, "adhoc.networks", "`from`"),
        ])
    func refused(row: Refused) { expectRefusal(row) }

    @Test("what is typed is read as the proxy's window shows it")
    func upstreams() throws {
        let bounds = try #require(
            try configuration(adhoc("from: ['10.20.0.0/16', '2001:db8::/32'], ports: '1024-9999'")).adhoc)
        let read = try [
            "10.20.3.77:8899", " http://10.20.3.77:8899/ ", "socks5://10.20.3.77:1080", "[2001:db8::7]:8899",
        ]
        .map { try bounds.upstream($0) }
        #expect(read.map(\.type) == [.http, .http, .socks5, .http])
        #expect(
            read.map { $0.server?.description }
                == ["10.20.3.77:8899", "10.20.3.77:8899", "10.20.3.77:1080", "[2001:db8::7]:8899"])
        let error = #expect(throws: AdhocError.self) { try bounds.upstream("10.21.0.1:8899") }
        #expect(error?.description == "found 10.21.0.1; expected an address in 10.20.0.0/16, 2001:db8::/32")
    }

    @Test("a network in which addresses with a meaning of their own lie does not lead to them")
    func specials() throws {
        let bounds = AdhocOptions(
            from: ["0.0.0.0/1", "128.0.0.0/1", "::/1", "8000::/1"].compactMap(IPPrefix.init(parsing:)))
        #expect(bounds.from.count == 4)
        let wrong = [
            "127.0.0.1", "127.255.0.1", "0.0.0.0", "0.1.2.3", "169.254.169.254", "224.0.0.1", "239.1.1.1", "240.0.0.1",
            "255.255.255.255", "::1", "::", "fe80::1", "ff02::1", "::ffff:127.0.0.1", "::ffff:169.254.169.254",
        ]
        for text in wrong { #expect(!bounds.allows(try #require(IPAddress(parsing: text))), "\(text)") }
        for text in ["10.20.3.77", "192.168.1.1", "2001:db8::1"] {
            #expect(bounds.allows(try #require(IPAddress(parsing: text))), "\(text)")
        }
    }
}

struct OwnProxyStateTests {
    private static let phone = DeviceIdentity.address(IPAddress(v4: 0x0a14_0005))
    private static let other = DeviceIdentity.address(IPAddress(v4: 0x0a14_0006))

    /// A phone with an own proxy since the second 1,000, and another device with a pushed profile.
    private static func state() throws -> LabState {
        var state = LabState()
        state.profiles = [
            try pushedProfile("{ upstream: { type: 'http', host: '10.20.0.9', port: 8899 } }", id: "own-phone"),
            try pushedProfile("{ upstream: { type: 'direct' } }", id: "own-style"),
        ]
        state.assignments = [
            Assignment(device: phone, profile: "own-phone", since: 1000, until: 4600, by: "phone"),
            Assignment(device: other, profile: "own-style", since: 1000, until: nil, by: "root"),
        ]
        state.own = [OwnProxy(profile: "own-phone", device: phone, since: 1000)]
        return state
    }

    @Test("what is in use stays, to the longest time at most")
    func stays() throws {
        let state = try Self.state()
        #expect(state.tidied(longest: .hours(8)) == state && state.tidied(longest: nil) == state)
        var beyond = state
        beyond.assignments[0].until = nil
        #expect(beyond.tidied(longest: .hours(1)) == state)
        beyond.assignments[0].until = 4601
        #expect(beyond.tidied(longest: .hours(1)) == state)
    }

    @Test("with the assignment the profile and its note are gone, and nobody else's")
    func goes() throws {
        var gone = try Self.state()
        gone.profiles.removeFirst()
        gone.own = []
        gone.assignments.removeFirst()
        var released = try Self.state()
        released.assignments.removeFirst()
        #expect(released.tidied(longest: .hours(8)) == gone)
        var moved = try Self.state()
        moved.assignments[0].profile = "own-style"
        #expect(moved.tidied(longest: .hours(8)).own.isEmpty)
        #expect(moved.tidied(longest: .hours(8)).profiles.map(\.id) == ["own-style"])
        // Another device's assignment keeps nothing alive.
        var taken = released
        taken.assignments.append(Assignment(device: Self.other, profile: "own-phone", since: 1, until: 2, by: "root"))
        #expect(taken.tidied(longest: nil).own.isEmpty)
    }

    @Test("taking back a change gives back all three parts")
    func undone() throws {
        let before = try Self.state()
        var after = before
        after.assignments[0] = Assignment(device: Self.phone, profile: "b", since: 2000, until: nil, by: "root")
        after = after.tidied(longest: nil)
        #expect(after.own.isEmpty)
        let back = after.undoing(from: before, to: after)
        #expect(back.own == before.own && Set(back.profiles.map(\.id)) == ["own-phone", "own-style"])
        #expect(back.assignments.contains(before.assignments[0]))
    }

    @Test("the store's notes are read strictly")
    func strict() {
        for (text, words) in [
            ("{ own: [{ profile: 'p', device: '10.0.0.1' }] }", "own[0].since"),
            ("{ own: [{ profile: 'p', device: 'nobody', since: 1 }] }", "own[0].device"),
            ("{ own: [{ profile: 'p', device: '10.0.0.1', since: 1, laptop: '224.0.0.1' }] }", "own[0].laptop"),
            ("{ own: [{ profile: 'p', device: '10.0.0.1', since: 1, x: 1 }] }", "own[0].x"),
            (
                "{ own: [{ profile: 'p', device: '10.0.0.1', since: 1 }, { profile: 'p', device: '10.0.0.2', since: 1 }] }",
                "own[1].profile"
            ),
        ] {
            let bytes = Array(text.utf8)
            let error = #expect(throws: ConfigurationError.self) { try LabState.parse(bytes.span) }
            #expect(error?.path == words, "\(error?.description ?? "")")
        }
    }
}
