/// Why the machine's network is not what was asked for; everything has been taken back by then.

public import Addresses
public import LinuxIO

public enum NetworkError: Error, Equatable, Sendable, CustomStringConvertible {
    case system(SystemCallError)
    /// A tool refused; `line` counts from 1 in what it was given, `words` are its own or the kernel's.
    case command(String, line: Int?, text: String, words: String)
    /// The fake addresses are somebody's real ones.
    case conflict(fake: IPPrefix, with: String)
    case noTunnel(String)
    /// A name that no interface can have, or that means several to a tool.
    case interfaceName(String)
    /// The file with the kernel's former settings says something else.
    case savedState(String, line: Int)

    public var description: String {
        switch self {
        case .system(let error): return "\(error)"
        case .command(let command, let line, let text, let words):
            let place = line.map { ", line \($0)" } ?? ""
            return text.isEmpty ? "\(command)\(place): \(words)" : "\(command)\(place) \"\(text)\": \(words)"
        case .conflict(let fake, let other):
            return "the fake addresses \(fake) are in use: \(other); choose another pool (dns.pool, dns.pool6)"
        case .noTunnel(let name): return "there is no interface \(name)"
        case .interfaceName(let name): return "\"\(name)\" is no name of an interface"
        case .savedState(let path, let line): return "\(path), line \(line): not written by this program"
        }
    }
}
