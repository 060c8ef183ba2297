/// Devices that want a resolver of their own: Private DNS with a fixed name, or one that somebody else has announced.
///
/// The firewall's table notes them, whichever way their packets go then, and forgets them after an hour; here is what
/// nft(8) shows of it.

public import Addresses
public import Bytes

/// A device that asked a resolver that is not us.
public struct Insistence: Hashable, Sendable, CustomStringConvertible {
    public var device: IPAddress
    public var resolver: IPAddress
    /// With 53 it was answered by us all the same, with 853 it was refused.
    public var port: UInt16

    /// How long ago it last began to; nil where the firewall does not say.
    public var age: Interval?

    public init(device: IPAddress, resolver: IPAddress, port: UInt16, age: Interval? = nil) {
        self.device = device
        self.resolver = resolver
        self.port = port
        self.age = age
    }

    /// What it does, and what to change on the device.
    public var description: String {
        let who = SocketAddress(resolver, port)
        return port == 53
            ? "\(device) asks \(who) for names, and we answer: set its DNS to automatic; another router may announce that one"
            : "\(device) insists on the private DNS of \(who), which is refused: set Private DNS to Automatic or Off"
    }

    /// The sets' name, before the family.
    static let name = "insists"

    /// The set of a family as nft(8) reads it.
    ///
    /// A full one takes no more: a device that scans cannot make it grow.
    static func set(_ family: String) -> String {
        "\tset \(name)_\(family) {\n\t\ttype \(family)_addr . \(family)_addr . inet_service\n\t\tsize 1024\n"
            + "\t\tflags dynamic,timeout\n\t\ttimeout 1h\n\t}\n"
    }

    /// Reads what `nft list set` shows.
    ///
    /// As `elements = { 10.9.0.2 . 192.0.2.1 . 853 timeout 1h expires 59m58s, … }`.
    static func elements(of listing: String) -> [Insistence] {
        // The set's own brace comes before, its end after: "set … { type … elements = { … } }".
        guard let start = listing.lastIndex(of: "{"), let end = listing[start...].firstIndex(of: "}") else { return [] }
        return listing[listing.index(after: start)..<end].split(separator: ",").compactMap { element in
            let words = element.split(whereSeparator: \.isWhitespace)
            guard words.count >= 5, words[1] == ".", words[3] == ".", let device = IPAddress(parsing: String(words[0])),
                let resolver = IPAddress(parsing: String(words[2])), let port = UInt16(words[4])
            else { return nil }
            return Insistence(device: device, resolver: resolver, port: port, age: age(in: words.dropFirst(5)))
        }
    }

    /// How much of its hour an element has had, by what is left: `expires 59m58s992ms`.
    private static func age(in words: ArraySlice<Substring>) -> Interval? {
        guard let place = words.firstIndex(of: "expires"), words.indices.contains(place + 1) else { return nil }
        // "ms" before "m" and "s".
        let units: [(name: String, time: Interval)] = [
            ("ms", .milliseconds(1)), ("h", .hours(1)), ("m", .seconds(60)), ("s", .seconds(1)),
        ]
        var (rest, left) = (words[place + 1], Interval.zero)
        while !rest.isEmpty {
            let digits = rest.prefix { $0.isASCII && $0.isNumber }
            rest = rest.dropFirst(digits.count)
            // Neither a number nor all of them together leave what an interval can hold.
            guard let count = Int64(digits), count < 1 << 20, left < .hours(1 << 20),
                let unit = units.first(where: { rest.hasPrefix($0.name) })
            else { return nil }
            left = left + unit.time * count
            rest = rest.dropFirst(unit.name.count)
        }
        return max(.zero, .hours(1) - left)
    }
}

extension NetworkSetup {
    /// Which devices asked another resolver in the last hour, or since the last switch if that is later.
    public func insistences() throws(NetworkError) -> [Insistence] {
        guard plan?.setup == .gateway else { return [] }
        var found: [Insistence] = []
        for set in [SystemVerb.ListedPart.insistsIPv4, .insistsIPv6] {
            found += Insistence.elements(of: try tools.listing(set, withElements: true) ?? "")
        }
        return found.sorted { "\($0)" < "\($1)" }
    }
}
