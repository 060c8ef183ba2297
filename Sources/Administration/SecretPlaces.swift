/// Where files with secrets are looked for: systemd hands those of one directory to the service, which may not read
/// them itself (LoadCredential= of systemd.exec(5)).
///
///     /etc/starship/secrets/NAME       root's own (0600), named so in the configuration
///     $CREDENTIALS_DIRECTORY/secrets_NAME    what the service reads in its place, as of its start
///
/// A file that begins with `$CREDENTIALS_DIRECTORY/` is meant literally: for credentials that a unit names by itself,
/// encrypted ones among them. Every other file is read where it is, again at each reload.

import LinuxIO

enum SecretPlaces {
    /// What the unit hands over, and under which name.
    private static let secrets = (directory: "/etc/starship/secrets/", prefix: "secrets_")
    private static let variable = "$CREDENTIALS_DIRECTORY/"

    static let advice = "it has to be this user's own, or in /etc/starship/secrets, from where systemd hands it over"

    /// Where a secret is, and whether it came as a credential: then who may read it is systemd's care.
    struct Place: Equatable {
        var path: String
        var isCredential = false
    }

    /// The place of a file that the configuration names; `given` is the directory of the process's credentials.
    static func place(
        of file: String, given: String?, exists: (String) -> Bool
    ) throws(StartupError) -> Place {
        if file.hasPrefix(variable) {
            guard let given else { throw .noCredentials(file) }
            return Place(path: "\(given)/\(file.dropFirst(variable.count))", isCredential: true)
        }
        guard let given, file.hasPrefix(secrets.directory) else { return Place(path: file) }
        let name = file.dropFirst(secrets.directory.count)
        let path = "\(given)/\(secrets.prefix)\(name)"
        return !name.contains("/") && exists(path) ? Place(path: path, isCredential: true) : Place(path: file)
    }

    /// The place for this process.
    static func place(of file: String) throws(StartupError) -> Place {
        try place(of: file, given: Environment["CREDENTIALS_DIRECTORY"], exists: SmallFile.exists)
    }

    /// Reads a secret from its place.
    static func read(_ file: String) throws(StartupError) -> [UInt8] {
        let place = try place(of: file)
        do throws(FileError) {
            return place.isCredential
                ? try SmallFile.read(place.path, limit: 65_536) : try SmallFile.readSecret(place.path)
        } catch {
            throw .secretFile(error)
        }
    }
}
