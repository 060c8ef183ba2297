/// The arguments of `starshipd explain` and `starshipd cleanup`.

import Addresses
import Profiles
import Routing
import Testing

struct ExplainOptionsTests {
    private func question(_ arguments: String...) throws -> Question {
        let options = try CommandLineOptions.parse(["explain"] + arguments + ["--config", "c"])
        #expect(options.command == .explain)
        #expect(options.configuration == "c")
        return try #require(options.question)
    }

    @Test("explain takes a name or an address, with a port or without")
    func hosts() throws {
        #expect(try question("Shop.Example.") == Question(name: "shop.example"))
        #expect(try question("shop.example:443") == Question(name: "shop.example", port: 443))
        #expect(try question("müller.example") == Question(name: "xn--mller-kva.example"))
        let v4 = IPAddress(parsing: "192.0.2.7")
        let v6 = IPAddress(parsing: "2001:db8::7")
        #expect(try question("192.0.2.7") == Question(address: v4))
        #expect(try question("192.0.2.7:80") == Question(address: v4, port: 80))
        #expect(try question("2001:db8::7") == Question(address: v6))
        #expect(try question("[2001:db8::7]") == Question(address: v6))
        #expect(try question("[2001:db8::7]:443") == Question(address: v6, port: 443))
    }

    @Test("explain takes the device's address, and whether it is about datagrams")
    func device() throws {
        let source = IPAddress(parsing: "192.168.50.23")
        let asked = try question("--udp", "x.example:443", "--from", "192.168.50.23")
        #expect(asked == Question(name: "x.example", port: 443, source: source, network: .udp))
    }

    @Test("cleanup needs no configuration")
    func cleanup() throws {
        let options = try CommandLineOptions.parse(["cleanup"])
        #expect(options.command == .cleanup)
        #expect(options.question == nil)
    }

    @Test(
        "wrong questions are refused with what was meant",
        arguments: [
            (["explain", "--config", "c"], "explain wants HOST or HOST:PORT"),
            (["explain", "x.example"], "--config FILE is missing"),
            (["explain", "x", "y", "--config", "c"], "one argument too many"),
            (["explain", "https://x.example/a?b", "--config", "c"], "write \"x.example:443\""),
            (["explain", "https://x.example:8443/", "--config", "c"], "write \"x.example:8443\""),
            (["explain", "x.example:0", "--config", "c"], "ports go from 1 to 65535"),
            (["explain", "x.example:https", "--config", "c"], "ports go from 1 to 65535"),
            (["explain", "x..example", "--config", "c"], "an empty label"),
            (["explain", "1.2.3.400", "--config", "c"], "no IPv4 address"),
            (["explain", "x", "--from", "phone", "--config", "c"], "--from wants the address of a device"),
            (["explain", "x", "--udp=yes", "--config", "c"], "--udp takes no value"),
            (["explain", "x", "--capture", "f", "--config", "c"], "--capture is for `run`"),
            (["run", "--udp", "--config", "c"], "--udp is for `explain`"),
            (["--from", "192.0.2.1", "--config", "c"], "--from is for `explain`"),
            (["cleanup", "--config", "c"], "cleanup takes no arguments"),
            (["cleanup", "now"], "cleanup takes no arguments"),
            (["explian"], "did you mean `explain`?"), (["clean"], "did you mean `cleanup`?"),
        ])
    func refuses(arguments: [String], words: String) {
        guard let error = #expect(throws: UsageError.self, performing: { try CommandLineOptions.parse(arguments) })
        else { return }
        #expect(error.description.contains(words), "\(error)")
    }
}
