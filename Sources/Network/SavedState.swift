/// What was there before us and has no name of ours: settings of the kernel, and the state of the TUN device.
///
/// It is written before the first change and read by whoever cleans up. What it says of a setting is never
/// overwritten: after a crash the value that is found is ours, and taking it for the original would make it stay.

import Addresses
import LinuxIO

struct SavedState: Equatable {
    struct Setting: Equatable {
        let name: String
        let original: String
        /// What we made of it; anything else found there later is somebody's own wish and stays.
        var ours: String
    }

    struct Link: Equatable {
        let name: String
        let mtu: Int
        let isUp: Bool
    }

    private(set) var settings: [Setting] = []
    private(set) var links: [Link] = []
    private(set) var addresses: [OwnAddress] = []

    var isEmpty: Bool { settings.isEmpty && links.isEmpty && addresses.isEmpty }

    func original(of name: String) -> String? { settings.first { $0.name == name }?.original }

    mutating func note(_ name: String, original: String, ours: String) {
        if let index = settings.firstIndex(where: { $0.name == name }) {
            settings[index].ours = ours
        } else {
            settings.append(Setting(name: name, original: original, ours: ours))
        }
    }

    func without(_ others: [Setting]) -> SavedState {
        var state = self
        state.settings.removeAll { setting in others.contains { $0.name == setting.name } }
        return state
    }

    mutating func note(_ link: KernelLink) {
        guard !links.contains(where: { $0.name == link.name }) else { return }
        links.append(Link(name: link.name, mtu: link.mtu, isUp: link.isUp))
    }

    mutating func note(_ address: OwnAddress) {
        if !addresses.contains(address) { addresses.append(address) }
    }

    // As a file

    private static let heading = "# What starshipd found before it changed it; `starshipd cleanup` puts it back."

    var text: String {
        var lines = [Self.heading]
        lines += settings.map { "setting \($0.name) \($0.original.isEmpty ? "-" : $0.original) \($0.ours)" }
        lines += links.map { "link \($0.name) \($0.mtu) \($0.isUp ? "up" : "down")" }
        lines += addresses.map { "address \($0.interface) \($0.address)" }
        return lines.map { "\($0)\n" }.joined()
    }

    init() {}

    /// Reads the text; a line that is none of ours is refused by its number.
    init(parsing text: String, path: String) throws(NetworkError) {
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            guard !line.isEmpty, !line.hasPrefix("#") else { continue }
            let words = line.split(separator: " ").map(String.init)
            switch words.first {
            case "setting" where words.count == 4 && Self.isSetting(words[1], words[2], words[3]):
                settings.append(
                    Setting(name: words[1], original: words[2] == "-" ? "" : words[2], ours: words[3]))
            case "link" where words.count == 4 && Int(words[2]) != nil && !words[1].hasPrefix("-"):
                links.append(Link(name: words[1], mtu: Int(words[2]) ?? 0, isUp: words[3] == "up"))
            case "address" where words.count == 3:
                guard let address = IPAddress(parsing: words[2]) else { fallthrough }
                addresses.append(OwnAddress(interface: words[1], address: address))
            default: throw .savedState(path, line: index + 1)
            }
        }
    }

    /// Whether it is a setting of the network with a number for a value: root writes back what stands here, and the
    /// file may be that of a daemon with fewer rights.
    private static func isSetting(_ name: String, _ original: String, _ ours: String) -> Bool {
        let parts = name.split(separator: "/", omittingEmptySubsequences: false)
        let isNumber = { (text: String) in text.utf8.count <= 10 && text.utf8.allSatisfy { $0 >= 0x30 && $0 <= 0x39 } }
        return parts.count >= 3 && parts[0] == "net" && ["ipv4", "ipv6"].contains(parts[1])
            && !parts.contains { $0.isEmpty || $0 == "." || $0 == ".." }
            && (original == "-" || isNumber(original)) && isNumber(ours)
    }

    /// Reads the file; there is none when nothing of ours is left.
    static func read(_ path: String) throws(NetworkError) -> SavedState {
        let bytes: [UInt8]
        do throws(FileError) {
            bytes = try SmallFile.read(path, limit: 1 << 20)
        } catch {
            if case .system(let failure) = error, failure.errno == .noSuchFile { return SavedState() }
            throw .savedState(path, line: 0)
        }
        return try SavedState(parsing: String(decoding: bytes, as: UTF8.self), path: path)
    }

    func write(_ path: String) throws(NetworkError) {
        do throws(SystemCallError) {
            if isEmpty { try SmallFile.remove(path) } else { try SmallFile.replace(path, with: Array(text.utf8)) }
        } catch {
            throw .system(error)
        }
    }
}
