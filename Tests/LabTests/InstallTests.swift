/// Installing, exchanging, putting back and removing, on a clean Debian: files and network before and after compared.

import Foundation
import TestSupport
import Testing

extension LabTests {
    @Suite("installed on a clean Debian", .unless(CleanTree.obstacle))
    struct InstallTests {
        let tree: CleanTree
        let before: Set<String>

        init() throws {
            tree = try CleanTree(try Lab())
            before = try tree.files()
        }

        /// What hier(7), systemd.unit(5), man-pages(7) and the shells' own manuals say where such files are.
        private static let needed = [
            "/usr/bin/starshipd", "/usr/bin/starshipctl", "/usr/lib/systemd/system/starshipd.service",
            "/usr/share/man/man8/starshipd.8.gz", "/usr/share/man/man1/starshipctl.1.gz",
            "/usr/share/man/man5/starship.json5.5.gz", "/usr/share/bash-completion/completions/starshipctl",
            "/usr/share/zsh/vendor-completions/_starshipctl", "/usr/share/bash-completion/completions/starshipd",
            "/usr/share/fish/vendor_completions.d/starshipctl.fish", "/etc/starship/starship.json5",
            "/var/lib/starship",
            "/etc/systemd/system/multi-user.target.wants/starshipd.service",
            "/usr/share/doc/starship-gateway/examples/starship.json5", "/usr/share/starship/phones/push.txt",
            "/usr/share/doc/starship-gateway/examples/ways/hostapd.conf",
            "/usr/share/doc/starship-gateway/examples/ways/vlan20.netdev",
            "/usr/share/doc/starship-gateway/examples/keepalived/master.conf",
            "/usr/share/starship/keepalived/check-starship", "/usr/lib/systemd/system/starship-dhcp.service",
        ]

        /// What may be left of a removed installation whose configuration and state were to stay.
        private func checkLeftovers(_ left: [String]) {
            let isKept = { (path: String) in
                ["/etc/starship", "/var/lib/starship"].contains { path == $0 || path.hasPrefix("\($0)/") }
                    || ["/etc/group", "/etc/gshadow"].contains(path)
            }
            #expect(left.filter { !isKept($0) } == [])
            #expect(left.contains("/etc/starship/starship.json5"))
        }

        @Test("the service carries a device at once, and removing it leaves neither a file nor a route")
        func installs() throws {
            let lab = tree.lab
            let origins = try Origins(lab, [.web])
            let proxy = try Upstream.embedded.start(in: lab)
            let network = try tree.network()
            let result = try tree.install(["--upstream", "http://10.77.0.2:\(Upstream.embedded.port)", "--lan", "lan"])
            #expect(result.status == 0, "\(result)")
            #expect(result.output.contains("Next: "))
            let made = CleanTree.paths(try tree.files(), without: before)
            #expect(Self.needed.filter { !made.contains($0) } == [])
            #expect(try tree.output("getent group starship").hasPrefix("starship:"))
            #expect(try tree.output("stat -c '%a %U:%G' /etc/starship/starship.json5") == "640 root:starship\n")
            try LabClient(lab, origins, .tunnel, authority: origins.authority).page(
                "http://web.example/", version: "1.1")

            let removed = try tree.run("/src/scripts/uninstall")
            #expect(removed.status == 0, "\(removed)")
            // The device above was seen, and a phone that was told this router by hand has to be told another one.
            #expect(removed.output.contains("10.9.0.2") && removed.output.contains("router, DNS"), "\(removed.output)")
            #expect(try tree.network() == network)
            checkLeftovers(CleanTree.paths(try tree.files(), without: before))
            #expect(try tree.run("/src/scripts/uninstall", "--purge").status == 0)
            #expect(CleanTree.paths(try tree.files().symmetricDifference(before), without: []) == [])
            withExtendedLifetime(proxy) {}
        }

