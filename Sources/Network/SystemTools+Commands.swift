/// Running ip(8) and nft(8), and reading what they say when they refuse.

import LinuxIO

extension SystemTools {
    /// Runs the lines as one `ip -batch`; it stops at the first that is refused.
    ///
    /// Returns how many were done and, when not all, why.
    func batch(_ lines: [String], isIPv4: Bool) -> (done: Int, error: NetworkError?) {
        guard !lines.isEmpty else { return (0, nil) }
        let outcome: Tool.Outcome
        do throws(SystemCallError) {
            outcome = try run(.batch(lines, isIPv4: isIPv4, isForced: false))
        } catch {
            // How far a killed program has come nobody knows: all lines count as done, and taking back what is
            // not there harms nothing.
            return (lines.count, .system(error))
        }
        guard outcome.status != 0 else { return (lines.count, nil) }
        let line = Self.failedLine(outcome.errors)
        let text = line.flatMap { lines.indices.contains($0 - 1) ? lines[$0 - 1] : nil } ?? ""
        let name = "ip \(isIPv4 ? "-4" : "-6") -batch"
        return (
            line.map { $0 - 1 } ?? lines.count,
            .command(name, line: line, text: text, words: Self.words(of: outcome.errors))
        )
    }

    /// Runs lines whatever becomes of each, and returns what the first refused one said.
    @discardableResult
    func force(_ lines: [String], isIPv4: Bool) -> NetworkError? {
        guard !lines.isEmpty else { return nil }
        do throws(SystemCallError) {
            let outcome = try run(.batch(lines, isIPv4: isIPv4, isForced: true))
            guard outcome.status != 0 else { return nil }
            let line = Self.failedLine(outcome.errors)
            let text = line.flatMap { lines.indices.contains($0 - 1) ? lines[$0 - 1] : nil } ?? ""
            let name = "ip \(isIPv4 ? "-4" : "-6") -force -batch"
            return .command(name, line: line, text: text, words: Self.words(of: outcome.errors))
        } catch {
            return .system(error)
        }
    }

    /// Runs a text as one transaction of nft(8).
    func firewall(_ text: String) throws(NetworkError) {
        let outcome: Tool.Outcome
        do throws(SystemCallError) {
            outcome = try run(.load(text))
        } catch {
            throw .system(error)
        }
        guard outcome.status != 0 else { return }
        // "/dev/stdin:3:5-10: Error: …", then the line, then carets below what is meant.
        let first = outcome.errors.split(separator: "\n").first.map(String.init) ?? ""
        let parts = first.split(separator: ":", maxSplits: 3, omittingEmptySubsequences: false)
        let line = parts.count == 4 ? Int(parts[1]) : nil
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let said = line.flatMap { lines.indices.contains($0 - 1) ? String(lines[$0 - 1]) : nil } ?? ""
        let words = parts.count == 4 ? String(parts[3]) : first
        throw .command("nft -f", line: line, text: Self.trimmed(said), words: Self.trimmed(words))
    }

    /// What nft(8) shows of a part of the rules, as a rule without the elements of sets; nil when there is no such
    /// part.
    func listing(
        _ part: SystemVerb.ListedPart, withElements: Bool = false
    ) throws(NetworkError) -> String? {
        do throws(SystemCallError) {
            let outcome = try run(.list(part, withElements: withElements))
            return outcome.status == 0 ? outcome.output : nil
        } catch {
            throw .system(error)
        }
    }

    /// "Command failed -:3" stands behind the kernel's words; with -force the first such line counts.
    private static func failedLine(_ errors: String) -> Int? {
        for line in errors.split(separator: "\n") where line.hasPrefix("Command failed ") {
            return line.lastIndex(of: ":").flatMap { Int(line[line.index(after: $0)...]) }
        }
        return nil
    }

    private static func words(of errors: String) -> String {
        let lines = errors.split(separator: "\n").prefix { !$0.hasPrefix("Command failed ") }
        return lines.isEmpty ? trimmed(errors) : lines.map { trimmed(String($0)) }.joined(separator: "; ")
    }

    private static func trimmed(_ text: String) -> String {
        let isBlank: (Character) -> Bool = { $0 == " " || $0 == "\t" || $0 == "\n" }
        return String(text.drop(while: isBlank).reversed().drop(while: isBlank).reversed())
    }
}
