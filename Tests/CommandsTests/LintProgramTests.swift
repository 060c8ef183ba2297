/// `starshipctl lint` itself, against a proxy that does what it is told; no daemon is there.

import Foundation
import TestSupport
import Testing

struct LintProgramTests {
    /// Runs it with the password in a file of this mode.
    private func lint(
        _ conduct: String, _ options: [String], mode: Int = 0o600
    ) throws -> (status: Int32, output: String, errors: String) {
        let scratch = try Scratch()
        let proxy = try PartnerProgram(Lab.python(["conduct.py", "{\(conduct)}"]), in: scratch.directory)
        try proxy.waitFor("\n")
        let port = proxy.output.split(separator: "\n").first?.split(separator: " ").last ?? ""
        try Scratch.put(Array("secret\n".utf8), scratch.path("pw"))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: scratch.path("pw"))
        let result = try Command.run(
            ["\(Lab.binaries)/starshipctl", "lint", "127.0.0.1:\(port)", "--site", "127.0.0.1", "--idle", "0s"]
                + options,
            in: scratch.directory)
        let output = String(decoding: result.output, as: UTF8.self).replacing(":\(port)", with: ":PORT")
        return (result.status, output, result.errors)
    }

    @Test("its marks and the settings that fit, in words and as JSON")
    func marks() throws {
        let words = try lint("\"half\": false", [])
        #expect(words.status == 0 && words.errors.isEmpty, "\(words)")
        for part in [
            "127.0.0.1:PORT: an HTTP proxy; it works, with remarks\n", "✓ connect ", "! half-close ",
            "\nsettings that fit:\n  upstream: {\n",
            "    halfClose: \"hold\",  // it ends a tunnel when one end closes\n",
        ] {
            #expect(words.output.contains(part), "\(words.output)")
        }
        let json = try lint("\"half\": false", ["--json"])
        let value = try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any]
        #expect(value?["grade"] as? String == "odd" && value?["type"] as? String == "http", "\(json)")
    }

    @Test("a password comes from a file that nobody else reads, and is never printed")
    func password() throws {
        let login = ["--user", "qa", "--password-file", "pw"]
        let right = try lint("\"login\": \"qa:secret\"", login)
        #expect(right.status == 0 && right.output.contains("accepted (Basic)"), "\(right)")
        let wrong = try lint("\"login\": \"qa:other\"", login)
        #expect(wrong.status == 1 && wrong.output.contains("✗ login "), "\(wrong)")
        let open = try lint("", login, mode: 0o644)
        #expect(open.status == 1 && open.output.isEmpty)
        #expect(open.errors == "starshipctl lint: pw: others may read this secret (mode 0644); chmod 600 it\n")
        #expect(!"\(right)\(wrong)".contains("secret"))
    }
}
