/// The servers at the far end: web (HTTP/1.1, HTTP/2, WebSocket), git's files, ssh, bulk transfer, echo.

import Foundation

public struct Origins {
    /// The authority that signed the servers' certificate, as a file for `curl --cacert`.
    public let authority: String
    /// The private key of the one user who may log in by ssh.
    public let sshKey: String
    /// Lives as long as the servers shall.
    private let programs: [LabProgram]

    public enum Kind: CaseIterable {
        case web
        case ssh
        case transfer
        case echo
    }

    public init(_ lab: Lab, _ kinds: [Kind]) throws {
        authority = lab.directory.appending(path: "authority.pem").path
        sshKey = lab.directory.appending(path: "user-key").path
        var programs: [LabProgram] = []
        for kind in kinds {
            switch kind {
            case .web: programs.append(try Self.web(lab))
            case .ssh: programs.append(try Self.ssh(lab, userKey: sshKey))
            case .transfer:
                let places = ["198.51.100.13", "5000", "2001:db8:51::13", "5000", "198.51.100.13", "443"]
                programs.append(try lab.start(.origin, Lab.python(["transfer.py", "serve"] + places)))
                try lab.waitForPort(5000, of: "198.51.100.13")
            case .echo:
                programs.append(
                    try lab.start(.origin, Lab.python(["load.py", "serve", "198.51.100.14", "7000"])))
                try lab.waitForPort(7000, of: "198.51.100.14")
            }
        }
        self.programs = programs
    }

    private static func web(_ lab: Lab) throws -> LabProgram {
        try shell(
            lab,
            """
            openssl ecparam -name prime256v1 -genkey -noout -out authority.key
            openssl req -x509 -new -key authority.key -subj '/CN=Lab authority' -days 30 -out authority.pem
            openssl ecparam -name prime256v1 -genkey -noout -out server.key
            openssl req -new -key server.key -subj '/CN=web.example' -out server.csr
            printf 'subjectAltName=DNS:web.example,DNS:socket.example,IP:198.51.100.10,IP:2001:db8:51::10\\n' >names
            openssl x509 -req -in server.csr -CA authority.pem -CAkey authority.key -days 30 -extfile names \
                -out server.pem
            git init -q -b main work && cd work && git config user.email lab@web.example && git config user.name Lab
            for number in $(seq 12); do
                seq $number $((number * 300)) >file$number && git add . && git commit -q -m "Change $number"
            done
            cd .. && mkdir site && git clone -q --bare work site/project.git && git -C site/project.git gc -q
            git -C site/project.git update-server-info
            """)
        let inside = lab.directory.path
        let program = try lab.start(
            .origin,
            Lab.python(
                ["origin.py", "\(inside)/server.pem", "\(inside)/server.key", "\(inside)/site", "--plain"]
                    + ["198.51.100.10:80", "[2001:db8:51::10]:80", "--secure", "198.51.100.10:443"]
                    + ["198.51.100.11:443", "[2001:db8:51::10]:443"]))
        try lab.waitForPort(443, of: "198.51.100.11")
        try lab.waitForPort(80, of: "198.51.100.10")
        return program
    }

    private static func ssh(_ lab: Lab, userKey: String) throws -> LabProgram {
        try shell(
            lab,
            """
            mkdir -p /run/sshd
            ssh-keygen -q -t ed25519 -N '' -f host-key
            ssh-keygen -q -t ed25519 -N '' -f user-key
            cp user-key.pub authorized
            cat >sshd.conf <<CONFIG
            ListenAddress 198.51.100.12:22
            ListenAddress 198.51.100.12:443
            HostKey $PWD/host-key
            AuthorizedKeysFile $PWD/authorized
            PidFile none
            StrictModes no
            UsePAM no
            PermitRootLogin yes
            CONFIG
            """)
        let program = try lab.start(
            .origin, ["/usr/sbin/sshd", "-D", "-e", "-f", lab.directory.appending(path: "sshd.conf").path])
        try lab.waitForPort(443, of: "198.51.100.12")
        return program
    }

    private static func shell(_ lab: Lab, _ text: String) throws {
        let result = try lab.run(.origin, ["bash", "-euc", text])
        guard result.status == 0 else { throw LabError("the origin's files: \(result.errors)") }
    }
}

extension Lab {
    /// Waits until something listens on a TCP port at the origin (or in another place).
    public func waitForPort(_ port: Int, of address: String, in place: Place = .origin) throws {
        let shown = address.contains(":") ? "[\(address)]:\(port)" : "\(address):\(port)"
        let listening = try Self.wait(20) {
            try run(place, ["ss", "-Hltn"]).output.split(separator: " ").contains { $0 == shown || $0 == "*:\(port)" }
        }
        if !listening { throw LabError("nothing listens on \(shown)") }
    }
}
