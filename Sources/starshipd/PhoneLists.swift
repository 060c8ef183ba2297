/// The host lists for phones, from the directory that the configuration names.

import Gateway
import LinuxIO
import Profiles
import Routing

struct PhoneLists {
    /// The longest list that is read.
    private static let limit = 1 << 20

    private(set) var settings = RoutingSettings.Phones()

    /// Reads the lists that the options want.
    ///
    /// Without a directory in the options the lists are looked for beside the configuration and where the package puts
    /// them; none there is no error: then nothing is done for phones but what needs no list.
    init(_ options: PhoneOptions, besides path: String) throws(StartupError) {
        settings.refusesEncryptedDNS = options.dot == .refuse
        guard let directory = Self.directory(options, besides: path) else { return }
        var direct: [String] = []
        // Hosts that serve pages as well as checks (`connectivity-shared`) go where the rules say: a tester who debugs
        // them wants to see them.
        if options.connectivity == .direct { direct.append("connectivity") }
        if options.push { direct.append("push") }
        for name in direct { settings.direct.append(try Self.list(name, in: directory)) }
        if options.doh == .refuse { settings.denied.append(try Self.list("encrypted-dns", in: directory)) }
    }

    private static func directory(_ options: PhoneOptions, besides path: String) -> String? {
        if let lists = options.lists { return ConfigurationFile.path(of: lists, besides: path) }
        let places = [ConfigurationFile.path(of: "phones", besides: path), "/usr/share/starship/phones"]
        return places.first { (try? SmallFile.read("\($0)/push.txt", limit: limit)) != nil }
    }

    private static func list(_ name: String, in directory: String) throws(StartupError) -> RuleList {
        let file = "\(directory)/\(name).txt"
        let bytes: [UInt8]
        do throws(FileError) {
            bytes = try SmallFile.read(file, limit: limit)
        } catch {
            throw .file(error)
        }
        do throws(RoutingError) {
            return try RuleList.parse(bytes.span, name: name, file: file, format: .plain)
        } catch {
            throw .list(error)
        }
    }
}
