/// The configuration and the lists that it names, from the disk.

import LinuxIO
public import Profiles

public enum ConfigurationFile {
    /// The longest configuration, and the longest list, that is read.
    private static let configurationLimit = 4 << 20
    private static let listLimit = 256 << 20

    /// Reads both steps of a configuration: what it says, and what its rules mean.
    public static func read(_ options: CommandLineOptions) throws(StartupError) -> ResolvedConfiguration {
        let configuration = try parse(options)
        let lists = try lists(of: configuration, besides: options.configuration)
        do throws(ConfigurationError) {
            return try configuration.resolve(files: lists, name: options.configuration)
        } catch {
            throw located(error, options.configuration)
        }
    }

    /// Reads what the file says, with the upstream that the options name in the place of the active profile's.
    static func parse(_ options: CommandLineOptions) throws(StartupError) -> Configuration {
        let path = options.configuration
        let bytes: [UInt8]
        do throws(FileError) {
            bytes = try SmallFile.read(path, limit: configurationLimit)
        } catch {
            throw .file(error)
        }
        let configuration: Configuration
        do throws(ConfigurationError) {
            configuration = try Configuration.parse(bytes)
        } catch {
            throw .configuration(path, error)
        }
        guard let override = options.upstream else { return configuration }
        let upstream = try Translation.upstream(override)
        do throws(ConfigurationError) {
            return try configuration.replacingUpstream(by: upstream)
        } catch {
            throw .configuration("--upstream", error)
        }
    }

    /// The bytes of each list, by its path as the configuration has it.
    static func lists(
        of configuration: Configuration, besides path: String
    ) throws(StartupError) -> [String: [UInt8]] {
        var lists: [String: [UInt8]] = [:]
        for (index, set) in configuration.ruleSets.enumerated() where lists[set.file] == nil {
            do throws(FileError) {
                lists[set.file] = try SmallFile.read(Self.path(of: set.file, besides: path), limit: listLimit)
            } catch {
                let wrong = ConfigurationError(
                    .badValue, at: set.position, path: "ruleSets[\(index)].file", found: "\(error)",
                    expected: "a list that can be read")
                throw .configuration(path, wrong)
            }
        }
        return lists
    }

    /// An error with the file that it is in.
    static func located(_ error: ConfigurationError, _ path: String) -> StartupError {
        .configuration(error.file.map { Self.path(of: $0, besides: path) } ?? path, error)
    }

    /// A relative path starts at the configuration's directory.
    static func path(of file: String, besides configuration: String) -> String {
        guard !file.hasPrefix("/"), let slash = configuration.lastIndex(of: "/") else { return file }
        return configuration[...slash] + file
    }
}
