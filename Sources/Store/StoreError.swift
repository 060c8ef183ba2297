/// Why something was not kept, or not found again.

public import LinuxIO

/// What went wrong with a file of the state directory.
public enum StoreError: Error, Equatable, Sendable, CustomStringConvertible {
    case system(SystemCallError)
    case file(FileError)
    /// Another process keeps its state in this directory.
    case inUse(path: String)
    /// A file that is none of ours has the name.
    case foreign(path: String)
    /// A file of a version that this program does not know.
    case version(path: String, found: String, known: Int)

    public var description: String {
        switch self {
        case .system(let error): "\(error)"
        case .file(let error): "\(error)"
        case .inUse(let path): "\(path): another process keeps its state here"
        case .foreign(let path): "\(path): not a file of this program"
        case .version(let path, let found, let known): "\(path): version \(found), this program knows \(known)"
        }
    }
}
