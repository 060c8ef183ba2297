/// The unmodified clients on the device, each by the tunnel or by SOCKS5: curl, git, ssh, WebSocket, bulk data.

import Foundation
import TestSupport
import Testing

struct LabClient {
    let lab: Lab
    let origins: Origins
    let way: Way
    /// The authority that signs what the client sees.
    let authority: String

    init(_ lab: Lab, _ origins: Origins, _ way: Way, authority: String) {
        self.lab = lab
        self.origins = origins
        self.way = way
        self.authority = authority
    }

    private var socks: String { "\(Lab.socksAddress):\(Lab.socksPort)" }
    private var socksPlace: [String] { way == .socks ? [Lab.socksAddress, "\(Lab.socksPort)"] : [] }

    /// Fetches a page by curl, in the HTTP version that is wanted, and checks text and version.
    func page(_ url: String, version: String, source: SourceLocation = #_sourceLocation) throws {
        let result = try curl(["--http\(version)", "-w", "%{http_version}", url])
        #expect(
            result.output == "A page from the lab's origin\n\(version)", "\(url): \(result.errors)",
            sourceLocation: source)
    }

    /// Uploads and downloads two megabytes by curl.
    func bodies(_ base: String, source: SourceLocation = #_sourceLocation) throws {
        let file = lab.directory.appending(path: "body")
        try Data((0..<2_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }).write(to: file)
        let sum = try lab.run(.device, ["sha256sum", file.path]).output.prefix(64)
        let up = try curl(["--data-binary", "@\(file.path)", "\(base)/upload"])
        #expect(up.output == "2000000 \(sum)\n", "\(up.errors)", sourceLocation: source)
        let down = try curl(["-o", file.path, "-w", "%{size_download}", "\(base)/bytes/2000000"])
        #expect(down.output == "2000000", "\(down.errors)", sourceLocation: source)
    }

    func curl(_ arguments: [String]) throws -> LabProgram.Result {
        let way = way == .socks ? ["--socks5-hostname", socks] : []
        let common = ["curl", "-sS", "--max-time", "25", "--cacert", authority]
        return try lab.run(.device, common + way + arguments)
    }

    func webSocket(source: SourceLocation = #_sourceLocation) throws {
        let program = ["websocket.py", authority, "socket.example", "443"] + socksPlace
        let result = try lab.run(.device, Lab.python(program))
        #expect(result.output == "websocket: 4 messages came back\n", "\(result.errors)", sourceLocation: source)
    }

    /// Clones a repository and checks that its newest file is there whole.
    func clone(over scheme: String, source: SourceLocation = #_sourceLocation) throws {
        let copy = lab.directory.appending(path: "copy-\(UUID().uuidString)").path
        var settings = ["-c", "http.sslCAInfo=\(authority)"]
        if way == .socks { settings += ["-c", "http.proxy=socks5h://\(socks)"] }
        let result = try lab.run(
            .device, ["git"] + settings + ["clone", "-q", "\(scheme)://web.example/project.git", copy])
        #expect(result.status == 0, "\(result.errors)", sourceLocation: source)
        let lines = try lab.run(.device, ["wc", "-l", "\(copy)/file12"])
        #expect(lines.output.hasPrefix("3589 "), "\(lines.errors)", sourceLocation: source)
    }

    /// Logs in by ssh, sends two megabytes there and back.
    func ssh(port: Int, source: SourceLocation = #_sourceLocation) throws {
        var options = ["-F", "none", "-p", "\(port)", "-i", origins.sshKey, "-o", "StrictHostKeyChecking=no"]
        options += ["-o", "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR", "-o", "ConnectTimeout=15"]
        if way == .socks {
            options += ["-o", "ProxyCommand=/usr/bin/python3 \(Lab.programs)/pipe.py %h %p \(socks)"]
        }
        let command =
            "head -c 2000000 /dev/zero | ssh \(options.map { "'\($0)'" }.joined(separator: " ")) "
            + "root@ssh.example cat | wc -c"
        let result = try lab.run(.device, ["bash", "-c", command], within: 40)
        #expect(result.output == "2000000\n", "\(result.errors)", sourceLocation: source)
    }

    /// Moves bytes one way and compares the sums of both ends.
    func transfer(
        _ direction: String, _ count: Int, to host: String = "198.51.100.13", port: Int = 5000,
        within seconds: Double = 120, source: SourceLocation = #_sourceLocation
    ) throws {
        let output = try lab.program(
            .device, ["transfer.py", direction, "\(count)", host, "\(port)"] + socksPlace, within: seconds)
        let outcome = try JSONDecoder().decode(Outcome.self, from: Data(output.utf8))
        #expect(outcome.equal, "\(direction) \(way): \(output)", sourceLocation: source)
        #expect(outcome.ended == "fin", "\(direction) \(way): \(output)", sourceLocation: source)
    }

    private struct Outcome: Decodable {
        let equal: Bool
        let ended: String?
    }
}
