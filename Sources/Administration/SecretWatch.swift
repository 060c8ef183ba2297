/// Files with passwords and keys are looked at again and again, so that a new password takes no command.
///
/// Those that systemd has handed over (`SecretPlaces`) stay as they were at the start. Who may use the SOCKS and HTTP
/// listeners counts from the start on too.

import Bytes
import LinuxIO
import Profiles

struct SecretWatch {
    private static let pause = Interval.seconds(5)

    /// As they were when they were last looked at.
    private var stamps: [String: FileStamp] = [:]
    /// When they are looked at; never while there are none.
    private(set) var dueAt = Instant(nanoseconds: 0)

    /// Says that the configuration may name others now.
    mutating func lookSoon() { dueAt = min(dueAt, Instant(nanoseconds: 0)) }

    /// Looks when it is time to; true when one of those that were there before is another one now.
    mutating func look(at configuration: Configuration, besides path: String, now: Instant) -> Bool {
        guard dueAt <= now else { return false }
        let files = Self.files(of: configuration, besides: path)
        dueAt = files.isEmpty ? .never : now + Self.pause
        let former = stamps
        stamps = [:]
        for file in files { stamps[file] = FileStamp.of(file) }
        return stamps.contains { file, stamp in former[file].map { $0 != stamp } ?? false }
    }

    static func files(of configuration: Configuration, besides path: String) -> [String] {
        var files = configuration.keys.map { ConfigurationFile.path(of: $0.file, besides: path) }
        for profile in configuration.profiles {
            if case .file(let file)? = profile.upstream.credentials?.password { files.append(file) }
        }
        return files.filter { (try? SecretPlaces.place(of: $0))?.isCredential == false }
    }
}
