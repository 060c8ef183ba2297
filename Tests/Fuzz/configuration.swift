/// Any bytes as a configuration file with its rules, a question about it, a proxy URL, an address or a network.

import Addresses
import Bytes
import Profiles

func fuzzConfiguration(_ bytes: [UInt8]) {
    do throws(ConfigurationError) {
        let configuration = try Configuration.parse(bytes.span)
        // Every list that is named holds the same bytes.
        var files: [String: [UInt8]] = [:]
        for file in configuration.listFiles { files[file] = bytes }
        let resolved = try configuration.resolve(files: files)
        precondition(!resolved.summary.isEmpty)
        let written = [UInt8](configuration.json.text.utf8)
        precondition((try? Configuration.parse(written)) == configuration, "what is written is read as another one")
        let question = Question(name: "a.example", port: 443)
        precondition(resolved.explain(question)["outbound"] != nil, "a flow without an end")
    } catch {
        precondition(!"\(error)".isEmpty, "a refusal without words")
    }
    let text = String(decoding: bytes, as: UTF8.self)
    _ = try? ProxyURL.parse(text)
    _ = try? CommandLineOptions.parse(["explain", text, "--config", "c"])
    if let address = IPAddress(parsing: text) { precondition(IPAddress(parsing: address.description) == address) }
    if let prefix = IPPrefix(parsing: text) { precondition(IPPrefix(parsing: prefix.description) == prefix) }
    if let end = SocketAddress(parsing: text) { precondition(SocketAddress(parsing: end.description) == end) }
}
