/// The real proxies of the lab, each as it comes from Debian, and our own embedded one.

import Foundation

public enum Upstream: String, CaseIterable, Sendable, CustomStringConvertible {
    /// squid with the configuration of the package, and the one line that lets the lab's network in.
    case squid
    /// squid with CONNECT to every port allowed.
    case openedSquid
    case tinyproxy
    case mitmproxy
    /// `starshipd` with the HTTP inbound and the outbound `direct`.
    case embedded

    public var description: String { rawValue }

    public var port: Int {
        switch self {
        case .squid: 3128
        case .openedSquid: 3129
        case .tinyproxy: 8888
        case .mitmproxy: 8080
        case .embedded: 10809
        }
    }

    /// The address that all proxies of the lab listen on.
    public static let address = "10.77.0.2"

    /// Whether this machine can run it.
    public var isAvailable: Bool {
        switch self {
        case .squid, .openedSquid: Lab.has("squid") && Lab.hasSystemUsers
        case .tinyproxy: Lab.has("tinyproxy")
        case .mitmproxy: Lab.has("mitmdump")
        case .embedded: true
        }
    }

    /// Starts it in the internet namespace and waits until it listens.
    ///
    /// `user` is a name and a password (`NAME PASSWORD`) without which tinyproxy lets nobody through.
    public func start(in lab: Lab, trusting authority: String? = nil, for user: String? = nil) throws -> LabProgram {
        let program: LabProgram
        switch self {
        case .squid, .openedSquid: program = try startSquid(lab)
        case .tinyproxy: program = try startTinyproxy(lab, user)
        case .mitmproxy:
            var arguments = ["mitmdump", "--listen-port", "\(port)", "--set", "confdir=\(lab.directory.path)/mitm"]
            if let authority { arguments += ["--set", "ssl_verify_upstream_trusted_ca=\(authority)"] }
            // What is not HTTP and begins with letters must be named to it.
            arguments += ["--tcp-hosts", "^(ssh\\.example|198\\.51\\.100\\.1[234])$"]
            program = try lab.start(.internet, arguments + ["--set", "termlog_verbosity=warn", "--quiet"])
        case .embedded: program = try startEmbedded(lab)
        }
        try lab.waitForPort(port, of: self == .embedded ? Self.address : "0.0.0.0", in: .internet)
        return program
    }

    /// The authority whose certificates a client sees behind this proxy.
    public func authority(_ origins: Origins, _ lab: Lab) -> String {
        self == .mitmproxy ? "\(lab.directory.path)/mitm/mitmproxy-ca-cert.pem" : origins.authority
    }

    private func startSquid(_ lab: Lab) throws -> LabProgram {
        let files = lab.directory.appending(path: rawValue)
        try FileManager.default.createDirectory(at: files, withIntermediateDirectories: true)
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: files.path)
        var text = try String(contentsOfFile: "/etc/squid/squid.conf", encoding: .utf8)
        // The one line: it stands commented out in the package's own file.
        text.replace("#http_access allow localnet", with: "http_access allow localnet")
        if !text.contains("\nhttp_access allow localnet") {
            text.replace("\nhttp_access deny all", with: "\nhttp_access allow localnet\nhttp_access deny all")
        }
        if self == .openedSquid {
            text.replace("acl SSL_ports port 443", with: "acl SSL_ports port 1-65535")
            text.replace("acl Safe_ports port 80\t", with: "acl Safe_ports port 1-65535\t")
            text.replace("http_port 3128", with: "http_port \(port)")
        }
        // Where it writes has nothing to do with its rules.
        text += """

            pid_filename none
            access_log stdio:\(files.path)/access.log
            cache_log \(files.path)/cache.log
            coredump_dir \(files.path)
            shutdown_lifetime 0 seconds
            visible_hostname squid.example

            """
        let file = files.appending(path: "squid.conf")
        try text.write(to: file, atomically: true, encoding: .utf8)
        return try lab.start(.internet, ["squid", "--foreground", "-n", rawValue, "-f", file.path])
    }

    private func startTinyproxy(_ lab: Lab, _ user: String?) throws -> LabProgram {
        let file = lab.directory.appending(path: "tinyproxy.conf")
        let text = """
            Port \(port)
            Timeout 600
            MaxClients 200
            Allow 10.77.0.0/24
            \(user.map { "BasicAuth \($0)" } ?? "")

            """
        try text.write(to: file, atomically: true, encoding: .utf8)
        return try lab.start(.internet, ["tinyproxy", "-d", "-c", file.path])
    }

    private func startEmbedded(_ lab: Lab) throws -> LabProgram {
        let text = """
            {
              tun: false,
              socks: false,
              network: { setup: "none" },
              http: { listen: "\(Self.address):\(port)", allow: ["10.77.0.0/24"], outbound: "direct" },
              profiles: [{ id: "embedded", upstream: { type: "direct" } }],
              active: "embedded"
            }
            """
        let file = lab.directory.appending(path: "embedded.json5")
        try text.write(to: file, atomically: true, encoding: .utf8)
        return try lab.start(.internet, ["\(Lab.binaries)/starshipd", "--config", file.path])
    }
}
