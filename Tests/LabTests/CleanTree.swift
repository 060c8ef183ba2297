/// A Debian as it comes from debootstrap, in the lab's gateway: what tests install into.

import Foundation
import TestSupport

final class CleanTree {
    private static let cache = Lab.sources.appending(path: ".build/clean-tree").path

    /// Why there can be none here, or nil.
    ///
    /// The first question gets the tree, once for all runs.
    static let obstacle: String? = {
        guard Lab.available else { return "there is no lab" }
        // Device nodes and users are made in the tree.
        let map = (try? String(contentsOfFile: "/proc/self/uid_map", encoding: .utf8)) ?? ""
        guard map.contains("4294967295") else { return "a tree of another Debian needs root" }
        do {
            let made = try TestSupport.Command.run(
                ["\(Lab.programs)/clean_tree", "make", cache], in: NSTemporaryDirectory(), within: 1500)
            return made.status == 0 ? nil : made.errors.trimmingCharacters(in: .whitespacesAndNewlines)
        } catch {
            return "no tree of a clean Debian: \(error)"
        }
    }()

    let lab: Lab
    private let directory: URL
    private let holder: LabProgram

    /// A fresh one, gone with the lab.
    init(_ lab: Lab) throws {
        self.lab = lab
        directory = lab.directory.appending(path: "tree")
        holder = try lab.start(
            .gateway,
            ["\(Lab.programs)/clean_tree", "hold", Self.cache, directory.path, Lab.sources.path, Lab.binaries])
        try holder.waitFor("mounted", within: 60)
    }

    /// What the tree sees as /mnt.
    var given: URL { directory.appending(path: "given") }

    /// Runs something within, as root of a new machine would.
    @discardableResult
    func run(_ arguments: String..., within seconds: Double = 120) throws -> LabProgram.Result {
        let inside = [
            "nsenter", "--mount=/proc/\(holder.pid)/ns/mnt", "chroot", directory.appending(path: "root").path,
        ]
        let environment = ["env", "-i", "PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8"]
        return try lab.run(.gateway, inside + environment + arguments, within: seconds)
    }

    /// What a program within prints; it must end with 0.
    func output(_ arguments: String...) throws -> String {
        let result = try run("sh", "-c", arguments.joined(separator: " "))
        guard result.status == 0 else { throw LabError("\(arguments): \(result.errors)") }
        return result.output
    }

    /// Installs from the sources; a failure is the caller's to look at.
    func install(_ arguments: [String] = [], from programs: String = "/opt/starship") throws -> LabProgram.Result {
        let words = ["/src/scripts/install", "--binaries", programs] + arguments
        return try run("sh", "-c", words.joined(separator: " "))
    }

    /// Every file with its kind, mode, owner and what is in it, but for what the installer remembers.
    func files() throws -> Set<String> {
        let lines = try output("clean_tree list").split(separator: "\n").map(String.init)
        return Set(lines.filter { !$0.contains("/var/lib/starship-setup") })
    }

    /// The paths that are in one list and not in another.
    static func paths(_ files: Set<String>, without others: Set<String>) -> [String] {
        files.subtracting(others).compactMap { line in
            line.split(separator: " ").map(String.init).first { $0.hasPrefix("/") }
        }.sorted()
    }

    /// The gateway's network as a whole, the lines of each part sorted.
    func network() throws -> String {
        let questions = [
            "ip rule; ip -6 rule; ip route show table all; ip -6 route show table all", "nft list ruleset",
            "ip -brief link | cut -d ' ' -f 1", "cat /proc/sys/net/ipv4/ip_forward /proc/sys/net/ipv4/conf/*/rp_filter",
        ]
        return try questions.map { try output("(\($0)) | sort") }.joined()
    }

    /// Programs that call themselves version 0.2.0 and go wrong when they are to run; returns their place within.
    func programs(running fault: String, as name: String) throws -> String {
        let place = given.appending(path: name)
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        let text = """
            #!/bin/bash
            real=/opt/starship
            [[ -d $real ]] || real=\(Lab.binaries)
            case ${1:-} in
                --version) echo "starshipd 0.2.0" ;;
                run | --config) \(fault) ;;
                *) exec "$real/starshipd" "$@" ;;
            esac

            """
        let daemon = place.appending(path: "starshipd")
        try text.write(to: daemon, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: daemon.path)
        try FileManager.default.copyItem(
            at: URL(filePath: Lab.binaries).appending(path: "starshipctl"), to: place.appending(path: "starshipctl"))
        return "/mnt/\(name)"
    }

    // The .deb

    /// Makes the .deb of some programs in a directory and returns its path.
    static func package(_ programs: String, in directory: String) throws -> String {
        let program = Lab.sources.appending(path: "scripts/package").path
        let made = try TestSupport.Command.run([program, "--binaries", programs, "--into", directory], in: directory)
        guard made.status == 0, made.output.last == 0x0a else { throw LabError(made.errors) }
        return String(decoding: made.output.dropLast(), as: UTF8.self)
    }

    /// The .deb of the programs under test, made once.
    static let package = Result {
        let place = Lab.sources.appending(path: ".build/package")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        return try package(Lab.binaries, in: place.path)
    }

    /// Brings the .deb of the programs under test into the tree and returns its path there.
    func package() throws -> String {
        try FileManager.default.copyItem(atPath: Self.package.get(), toPath: given.path + "/first.deb")
        return "/mnt/first.deb"
    }

    /// The number of the service's process.
    func process() throws -> String { try output("cat /tmp/service.pid") }

    func isRunning() throws -> Bool { try run("systemctl", "is-active", "--quiet", "starshipd.service").status == 0 }
}
