/// Arguments that ask for nothing: each refusal is one line that says what, where, and what would be right.

import Testing

@testable import Commands

struct RefusalTests {
    static let rows: [(line: String, message: String)] = [
        (
            "usee",
            #"found the unknown command "usee"; expected one of those that starshipctl --help lists (did you mean `use`?)"#
        ),
        ("xyzzy", #"found the unknown command "xyzzy"; expected one of those that starshipctl --help lists"#),
        ("--json", "found no command; expected one (starshipctl --help)"),
        ("help usee", "did you mean `use`?"),
        ("status now", #"status: found "now" too much; expected `starshipctl status`"#),
        ("status --jsn", "status: found the unknown option --jsn; expected one of its own (did you mean --json?)"),
        ("status --device x", "status: found --device, an option of `use`; expected one of its own"),
        ("status --json=yes", "status: --json: found a value; expected none"),
        ("status --json --json", "status: found --json twice; expected each option once"),
        ("status --color blue", #"--color: found "blue"; expected never, auto or always"#),
        ("status --socket", "status: --socket: found no value; expected --socket PATH"),
        ("status --\u{1b}[31m", "status: found the unknown option an option"),
        ("use", "use: found no PROFILE; expected `starshipctl use PROFILE (--device NAME | --all) [options]`"),
        ("use qa", "use: found neither --device NAME nor --all; expected one of them"),
        ("use qa --device stb --all", "use: found --device and --all; expected one of them"),
        ("use qa --device", "use: --device: found no value; expected --device NAME"),
        ("use qa --device --all", "use: --device: found no value; expected --device NAME"),
        ("use qa --devise stb", "did you mean --device?"),
        ("use q/a --all", #"use: PROFILE: found "q/a"; expected 1 to 64 letters, digits"#),
        ("use qa --device a_b", #"use: DEVICE: found "a b"; expected a device's name, MAC or address"#),
        ("use qa --device stb --override", "use: found --override with --device; expected --all with it"),
        (
            "use qa --all --for 2h",
            "use: found --for with --all; expected --device with it: the gateway's default has no end"
        ),
        (
            "use qa --device stb --for 2",
            #"use: --for: found "2"; expected a duration from 1m to 365d, or forever (such as 2h)"#
        ),
        ("use qa --device stb --for 2y", #"--for: found "2y""#),
        ("use qa --device stb --for 10s", #"--for: found "10s""#),
        ("use qa --device stb --for -1h", #"--for: found "-1h""#),
        (
            "use qa --all --drain 31s",
            #"use: --drain: found "31s"; expected a duration from 0s to 30s (one number and one unit"#
        ),
        ("use qa --all --drain 2", #"--drain: found "2""#),
        ("use qa --all --now --drain 2s", "use: found --now and --drain; expected one of them"),
        ("use qa --all --confirm 0", #"use: --confirm: found "0"; expected a whole number from 1 to 3600"#),
        ("use qa --all --confirm 60s", #"--confirm: found "60s""#),
        ("use qa --all --confirm 99999999999999999999", "expected a whole number from 1 to 3600"),
        ("use qa stb --all", #"use: found "stb" too much"#),
        ("release", "release: found neither --device NAME nor --all"),
        ("release --all --for 2h", "release: found --for, an option of `use`"),
        ("devices name stb", "devices name: found no NAME; expected `starshipctl devices name DEVICE NAME`"),
        ("devices name 10.9.0.23 10.9.0.24", "devices name: NAME: found an address; expected a name (such as pixel-7)"),
        ("devices name 10.9.0.23 a:b", #"devices name: NAME: found "a:b""#),
        ("devices forget", "devices forget: found no NAME"),
        ("requests", "requests: found no DEVICE"), ("lists stb --now", "lists: found neither --direct nor --proxied"),
        ("lists stb --direct a,,b", #"lists: --direct: found "a,,b"; expected 1 to 64 names with commas between them"#),
        ("probe --pages x", "probe: found --pages without --choose; expected both, or no --pages"),
        ("probe q/a", #"probe: PROFILE: found "q/a""#),
        ("watch now", #"watch: found "now" too much; expected `starshipctl watch`"#),
        ("profiles delete", "profiles delete: found no ID"),
        ("profiles --move-to x", "profiles: found --move-to, an option of `profiles delete`"),
        ("profiles delete a --move-to a", "profiles delete: --move-to: found \"a\"; expected another profile"),
        ("why", "why: found no DEVICE"),
        ("explain", "explain: found no HOST[:PORT]"),
        ("explain shop.example:0", "explain: HOST[:PORT]: found no port from 1 to 65535 behind the colon"),
        ("explain shop.example:https", "explain: HOST[:PORT]: found no port"),
        ("explain https://shop.example/", "explain: HOST[:PORT]: found a URL; expected a name or an address"),
        ("flows --limit 0", #"flows: --limit: found "0"; expected a whole number from 1 to 1000"#),
        ("push", "push: found no FILE|URL|-"),
        ("push https://a.example/x", "push: URL: found an https address; expected http (fetch it yourself: curl"),
        ("push ftp://a.example/x", "push: URL: found an address of another scheme"),
        ("push http://user:S3cr3t-Zq@a.example/x", "push: URL: found a user in the address; expected none"),
        ("push http:///x", "push: URL: found no usable host"),
        ("push http://10.9.0.256/x", "push: URL: found no usable host"),
        ("push http://a.example:99999/x", "push: URL: found no port from 1 to 65535"),
        ("push http://a.example/a_b", "push: URL: found an address with blanks"),
        ("push x --confirm soon", #"push: --confirm: found "soon""#),
        ("confirm last", #"confirm: REVISION: found "last"; expected a number"#),
        ("rollback", "rollback: found no REVISION"),
        ("rollback -- -1", #"rollback: REVISION: found "-1"; expected a number"#),
        ("apply starship://activate?v=1&profile=qa", "apply: found neither --device NAME nor --all"),
        ("apply - --all", "apply: found - without --yes; expected both"),
        ("apply starship://activate?v=2&profile=qa --all", "apply: the link's `v`: found \"2\"; expected 1"),
        ("apply starship://activate?url=https://x --all", "apply: the link's `url`: found what a link never carries"),
        ("apply WIFI:T:WPA;S:lab;P:S3cr3t-Zq;; --all", "found what looks like a Wi-Fi code, not a config URL"),
        (
            "apply http://user:S3cr3t-Zq@proxy.example:8080 --all",
            "apply: found a password in the URL; expected none: everybody on this machine can read arguments"
        ),
        ("url", "url: found neither PROFILE nor --host; expected one of them"),
        ("url qa --host x", "url: found a profile and --host; expected a profile alone"),
        ("url --host x.example", "url: found --host without --port and --key; expected all three"),
        ("url --host x.example --port 0 --key k", #"url: --port: found "0""#),
        ("url --host x.example --port 1 --key k/", #"url: --key: found "k/""#),
        ("url --host x.example --port 1 --key k --type ftp", #"url: --type: found "ftp"; expected http or socks5"#),
        ("url --host x.example --port 1 --key k --domains a,,b", "url: --domains: found"),
        ("url --host x.example --port 1 --key k --for 1s", #"url: --for: found "1s""#),
        ("url qa --page http://x", #"url: --page: found "http://x"; expected the gateway's name or address"#),
        ("qr", "qr: found neither PROFILE|URL nor --sheet"),
        ("qr qa --level X", #"qr: --level: found "X"; expected L, M, Q or H"#),
        ("qr qa --svg a --png b", "qr: found --svg and --png; expected one of them"),
        ("qr qa --svg a --invert", "qr: found --svg and --invert; expected one of them"),
        ("qr qa --ssid Lab", "qr: found --ssid without --sheet; expected both, or no --ssid"),
        ("qr --sheet a.svg --password-file x", "qr: found --password-file without --ssid"),
        ("qr --sheet a.pdf", #"qr: --sheet: found "a.pdf"; expected a file that ends in .svg or .html"#),
        ("qr --sheet a.svg qa", "qr: found --sheet and a profile or URL"),
        ("qr --sheet a.svg --png b", "qr: found --sheet and --png"),
        ("qr http://user:S3cr3t-Zq@proxy.example:8080", "qr: found a password in the URL; expected none"),
        ("qr starship://device?v=1", "qr: the link: found other parameters on a sticker"),
        ("scan --device a --all", "scan: found --device and --all"),
        ("scan now", #"scan: found "now" too much"#),
        ("capture", "capture: found nothing; expected start or stop"),
        ("capture strt", #"capture: found "strt"; expected start or stop (did you mean `capture start`?)"#),
        ("capture start ../x", #"capture start: FILE: found "../x"; expected a name alone"#),
        ("capture start --size 1", #"capture start: --size: found "1"; expected a size from 64KiB to 64GiB"#),
        ("capture start --snap 1", #"capture start: --snap: found "1""#),
        ("completion", "completion: found no SHELL; expected bash, zsh or fish"),
        ("completion bsh", #"completion: SHELL: found "bsh"; expected bash, zsh or fish (did you mean bash?)"#),
        ("completion bash --json", "completion: found --json; expected none"),
        ("completion --list colours", #"completion: --list: found "colours"; expected profiles or devices"#),
        ("keygen keys/", "keygen: FILE: found a name that gives no id"),
    ]

    @Test("arguments that mean nothing are refused in one line", arguments: rows)
    func refused(line: String, message: String) throws {
        let error = #expect(throws: ArgumentError.self) { try CommandTable.parse(words(line)) }
        let text = error?.description ?? ""
        #expect(text.contains(message))
        // One line, nothing that moves a cursor, and never a password (B215).
        #expect(!text.unicodeScalars.contains { $0.properties.generalCategory == .control })
        #expect(!text.contains("S3cr3t"))
    }
}
