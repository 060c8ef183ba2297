/// Each mistake in a configuration, and how it is named.

import Profiles
import Testing

/// A configuration that must be refused: at this key, and with these words in the message.
struct Refused: CustomTestStringConvertible, Sendable {
    let text: String
    let code: ConfigurationError.Code
    let path: String
    let words: [String]

    init(_ text: String, _ code: ConfigurationError.Code, _ path: String, _ words: String...) {
        self.text = text
        self.code = code
        self.path = path
        self.words = words
    }

    var testDescription: String { text }
}

func expectRefusal(_ row: Refused, sourceLocation: SourceLocation = #_sourceLocation) {
    guard let error = refusal(row.text) else {
        Issue.record("accepted", sourceLocation: sourceLocation)
        return
    }
    #expect(error.code == row.code, "\(error)", sourceLocation: sourceLocation)
    #expect(error.path == row.path, "\(error)", sourceLocation: sourceLocation)
    #expect(error.position != nil, "\(error)", sourceLocation: sourceLocation)
    for word in row.words {
        #expect(error.description.contains(word), "\(error) has no \(word)", sourceLocation: sourceLocation)
    }
}

struct ConfigurationRefusalTests {
    @Test(
        "unknown keys are refused with what they were meant to be",
        arguments: [
            Refused(
                minimal("prfiles: []"), .unknownKey, "prfiles", "unknown key `prfiles`", "did you mean `profiles`?"),
            Refused(
                "{ profiles: [{ id: 'a', upsteam: {} }] }", .unknownKey, "profiles[0].upsteam",
                "did you mean `upstream`?"),
            Refused(minimal(upstream: "hots: 1"), .unknownKey, "profiles[0].upstream.hots", "did you mean `host`?"),
            Refused(minimal("tun: { queues: 2 }"), .unknownKey, "tun.queues", "did you mean `workers`?"),
            Refused(
                minimal("limits: { keepAliveClient: '2h' }"), .unknownKey, "limits.keepAliveClient",
                "did you mean `keepaliveClient`?"),
            Refused(minimal("mtu: 1500"), .unknownKey, "mtu", "`mtu` belongs in `tun`"),
            Refused(
                "{ profiles: [{ id: 'a', halfClose: 'hold' }] }", .unknownKey, "profiles[0].halfClose",
                "belongs in `profiles[].upstream`"),
            Refused(minimal("log: { active: 1 }"), .unknownKey, "log.active", "`active` stands at the top"),
            Refused(
                minimal(upstream: "password: 'S3cr3t-Zq'"), .unknownKey, "profiles[0].upstream.password",
                "`passwordFile`"),
            Refused(minimal("'a b': 1"), .unknownKey, "[\"a b\"]", "expected one of tun, network"),
            Refused(minimal("log: { '': 1 }"), .unknownKey, "log[\"\"]", "expected one of level"),
        ])
    func unknown(row: Refused) { expectRefusal(row) }

    @Test(
        "settings of later versions are refused by name and never ignored",
        arguments: [
            Refused(minimal("network: { dhcp: true }"), .notYet, "network.dhcp", "or an empty one"),
            Refused("{ profiles: [{ id: 'a', devices: ['x'] }] }", .notYet, "profiles[0].devices"),
        ])
    func later(row: Refused) { expectRefusal(row) }

    @Test(
        "what must be there is asked for",
        arguments: [
            Refused("{}", .missingKey, "profiles", "a list of profiles"),
            Refused("{ profiles: [] }", .missingKey, "profiles", "an empty list", "at least one profile"),
            Refused("{ profiles: [{}] }", .missingKey, "profiles[0].id"),
            Refused("{ profiles: [{ id: 'a' }] }", .missingKey, "profiles[0].upstream"),
            Refused("{ profiles: [{ id: 'a', upstream: {} }] }", .missingKey, "profiles[0].upstream.type"),
            Refused(
                "{ profiles: [{ id: 'a', upstream: { type: 'http', port: 1 } }] }", .missingKey,
                "profiles[0].upstream.host"),
            Refused(
                "{ profiles: [{ id: 'a', upstream: { type: 'http', host: 'h' } }] }", .missingKey,
                "profiles[0].upstream.port"),
            Refused(minimal(upstream: "user: 'u'"), .missingKey, "profiles[0].upstream.passwordFile"),
            Refused(minimal(upstream: "passwordFile: 'u'"), .missingKey, "profiles[0].upstream.user"),
            Refused(minimal("socks: { users: [{ name: 'u' }] }"), .missingKey, "socks.users[0].passwordFile"),
        ])
    func missing(row: Refused) { expectRefusal(row) }

