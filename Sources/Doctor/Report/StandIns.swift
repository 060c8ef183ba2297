/// Names for what says who somebody is, the same one each time: `device-1`, `mac-2`, `public-address-1`.

import Addresses

/// Replaces names of devices, MACs and addresses that belong to somebody in the world.
public struct StandIns: Sendable {
    private var names: [(name: String, standIn: String)] = []
    private var hardware: [MACAddress: String] = [:]
    private var addresses: [IPAddress: String] = [:]

    /// `names` are those of devices and of people's things; the order decides the numbers.
    public init(names: [String]) {
        for name in names where name.utf8.count > 1 && !self.names.contains(where: { $0.name == name }) {
            self.names.append((name, "device-\(self.names.count + 1)"))
        }
        self.names.sort { $0.name.utf8.count > $1.name.utf8.count }
    }

    /// The text with stand-ins; the same value has the same one in all texts of this value.
    public mutating func replace(in text: String) -> String {
        var result = ""
        var word = ""
        for character in text {
            if Self.isPart(character) {
                word.append(character)
            } else {
                result += standIn(for: word)
                result.append(character)
                word = ""
            }
        }
        return result + standIn(for: word)
    }

    /// Names, MACs and addresses are words of these.
    private static func isPart(_ character: Character) -> Bool {
        character.isLetter || character.isNumber || "-_.:".contains(character)
    }

    private mutating func standIn(for word: String) -> String {
        guard word.utf8.count > 1 else { return word }
        if let name = names.first(where: { $0.name == word }) { return name.standIn }
        // A full stop or a colon may belong to the sentence, a port to the address.
        for end in [word.endIndex, word.lastIndex(where: { $0 != "." && $0 != ":" }).map(word.index(after:))] {
            guard let end else { continue }
            let core = word[..<end]
            if let name = names.first(where: { $0.name == core }) { return name.standIn + word[end...] }
            if let known = whole(core) { return known + word[end...] }
        }
        if let colon = word.lastIndex(of: ":"), let known = whole(word[..<colon]) { return known + word[colon...] }
        // `pixel-7.lan`, `3c:28:…@wlan0`: the first part may be a name.
        if let dot = word.firstIndex(of: "."), let name = names.first(where: { $0.name == word[..<dot] }) {
            return name.standIn + word[dot...]
        }
        return word
    }

    private mutating func whole(_ text: Substring) -> String? {
        if let mac = MACAddress(parsing: String(text)) {
            if mac.bits == 0 { return nil }
            if let known = hardware[mac] { return known }
            let made = "mac-\(hardware.count + 1)"
            hardware[mac] = made
            return made
        }
        guard let address = IPAddress(parsing: String(text)), Self.isSomebodys(address) else { return nil }
        if let known = addresses[address] { return known }
        let made = "public-address-\(addresses.count + 1)"
        addresses[address] = made
        return made
    }

    /// Networks that say nothing of anybody: private ones, documentation, our pools; with IPv6 an interface's own part
    /// often holds its MAC, so everything counts but loopback, multicast and our pool.
    private static let nobodys = [
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.2.0/24",
        "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/3", "::/127", "ff00::/8",
        "2001:2::/48",
    ].compactMap { IPPrefix(parsing: $0) }

    private static func isSomebodys(_ address: IPAddress) -> Bool {
        !nobodys.contains { $0.base.isIPv4 == address.isIPv4 && $0.contains(address) }
    }
}
