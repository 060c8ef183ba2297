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
    /// The lab's state was written by a program that is newer than this one.
    case newerFormat(path: String, found: Int, known: Int)
    /// A file that was whole has changed since.
    case damaged(path: String)
    /// A revision that is not among those that are kept.
    case noRevision(Int, kept: ClosedRange<Int>?)
    case tooLarge(octets: Int, limit: Int)

    public var description: String {
        switch self {
        case .system(let error): "\(error)"
        case .file(let error): "\(error)"
        case .inUse(let path): "\(path): another process keeps its state here"
        case .foreign(let path): "\(path): not a file of this program"
        case .version(let path, let found, let known): "\(path): version \(found), this program knows \(known)"
        case .newerFormat(let path, let found, let known):
            "\(path): written by a newer starshipd (format \(found), this program knows \(known)): upgrade, or move"
                + " the file away"
        case .damaged(let path): "\(path): damaged, its checksum does not fit"
        case .noRevision(let number, let kept?):
            "revision \(number) is not kept: the store has \(kept.lowerBound) to \(kept.upperBound)"
        case .noRevision(let number, nil): "revision \(number) is not kept: the store has none"
        case .tooLarge(let octets, let limit): "the lab's state has \(octets) octets: it may have \(limit)"
        }
    }
}
