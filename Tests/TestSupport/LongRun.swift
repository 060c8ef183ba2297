/// How much of the randomised tests to run.

import Glibc

/// Whether `STARSHIP_LONG=1` asks for the whole of every randomised test.
public enum LongRun {
    public static let isOn: Bool = {
        guard let value = unsafe getenv("STARSHIP_LONG") else { return false }
        return unsafe String(cString: value) == "1"
    }()

    /// So many rounds in each CI run, and so many in a long one.
    public static func rounds(_ short: Int, long: Int) -> Int { isOn ? long : short }
}