    @Test(
        "wrong types are named with what was found",
        arguments: [
            Refused("[]", .wrongType, "", "found an empty list; expected an object"),
            Refused("null", .wrongType, "", "found null"),
            Refused(minimal("tun: true"), .wrongType, "tun", "found true; expected an object"),
            Refused(minimal("tun: null"), .wrongType, "tun", "found null"),
            Refused(minimal("tun: { mtu: '1500' }"), .wrongType, "tun.mtu", "numbers stand without quotes"),
            Refused(minimal("tun: { name: 5 }"), .wrongType, "tun.name", "found a number"),
            Refused(minimal("socks: []"), .wrongType, "socks", "found an empty list"),
            Refused(minimal("socks: { listen: 10808 }"), .wrongType, "socks.listen", "such as \"127.0.0.1:10808\""),
            Refused(minimal("socks: { allow: '10.0.0.0/8' }"), .wrongType, "socks.allow", "a list of networks"),
            Refused(minimal("socks: { allow: [10] }"), .wrongType, "socks.allow", "found a number in the list"),
            Refused("{ profiles: {} }", .wrongType, "profiles", "found an object"),
            Refused("{ profiles: ['a'] }", .wrongType, "profiles[0]", "found a text; expected an object"),
            Refused(minimal(upstream: "identify: 'yes'"), .wrongType, "profiles[0].upstream.identify", "true or false"),
            Refused(minimal("limits: { dial: 5 }"), .wrongType, "limits.dial", "with its unit and in quotes"),
            Refused(minimal("limits: { buffers: 1 }"), .wrongType, "limits.buffers", "with its unit and in quotes"),
            Refused(minimal("limits: { synAck: '1s' }"), .wrongType, "limits.synAck", "a list of durations"),
            Refused(minimal("active: 1"), .wrongType, "active", "found a number"),
            Refused(minimal("log: { level: true }"), .wrongType, "log.level", "one of \"error\""),
        ])
    func types(row: Refused) { expectRefusal(row) }

    @Test(
        "impossible values are named with their range",
        arguments: [
            Refused(
                minimal("tun: { mtu: 1279 }"), .badValue, "tun.mtu",
                "found 1279; expected a whole number from 1280 to 65535"),
            Refused(minimal("tun: { mtu: 65536 }"), .badValue, "tun.mtu"),
            Refused(minimal("tun: { mtu: 1500.5 }"), .badValue, "tun.mtu", "found 1500.5"),
            Refused(minimal("tun: { mtu: NaN }"), .badValue, "tun.mtu", "found NaN"),
            Refused(minimal("tun: { mtu: Infinity }"), .badValue, "tun.mtu"),
            Refused(minimal("tun: { workers: 0 }"), .badValue, "tun.workers"),
            Refused(minimal("tun: { name: 'sixteen-letters0' }"), .badValue, "tun.name", "1 to 15 letters"),
            Refused(minimal("tun: { name: 'tun%d' }"), .badValue, "tun.name"),
            Refused(minimal("tun: { name: '../x' }"), .badValue, "tun.name"),
            Refused(minimal("tun: { name: '..' }"), .badValue, "tun.name"),
            Refused(minimal("tun: { name: '' }"), .badValue, "tun.name", "an empty text"),
            Refused(minimal("tun: { offload: 'ful' }"), .badValue, "tun.offload", "did you mean \"full\"?"),
            Refused(minimal("network: { mark: '0' }"), .badValue, "network.mark"),
            Refused(minimal("network: { mark: '0x100/0xff' }"), .badValue, "network.mark", "within its mask"),
            Refused(minimal("network: { mark: '0/0xff' }"), .badValue, "network.mark", "not 0"),
            Refused(minimal("network: { mark: '-1/0xff' }"), .badValue, "network.mark"),
            Refused(
                minimal("limits: { dial: '5' }"), .badValue, "limits.dial", "found \"5\"", "one number and one unit"),
            Refused(minimal("limits: { dial: '5 s' }"), .badValue, "limits.dial"),
            Refused(minimal("limits: { dial: '-5s' }"), .badValue, "limits.dial"),
            Refused(minimal("limits: { dial: '61s' }"), .badValue, "limits.dial", "from \"100ms\" to \"60s\""),
            Refused(minimal("limits: { dial: '99999999999999999h' }"), .badValue, "limits.dial"),
            Refused(minimal("limits: { dial: '999999999999999h' }"), .badValue, "limits.dial"),
            Refused(minimal("limits: { connect: '121s' }"), .badValue, "limits.connect", "from \"1s\" to \"2m\""),
            Refused(
                minimal("limits: { keepaliveClient: '1h' }"), .badValue, "limits.keepaliveClient",
                "from \"2h\" to \"30d\""),
            Refused(minimal("limits: { buffers: '256MB' }"), .badValue, "limits.buffers", "B, KiB, MiB or GiB"),
            Refused(minimal("limits: { buffers: '65GiB' }"), .badValue, "limits.buffers", "from \"1MiB\" to \"64GiB\""),
            Refused(minimal("limits: { synAck: ['1s', '61s'] }"), .badValue, "limits.synAck"),
            Refused(minimal("limits: { icmpErrors: -1 }"), .badValue, "limits.icmpErrors"),
            Refused(minimal("log: { level: 'verbose' }"), .badValue, "log.level", "\"debug\""),
            Refused("{ profiles: [{ id: '-a' }] }", .badValue, "profiles[0].id"),
            Refused("{ profiles: [{ id: 'a b' }] }", .badValue, "profiles[0].id"),
            Refused(
                minimal(upstream: "user: 'a\\nb', passwordFile: 'p'"), .badValue, "profiles[0].upstream.user",
                "control characters"),
            Refused(minimal("socks: { allow: ['10.0.0.1/8'] }"), .badValue, "socks.allow", "lies in is 10.0.0.0/8"),
            Refused(minimal("socks: { allow: ['10.0.0.0/33'] }"), .badValue, "socks.allow"),
        ])
    func values(row: Refused) { expectRefusal(row) }

