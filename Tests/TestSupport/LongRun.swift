/// How much of the randomised tests to run.

import Glibc

/// Whether `STARSHIP_LONG=1` asks for the whole of every randomised test.
public enum LongRun {
    /// For tests that no other run has, in words that `scripts/test` looks for.
    public static let comment = "only --long runs it"

    public static let isOn: Bool = {
        guard let value = unsafe getenv("STARSHIP_LONG") else { return false }
        return unsafe String(cString: value) == "1"
    }()

    /// So many rounds in each CI run, and so many in a long one.
    public static func rounds(_ short: Int, long: Int) -> Int { isOn ? long : short }

    /// The seeds of a randomised test, or the one that `STARSHIP_SEED` names, to replay a failure.
    public static func seeds(_ short: Int, long: Int) -> ClosedRange<UInt64> {
        if let value = unsafe getenv("STARSHIP_SEED"), let seed = unsafe UInt64(String(cString: value)) {
            return seed...seed
        }
        return 1...UInt64(rounds(short, long: long))
    }
}
