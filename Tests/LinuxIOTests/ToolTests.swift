/// Running the system's tools on a text.

import Bytes
import LinuxIO
import Testing

@Suite struct ToolTests {
    @Test func givesInputAndTakesBothOutputs() throws {
        let outcome = try Tool.run("sh", ["-c", "cat; echo bad >&2; exit 3"], input: "line\n")
        #expect(outcome == Tool.Outcome(status: 3, output: "line\n", errors: "bad\n"))
    }

    @Test("a program that says more than a pipe holds is not waited for in vain")
    func takesMuch() throws {
        let outcome = try Tool.run("sh", ["-c", "head -c 1000000 /dev/zero | tr '\\0' x"], input: "")
        #expect(outcome.output.utf8.count == 1_000_000)
    }

    @Test("a program that does not end is killed")
    func bounds() {
        #expect(throws: SystemCallError("run", "sleep", errno: .timedOut)) {
            try Tool.run("sleep", ["30"], input: "", within: .milliseconds(50))
        }
    }

    @Test func saysThatThereIsNoSuchProgram() {
        #expect(throws: SystemCallError("run", "no-such-tool", errno: .noSuchFile)) {
            try Tool.run("no-such-tool", [], input: "")
        }
    }
}
