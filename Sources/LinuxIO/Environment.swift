/// The process's environment variables (environ(7)).

internal import Glibc

public enum Environment {
    /// The value of a variable; nil where there is none, or an empty one.
    public static subscript(_ name: String) -> String? {
        guard let value = unsafe getenv(name) else { return nil }
        let text = unsafe String(cString: value)
        return text.isEmpty ? nil : text
    }
}