        @Test("--plan names every file and command, and does nothing")
        func plans() throws {
            let arguments = ["--upstream", "http://10.77.0.2:8080", "--lan", "lan"]
            let network = try tree.network()
            let plan = try tree.install(["--plan"] + arguments)
            #expect(plan.status == 0, "\(plan)")
            #expect(try tree.files() == before)
            #expect(try tree.network() == network)
            #expect(try tree.install(arguments).status == 0)
            let lines = plan.output.split(separator: "\n").map { $0.drop { $0 == " " } }
            let promised = Set(lines.filter { $0.hasPrefix("new ") }.flatMap { $0.split(separator: " ").dropFirst() })
            let made = CleanTree.paths(try tree.files(), without: before).filter {
                $0.hasPrefix("/usr/") && !$0.hasSuffix("/starship") || $0.hasSuffix(".json5")
            }
            let directories = try Set(tree.output("find /usr -type d").split(separator: "\n").map(String.init))
            #expect(
                made.filter { !promised.contains(Substring($0)) && !promised.contains("\($0):") }
                    .filter { !directories.contains($0) } == [])
            // The rules that are there now were in the plan, word for word.
            for rule in try tree.output("ip rule").split(separator: "\n") where rule.contains("iif lan") {
                let words = rule.split { " :\t".contains($0) }.dropFirst().filter { !["from", "all"].contains($0) }
                #expect(
                    lines.contains { line in line.hasPrefix("ip -4 rule add") && words.allSatisfy { line.contains($0) }
                    },
                    "\(rule)")
            }
            let tables = lines.filter { $0.hasPrefix("table inet starship {") }
            #expect(tables.count == 1)
        }

        @Test("over an installed version: state and configuration stay, and --back brings the former one")
        func exchanges() throws {
            #expect(try tree.install().status == 0)
            try tree.run("sh", "-c", "echo '// mine' >>/etc/starship/starship.json5")
            #expect(try tree.run("starshipctl", "devices", "name", "10.9.0.2", "pixel-7").status == 0)
            let installed = try tree.files()
            let new = try tree.programs(running: #"exec "$real/starshipd" "$@""#, as: "new")
            let result = try tree.install(["--upstream", "http://192.0.2.1:1"], from: new)
            #expect(result.status == 0, "\(result)")
            #expect(result.output.contains("stays as it is"))
            #expect(try tree.output("starshipd --version") == "starshipd 0.2.0\n")
            #expect(try tree.output("starshipctl devices").contains("pixel-7"))
            #expect(try tree.output("tail -n 1 /etc/starship/starship.json5") == "// mine\n")
            // What the newer one has made of the state since goes with it, and is not lost.
            #expect(try tree.run("starshipctl", "devices", "name", "10.9.0.3", "tablet").status == 0)
            let back = try tree.run("/src/scripts/install", "--back")
            #expect(back.status == 0, "\(back)")
            #expect(try tree.isRunning())
            #expect(CleanTree.paths(try tree.files().symmetricDifference(installed), without: []) == [])
            #expect(try tree.output("ls /var/lib/starship-setup/newer-state/lab").contains("lab-000002"))
            #expect(try tree.run("/src/scripts/install", "--back").status == 1)
        }

        @Test(
            "a version that is worse is taken back with its state, and says why",
            arguments: [
                ("echo 'starshipd: no luck' >&2; exit 1", "did not become ready"),
                (
                    "rm /var/lib/starship/lab/*; echo x >/var/lib/starship/lab/lab-000009; exit 1",
                    "did not become ready"
                ),
                // Its upstream is one that nobody listens at: two misses make it red.
                (#"exec "$real/starshipd" "$@" --upstream http://127.0.0.1:9"#, "it is red"),
                (#""$real/starshipd" "$@" & sleep 3; kill $!; exit 1"#, "it ended"),
            ])
        func takesBack(fault: String, words: String) throws {
            #expect(try tree.install().status == 0)
            #expect(try tree.run("starshipctl", "devices", "name", "10.9.0.2", "pixel-7").status == 0)
            let installed = try tree.files()
            let result = try tree.install(from: try tree.programs(running: fault, as: "new"))
            #expect(result.status == 1)
            #expect(result.errors.contains(words) && result.errors.contains("0.2.0"), "\(result.errors)")
            #expect(try tree.isRunning())
            #expect(try tree.output("starshipctl devices").contains("pixel-7"))
            #expect(CleanTree.paths(try tree.files().symmetricDifference(installed), without: []) == [])
        }

        @Test("a state of a newer format, or a configuration that is wrong, stops it before anything is changed")
        func refuses() throws {
            #expect(try tree.install().status == 0)
            let process = try tree.process()
            let newer = """
                import zlib
                body = b'{"number":7,"what":"a later program knows"}\\n'
                claim = f'starship lab 2 {len(body)}'.encode()
                head = claim + f' {zlib.crc32(body, zlib.crc32(claim)):08x}\\n'.encode()
                open('/var/lib/starship/lab/lab-000007', 'wb').write(head + body)
                """
            #expect(try tree.run("python3", "-c", newer).status == 0)
            let installed = try tree.files()
            let new = try tree.programs(running: #"exec "$real/starshipd" "$@""#, as: "new")
            let result = try tree.install(from: new)
            #expect(result.status == 1)
            #expect(result.errors.contains("/var/lib/starship/lab/lab-000007: written by a newer starshipd"))
            #expect(try tree.files() == installed)
            #expect(try tree.process() == process)

            try tree.run("rm", "/var/lib/starship/lab/lab-000007")
            try tree.run("sh", "-c", "echo nonsense >>/etc/starship/starship.json5")
            let wrong = try tree.install(from: new)
            #expect(wrong.status == 1 && wrong.errors.contains("starship.json5"), "\(wrong)")
            #expect(try tree.output("starshipd --version") == "starshipd 0.1.0\n")
            #expect(try tree.process() == process)
        }

        @Test(
            "--confirm undoes an installation that nobody confirms, also when the shell is gone; a confirmed one stays")
        func confirms() throws {
            let network = try tree.network()
            let link = "/etc/systemd/system/multi-user.target.wants/starshipd.service"
            // The network is set up, as on a machine that such an installation has locked out.
            let first = try tree.install(["--lan", "lan", "--confirm", "10"])
            #expect(first.status == 0 && first.output.contains("undone in 10 seconds"), "\(first)")
            // Where the machine ends before that, its next start does not bring the gateway back.
            #expect(try tree.run("test", "-L", link).status == 1)
            // Its last step.
            #expect(try Lab.wait(90) { try tree.run("test", "-e", "/var/lib/starship-setup").status == 1 })
            #expect(CleanTree.paths(try tree.files().symmetricDifference(before), without: []) == [])
            #expect(try tree.network() == network)

            #expect(try tree.install(["--confirm", "9999"]).status == 0)
            #expect(try tree.install().errors.contains("waits to be confirmed"))
            let token = try tree.output("cat /var/lib/starship-setup/unconfirmed").dropLast()
            #expect(try tree.run("/src/scripts/install", "--confirmed").status == 0)
            #expect(try tree.run("test", "-L", link).status == 0)
            // What the timer would do.
            #expect(try tree.run("/usr/lib/starship/setup", "undo", String(token)).status == 0)
            #expect(try tree.isRunning())
            #expect(try tree.run("/src/scripts/install", "--confirmed").status == 1)
        }

        @Test("--confirm takes back an exchange, too")
        func confirmsExchange() throws {
            #expect(try tree.install().status == 0)
            let installed = try tree.files()
            let new = try tree.programs(running: #"exec "$real/starshipd" "$@""#, as: "new")
            #expect(try tree.install(["--confirm", "10"], from: new).status == 0)
            // The new one is a script here: caught while it is exchanged, its shell reads the other one.
            #expect(try Lab.wait(90) { try tree.run("starshipd", "--version").output == "starshipd 0.1.0\n" })
            #expect(try Lab.wait(30) { try tree.isRunning() })
            #expect(CleanTree.paths(try tree.files().symmetricDifference(installed), without: []) == [])
        }

        @Test("wrong arguments change nothing")
        func refusesArguments() throws {
            for arguments in [
                ["--upstream", "proxy.example:8080"], ["--upstream", "http://qa:secret@proxy.example:8080"],
                ["--upstream", "http://proxy.example:99999"], ["--lan", "'wlan 0'"], ["--confirm", "1"], ["--confirm"],
                ["--wlan", "x"],
            ] {
                let result = try tree.install(arguments)
                #expect(result.status == 1 && result.errors.hasPrefix("install: "), "\(arguments) \(result)")
            }
            #expect(try tree.files() == before)
        }

        // MARK: The .deb

        @Test("dpkg -i, -r and -P do the same as the scripts, and a worse version is put back until somebody mends it")
        func packages() throws {
            let network = try tree.network()
            let deb = try tree.package()
            let first = try tree.run("dpkg", "-i", deb)
            #expect(first.status == 0, "\(first)")
            #expect(try tree.isRunning())
            let made = CleanTree.paths(try tree.files(), without: before)
            #expect(Self.needed.filter { !made.contains($0) } == [])
            #expect(try tree.run("dpkg", "--verify", "starship-gateway").output == "")
            #expect(try tree.run("starshipctl", "devices", "name", "10.9.0.2", "pixel-7").status == 0)
            let installed = try tree.files()
            // The sources' script leaves a package's files to dpkg.
            #expect(try tree.install().status == 1)

            // The mended one differs in what is outside of it.
            let fault = #"[[ -e /mnt/mended ]] || exit 1; exec "$real/starshipd" "$@""#
            _ = try tree.programs(running: fault, as: "new")
            let broken = try CleanTree.package(tree.given.path + "/new", in: tree.given.path)
            let failed = try tree.run("dpkg", "-i", broken.replacing(tree.given.path, with: "/mnt"))
            #expect(failed.status != 0 && failed.errors.contains("0.2.0 is worse than 0.1.0"), "\(failed)")
            #expect(try tree.isRunning())
            #expect(CleanTree.paths(try tree.files().symmetricDifference(installed), without: []) == [])
            try tree.run("touch", "/mnt/mended")
            let mended = try tree.run("dpkg", "--configure", "starship-gateway")
            #expect(mended.status == 0, "\(mended)")
            #expect(try tree.output("starshipd --version") == "starshipd 0.2.0\n")
            #expect(try tree.output("starshipctl devices").contains("pixel-7"))

            #expect(try tree.run("dpkg", "-r", "starship-gateway").status == 0)
            checkLeftovers(CleanTree.paths(try tree.files(), without: before))
            #expect(try tree.run("dpkg", "-P", "starship-gateway").status == 0)
            #expect(CleanTree.paths(try tree.files().symmetricDifference(before), without: []) == [])
            #expect(try tree.network() == network)
        }

        @Test("the .deb takes over from the script, and is removed whole")
        func takesOver() throws {
            let deb = try tree.package()
            #expect(try tree.install().status == 0)
            let result = try tree.run("dpkg", "-i", deb)
            #expect(result.status == 0, "\(result)")
            #expect(try tree.isRunning())
            #expect(try tree.run("/src/scripts/uninstall", "--purge").status == 0)
            #expect(CleanTree.paths(try tree.files().symmetricDifference(before), without: []) == [])
        }

        @Test("lintian finds no error in the .deb")
        func lintian() throws {
            guard Lab.has("lintian") else { return Lab.leaveOut("lintian finds no error in the .deb") }
            let found = try TestSupport.Command.run(["lintian", CleanTree.package.get()], in: tree.given.path)
            let errors = String(decoding: found.output, as: UTF8.self).split(separator: "\n").filter {
                $0.hasPrefix("E:")
            }
            #expect(errors == [])
            #expect(found.status == 0, "\(found.errors)")
        }

        @Test("nothing starts while an image is built: no systemd, or a policy against it", arguments: [true, false])
        func startsNothing(hasPolicy: Bool) throws {
            if hasPolicy {
                try tree.run(
                    "sh", "-c",
                    "printf '#!/bin/sh\\nexit 101\\n' >/usr/sbin/policy-rc.d; chmod +x /usr/sbin/policy-rc.d")
            } else {
                try tree.run("rmdir", "/run/systemd/system")
            }
            #expect(try tree.install().status == 0)
            #expect(try tree.run("test", "-e", "/tmp/service.pid").status == 1)
            let link = "/etc/systemd/system/multi-user.target.wants/starshipd.service"
            #expect(try tree.run("test", "-L", link).status == 0)
        }
    }

    @Suite("the manual")
    struct ManualTests {
        @Test("the man pages have every command, option and setting, and groff has no complaint")
        func complete() throws {
            let pages = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
            defer { try? FileManager.default.removeItem(at: pages) }
            let program = Lab.sources.appending(path: "scripts/man").path
            let check = try TestSupport.Command.run([program, "--binaries", Lab.binaries, "--check"], in: "/tmp")
            #expect(check.status == 0, "\(check.errors)")
            let written = try TestSupport.Command.run(
                [program, "--binaries", Lab.binaries, "--into", pages.path], in: "/tmp")
            #expect(written.status == 0, "\(written.errors)")

            // The example shows every setting, each on a line of its own.
            let page = try String(contentsOf: pages.appending(path: "man5/starship.json5.5"), encoding: .utf8)
            let example = try String(
                contentsOf: Lab.sources.appending(path: "Configs/starship.json5"), encoding: .utf8)
            let settings = example.split(separator: "\n").compactMap { line -> Substring? in
                let line = line.drop { $0 == " " || $0 == "/" }
                return line.firstMatch(of: /^([A-Za-z0-9]+):/)?.1
            }
            #expect(settings.count > 80)
            let described = page.split(separator: "\n").filter { $0.hasPrefix(".B ") }
            let names = Set(described.compactMap { $0.dropFirst(3).split(separator: ".").last })
            #expect(Set(settings).subtracting(names) == [])
        }
    }
}
