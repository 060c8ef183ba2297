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
    /// them; none there is no error: then nothing is done for phones but what needs no list, and the names by which
    /// devices ask for leave to go around us are those that are known here.
    init(_ options: PhoneOptions, besides path: String) throws(StartupError) {
        settings.refusesEncryptedDNS = options.dot == .refuse
        settings.connectivity = options.connectivity.rawValue
        guard let directory = Self.directory(options, besides: path) else {
            guard options.connectivity != .answer else { throw .noAnswers(Self.places(besides: path)) }
            try denyKnown(options)
            return
        }
        if options.connectivity != .upstream {
            settings.direct.append(try Self.list("connectivity", in: directory))
            // Hosts that serve pages as well as checks go where the rules say, as long as their checks can pass there:
            // a tester who debugs them wants to see them.
            let shared = try Self.list("connectivity-shared", in: directory)
            if options.connectivity == .direct { settings.shared = shared }
            if options.connectivity == .answer { settings.answers = try Self.answers(in: directory, shared) }
        }
        if options.push { settings.direct.append(try Self.list("push", in: directory)) }
        if !options.privateRelay { settings.denied.append(try Self.list("private-relay", in: directory)) }
        if options.doh == .refuse { settings.denied.append(try Self.list("encrypted-dns", in: directory)) }
    }

    private mutating func denyKnown(_ options: PhoneOptions) throws(StartupError) {
        if !options.privateRelay {
            let names = "mask.icloud.com\nmask-h2.icloud.com\nmask-canary.icloud.com\n"
            settings.denied.append(try Self.list("private-relay", file: nil, Array(names.utf8)))
        }
        if options.doh == .refuse {
            let names = "use-application-dns.net\ndoh.dns.apple.com\n"
            settings.denied.append(try Self.list("encrypted-dns", file: nil, Array(names.utf8)))
        }
    }

    private static func places(besides path: String) -> [String] {
        [ConfigurationFile.path(of: "phones", besides: path), "/usr/share/starship/phones"]
    }

    private static func directory(_ options: PhoneOptions, besides path: String) -> String? {
        if let lists = options.lists { return ConfigurationFile.path(of: lists, besides: path) }
        return places(besides: path).first { (try? SmallFile.read("\($0)/push.txt", limit: limit)) != nil }
    }

    private static func list(_ name: String, in directory: String) throws(StartupError) -> RuleList {
        let file = "\(directory)/\(name).txt"
        return try list(name, file: file, read(file))
    }

    private static func list(_ name: String, file: String?, _ bytes: [UInt8]) throws(StartupError) -> RuleList {
        do throws(RoutingError) {
            return try RuleList.parse(bytes.span, name: name, file: file, format: .plain)
        } catch {
            throw .list(error)
        }
    }

    private static func answers(in directory: String, _ shared: RuleList) throws(StartupError) -> CheckAnswers {
        let file = "\(directory)/\(CheckAnswers.name)"
        let bytes = try read(file)
        do throws(RoutingError) {
            return try CheckAnswers.parse(bytes.span, file: file, shared: shared)
        } catch {
            throw .list(error)
        }
    }

    private static func read(_ file: String) throws(StartupError) -> [UInt8] {
        do throws(FileError) {
            return try SmallFile.read(file, limit: limit)
        } catch {
            throw .file(error)
        }
    }
}
