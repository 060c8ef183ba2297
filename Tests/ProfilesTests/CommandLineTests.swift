/// The arguments of starshipd.

import Profiles
import Testing

struct CommandLineTests {
    @Test(
        "run is what a command line without a command means",
        arguments: [["--config", "c"], ["run", "--config", "c"], ["--config=c"]])
    func run(arguments: [String]) throws {
        let options = try CommandLineOptions.parse(arguments)
        #expect(options.command == .run)
        #expect(options.configuration == "c")
        #expect(options.capture == nil)
        #expect(options.upstream == nil)
    }

    @Test(
        "check takes its file with and without the option", arguments: [["check", "c"], ["check", "--config", "c"]])
    func check(arguments: [String]) throws {
        let options = try CommandLineOptions.parse(arguments)
        #expect(options.command == .check)
        #expect(options.configuration == "c")
    }

    @Test("check and plan take the lab's state, which a start finds by itself", arguments: ["check", "plan"])
    func state(command: String) throws {
        let options = try CommandLineOptions.parse([command, "c", "--state", "/var/tmp/copy"])
        #expect(options.command.rawValue == command)
        #expect(options.configuration == "c")
        #expect(options.state == "/var/tmp/copy")
        #expect(throws: UsageError.self) { try CommandLineOptions.parse(["--config", "c", "--state", "x"]) }
    }

    @Test("help and version win over everything else")
    func information() throws {
        #expect(try CommandLineOptions.parse(["--help"]).command == .help)
        #expect(try CommandLineOptions.parse(["run", "-h"]).command == .help)
        #expect(try CommandLineOptions.parse(["--config", "c", "--version"]).command == .version)
        #expect(try CommandLineOptions.parse(["version"]).command == .version)
    }

    @Test("a capture has a filter and bounds")
    func capture() throws {
        let options = try CommandLineOptions.parse([
            "--config", "c", "--capture", "x.pcap", "--capture-filter", "tcp port 443", "--capture-snap=96",
            "--capture-size", "1GiB",
            "--capture-files", "2",
        ])
        let capture = try #require(options.capture)
        #expect(capture.file == "x.pcap")
        #expect(capture.filter == "tcp port 443")
        #expect(capture.snap == 96)
        #expect(capture.size == 1 << 30)
        #expect(capture.files == 2)
    }

    @Test("an upstream comes as a URL, or in a file when it has a password")
    func upstream() throws {
        let url = try CommandLineOptions.parse(["--config", "c", "--upstream", "http://192.0.2.1:8080"])
        #expect(try url.upstream == .url(ProxyURL.parse("http://192.0.2.1:8080")))
        let file = try CommandLineOptions.parse(["--config", "c", "--upstream-file", "/run/u"])
        #expect(file.upstream == .file("/run/u"))
    }

    @Test("only a run can be left unlocked, and none is by itself")
    func lockdown() throws {
        #expect(try CommandLineOptions.parse(["--config", "c"]).isLockedDown)
        #expect(try !CommandLineOptions.parse(["--config", "c", "--no-lockdown"]).isLockedDown)
        #expect(throws: UsageError.self) { try CommandLineOptions.parse(["check", "c", "--no-lockdown"]) }
        #expect(throws: UsageError.self) { try CommandLineOptions.parse(["--config", "c", "--no-lockdown=yes"]) }
    }

    @Test("help names every option")
    func help() {
        for option in [
            "--config", "--capture", "--capture-filter", "--capture-snap", "--capture-size", "--capture-files",
            "--upstream",
            "--upstream-file", "--version", "--help", "check", "explain", "--from", "--udp", "cleanup", "settings",
            "ended", "--before-start", "--no-lockdown", "plan", "--state",
        ] {
            #expect(CommandLineOptions.help.contains(option))
        }
        #expect(CommandLineOptions.help.split(separator: "\n").allSatisfy { $0.count <= 100 })
    }

    @Test(
        "wrong arguments are refused with what was meant",
        arguments: [
            ([], "--config FILE is missing"), (["runn"], "did you mean `run`?"),
            (["start"], "run, check, plan, explain, cleanup, settings, ended, dhcp-probe, version or help"),
            (["--confg", "c"], "did you mean --config?"), (["--config"], "--config wants a value"),
            (["--config="], "--config wants a value"),
            (["--config", "a", "--config", "b"], "--config stands twice"),
            (["--config", "a", "b"], "one argument too many"),
            (["check", "a", "b"], "one argument too many"), (["check"], "--config FILE is missing"),
            (["check", "a", "--capture", "x"], "--capture is for `run`"),
            (["settings"], "--config FILE is missing"),
            (["--config", "a", "--before-start"], "--before-start is for `settings`"),
            (["ended", "--config", "a", "b"], "one argument too many"),
            (["settings", "--config", "a", "--upstream", "http://h:1"], "--upstream is for `run`"),
            (["--config", "c", "--capture-snap", "96"], "without --capture FILE"),
            (["--config", "c", "--capture", "x", "--capture-snap", "39"], "from 40 to 262144"),
            (["--config", "c", "--capture", "x", "--capture-snap", "+96"], "from 40 to 262144"),
            (["--config", "c", "--capture", "x", "--capture-size", "1MB"], "such as 64MiB"),
            (["--config", "c", "--capture", "x", "--capture-files", "0"], "from 1 to 1000"),
            (["--config", "c", "--upstream", "http://h"], "no port"),
            (["--config", "c", "--upstream", "http://u:p@h:1"], "--upstream-file"),
            (["--config", "c", "--upstream", "http://h:1", "--upstream-file", "f"], "exclude each other"),
            (["-x"], "unknown option -x"),
        ])
    func refuses(arguments: [String], words: String) {
        guard let error = #expect(throws: UsageError.self, performing: { try CommandLineOptions.parse(arguments) })
        else { return }
        #expect(error.description.contains(words), "\(error)")
    }

    @Test("settings and ended read their file")
    func unitSteps() throws {
        let settings = try CommandLineOptions.parse(["settings", "--config", "/etc/starship/starship.json5"])
        #expect(settings.command == .settings && settings.configuration == "/etc/starship/starship.json5")
        #expect(!settings.isBeforeStart)
        #expect(try CommandLineOptions.parse(["settings", "--before-start", "--config", "c"]).isBeforeStart)
        #expect(try CommandLineOptions.parse(["ended", "--config=c"]).command == .ended)
    }

    @Test("every exit code is in the help, with what it means")
    func exitCodes() {
        for code in ExitCode.allCases {
            #expect(CommandLineOptions.help.contains("\(code.rawValue)  \(code.meaning)\n"), "\(code)")
            // systemd's own begin at 200 (systemd.exec(5)), signals of shells at 128.
            #expect(code.rawValue < 128)
        }
        #expect(CommandLineOptions.help.hasSuffix("\n"))
    }

    @Test("wrong arguments end the program with 64")
    func exitCode() {
        #expect(UsageError.exitCode == 64)
    }
}
