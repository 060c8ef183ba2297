/// Hosts and listeners written in ways that people write them.

import Addresses
import Profiles
import Testing

struct HostTests {
    static func upstream(host: String) -> String {
        "{ profiles: [{ id: 'a', upstream: { type: 'http', host: '\(host)', port: 8080 } }] }"
    }

    @Test(
        "an upstream's host is a name or an address",
        arguments: [
            ("proxy.example", "proxy.example:8080"), ("Proxy.Example.", "proxy.example:8080"),
            ("localhost", "localhost:8080"),
            ("192.0.2.1", "192.0.2.1:8080"), ("2001:db8:0::1", "[2001:db8::1]:8080"), ("my_host-1", "my_host-1:8080"),
            ("xn--bcher-kva.example", "xn--bcher-kva.example:8080"), ("1.2.3.4.example", "1.2.3.4.example:8080"),
        ])
    func accepted(host: String, server: String) throws {
        #expect(try configuration(Self.upstream(host: host)).activeProfile.upstream.server?.description == server)
    }

    @Test(
        "B170: a host in any other form is refused with the form that would be right",
        arguments: [
            ("http://proxy.example:3128", ["a URL", "type: \"http\", host: \"proxy.example\", port: 3128"]),
            ("tcp://8.8.8.8", ["a URL", "without a scheme"]),
            ("socks5://u:p@[2001:db8::1]:1080/", ["type: \"socks5\", host: \"2001:db8::1\", port: 1080"]),
            ("proxy.example:3128", ["a host with a port", "port: 3128"]),
            ("192.0.2.1:3128", ["a host with a port", "port: 3128"]),
            ("[2001:db8::1]", ["brackets", "host: \"2001:db8::1\""]),
            ("u@proxy.example", ["a host with a user", "`passwordFile`"]),
            ("proxy.example/", ["a path"]), ("fe80::1%eth0", ["a zone"]), (" proxy.example", ["blanks around it"]),
            ("8.8.8.256", ["no IPv4 address"]), ("010.8.8.8", ["no IPv4 address"]), ("8.8.8", ["no IPv4 address"]),
            ("0x7f.1", ["no IPv4 address", "neither"]), ("bücher.example", ["outside ASCII", "xn--"]),
            ("", ["an empty text"]),
            ("a..b", ["neither"]), ("-a.example", ["neither"]), ("a b", ["neither"]), ("*.example", ["neither"]),
            ("a.0X1F", ["neither"]),
            ("0.0.0.0", ["every address"]), ("224.0.0.1", ["a group address"]), ("fe80::1", ["wants a zone"]),
            ("255.255.255.255", ["a group address"]),
            (":8080", ["port"]),
        ])
    func refused(host: String, words: [String]) {
        let error = refusal(Self.upstream(host: host))
        #expect(error?.path == "profiles[0].upstream.host")
        #expect(error?.expected.isEmpty == false)
        let message = error?.description ?? "accepted"
        #expect(words.contains { message.contains($0) }, "\(message)")
        if host != "0x7f.1" { #expect(words.allSatisfy { message.contains($0) }, "\(message)") }
    }

    @Test(
        "B170: a listener is an address with or without a port",
        arguments: [
            ("127.0.0.2", "127.0.0.2:10808"), ("127.0.0.1:5353", "127.0.0.1:5353"), ("[::1]:53", "[::1]:53"),
            ("::1", "[::1]:10808"), ("[::1]", "[::1]:10808"),
        ])
    func listener(text: String, endpoint: String) throws {
        let socks = try configuration(minimal("socks: { listen: '\(text)' }")).socks
        #expect(socks?.listen.map(\.description) == [endpoint])
    }

    @Test(
        "B170: a listener in any other form is refused with an example",
        arguments: [
            ("tcp://127.0.0.1", "a URL"), ("127.0.0.1:", "a bad port"), ("127.0.0.1:0", "a bad port"),
            ("127.0.0.1:65536", "a bad port"), ("127.0.0.1:080", "a bad port"), (" 127.0.0.1 ", "blanks around it"),
            ("8.8.8.256", "no IPv4 address"), ("010.8.8.8", "no IPv4 address"), ("8.8.8.256:80", "8.8.8.256:80"),
            ("localhost:10808", "found a name"), (":10808", "a port without an address"),
            ("*:10808", "a port without an address"),
            ("fe80::1%eth0", "a zone"), ("224.0.0.1:80", "a group address"), ("[fe80::1]:80", "wants a zone"),
            ("", "an empty text"),
            ("[::1]:99999", "a bad port"),
        ])
    func refusedListener(text: String, word: String) {
        let error = refusal(minimal("socks: { listen: '\(text)', allow: ['10.0.0.0/8'] }"))
        #expect(error?.path == "socks.listen")
        #expect(error?.expected == "an address and a port, such as \"127.0.0.1:10808\" or \"[::1]:10808\"")
        #expect(error?.description.contains(word) == true, "\(error?.description ?? "accepted")")
    }
}
