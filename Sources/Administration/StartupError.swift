/// Why a start, or a change, ends before anything was opened.

public import Gateway
public import LinuxIO
public import Profiles
public import Routing
public import Store

/// Why a start ends before anything was opened.
public enum StartupError: Error, CustomStringConvertible {
    case file(FileError)
    case configuration(String, ConfigurationError)
    case secret(String, SecretError)
    case url(String, ProxyURLError)
    case list(RoutingError)
    /// `phones.connectivity: "answer"`, and no directory has the answers.
    case noAnswers([String])
    /// The lab's state is there and cannot be used.
    case store(StoreError)
    case key(String, LinkKeyFileError)
    case system(SystemCallError)
    case gateway(GatewayError)
    /// The page's port can't be listened on.
    case page(SystemCallError)
    /// `control.group` is no group of this machine.
    case group(String)

    /// EX_CONFIG: the file is there and wrong.
    public var exitCode: Int32 {
        switch self {
        case .file, .system, .gateway, .page: 1
        case .configuration, .secret, .url, .list, .noAnswers, .store, .key, .group: 78
        }
    }

    public var description: String {
        switch self {
        case .file(let error): "\(error)"
        case .configuration(let path, let error): "\(path): \(error)"
        case .secret(let path, let error): "\(path): \(error)"
        case .url(let path, let error): "\(path): \(error)"
        case .list(let error): "\(error)"
        case .store(let error): "\(error)"
        case .key(let path, let error): "\(path): \(error)"
        case .system(let error): "\(error)"
        case .gateway(let error): "\(error)"
        case .page(let error): "page.port: \(error); it sets another port, and page: false turns the page off"
        case .group(let name): "control.group: found \(name); expected a group of this machine"
        case .noAnswers(let places):
            "phones.connectivity \"answer\" wants the lists for phones: none are in \(places.joined(separator: " or ")) "
                + "(phones.lists names another directory)"
        }
    }
}
