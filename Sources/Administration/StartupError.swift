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
    /// A file with a password or a key can't be read, or others may read it.
    case secretFile(FileError)
    case secret(String, SecretError)
    /// The configuration names a file of `$CREDENTIALS_DIRECTORY`, which this process was not given.
    case noCredentials(String)
    case url(String, ProxyURLError)
    case list(RoutingError)
    /// `phones.connectivity: "answer"`, and no directory has the answers.
    case noAnswers([String])
    /// The lab's state is there and cannot be used.
    case store(StoreError)
    /// The directory of the state that is to be checked cannot be used.
    case state(String)
    case key(String, LinkKeyFileError)
    case system(SystemCallError)
    case gateway(GatewayError)
    /// The page's port can't be listened on.
    case page(SystemCallError)
    /// The control socket can't be made at this path.
    case control(String, SystemCallError)
    /// `control.group` is no group of this machine.
    case group(String)

    public var exitCode: Int32 { code.rawValue }

    public var code: ExitCode {
        switch self {
        case .file: .noInput
        case .configuration, .list: .configuration
        case .secretFile, .secret, .noCredentials, .url, .key: .secret
        case .noAnswers: .phoneLists
        case .store, .state: .store
        case .system(let error), .page(let error): StartupFailure(error).code
        case .gateway(let error): StartupFailure(error).code
        case .control(_, let error): error.errno.isDescriptorShortage ? .system : .controlSocket
        case .group: .group
        }
    }

    public var description: String {
        switch self {
        case .file(let error): "\(error); name the configuration with --config, and let this user read it"
        case .configuration(let path, let error): "\(path): \(error)"
        case .secretFile(let error): "\(error); \(SecretPlaces.advice)"
        case .secret(let path, let error): "\(path): \(error); write the password into it, on one line"
        case .noCredentials(let path):
            "\(path): this process has no credentials; systemd hands them to the service (LoadCredential=)"
        case .url(let path, let error): "\(path): \(error); write http://user:password@host:port into it"
        case .list(let error): "\(error)"
        case .store(let error): "\(error); `state` names another directory, and state: false does without"
        case .state(let trouble): "--state: \(trouble)"
        case .key(let path, let error): "\(path): \(error); `starshipctl keygen` makes one"
        case .system(let error): "\(error); \(StartupFailure(error).remedy)"
        case .gateway(let error): "\(error); \(StartupFailure(error).remedy)"
        // Another port, or another place, would not help.
        case .page(let error) where error.errno.isDescriptorShortage,
            .control(_, let error) where error.errno.isDescriptorShortage:
            "\(error); \(StartupFailure(error).remedy)"
        case .page(let error): "page.port: \(error); it sets another port, and page: false turns the page off"
        case .control(let path, let error):
            "control.socket: \(path): \(error); end the gateway that is running, or name another place"
        case .group(let name):
            "control.group: found \(name); expected a group of this machine: `sudo groupadd --system \(name)`"
        case .noAnswers(let places):
            "phones.connectivity \"answer\" wants the lists for phones: none are in \(places.joined(separator: " or ")) "
                + "(phones.lists names another directory)"
        }
    }
}