    @Test(
        "settings that contradict each other are refused",
        arguments: [
            Refused(
                minimal("socks: { listen: '0.0.0.0:1080' }"), .conflict, "socks.allow",
                "a listener on 0.0.0.0:1080 and no `allow`"),
            Refused(
                minimal("http: { listen: ['127.0.0.1:1', '[2001:db8::1]:1'] }"), .conflict, "http.allow",
                "[2001:db8::1]:1"),
            Refused(
                minimal("http: { listen: '0.0.0.0:1', allow: ['0.0.0.0/0'] }"), .conflict, "http.allow",
                "which is everybody"),
            Refused(minimal("active: 'b'"), .conflict, "active", "one of \"a\""),
            Refused(
                minimal("http: { listen: '127.0.0.1:10808' }"), .conflict, "http",
                "127.0.0.1:10808, where socks listens"),
            Refused(minimal("limits: { buffers: '2MiB' }"), .conflict, "limits.buffers", "flowBuffer"),
            Refused(
                minimal("limits: { halfOpen: 100 }"), .conflict, "limits.halfOpenPerDevice", "halfOpen, which is 100"),
            Refused(
                "{ profiles: [{ id: 'a', upstream: { type: 'direct', host: 'x' } }] }", .conflict,
                "profiles[0].upstream.host"),
            Refused(
                "{ profiles: [{ id: 'a', upstream: { type: 'socks5', host: 'x', port: 1, http80: 'auto' } }] }",
                .conflict, "profiles[0].upstream.http80"),
            Refused(
                "{ profiles: [{ id: 'a', upstream: { type: 'socks5', host: '127.0.0.1', port: 10808 } }] }", .conflict,
                "profiles[0].upstream", "not this gateway itself"),
            Refused(
                "{ http: {}, profiles: [{ id: 'a', upstream: { type: 'http', host: '127.0.0.1', port: 10809 } }] }",
                .conflict, "profiles[0].upstream", "http.outbound"),
        ])
    func conflicts(row: Refused) { expectRefusal(row) }

    @Test("the message has line, column, key path, found and expected in one line")
    func message() {
        let error = refusal(
            "{\n  profiles: [{\n    id: 'a',\n    upstream: { type: 'http', host: 'h', port: 70000 },\n  }],\n}")
        let message =
            "line 4, column 48: profiles[0].upstream.port: found 70000; expected a whole number from 1 to 65535"
        #expect(error?.description == message)
    }
}
