/// The three formats of lease files.

internal import Addresses

extension LeaseFile {
    // MARK: dnsmasq

    /// Reads `END MAC ADDRESS NAME CLIENT-ID`, where END is 0 for a lease without one and NAME may be `*`.
    ///
    /// Leases of DHCPv6 have an identifier of the association in place of the MAC, and `duid` stands before them.
    mutating func readDnsmasq(_ line: String) {
        let words = line.split(separator: " ")
        guard let first = words.first, first != "duid" else { return }
        if words.count == 5, let address = Self.address(words[2]), !address.isIPv4, Self.isAssociation(words[1]) {
            return
        }
        guard words.count == 4 || words.count == 5, let expires = Self.second(first), let mac = Self.mac(words[1]),
            let address = Self.address(words[2]), words[3].utf8.count <= 255
        else {
            skipped += 1
            return
        }
        take(
            DHCPLease(
                address: address, mac: mac, hostName: Self.hostName(words[3]), expires: expires == 0 ? nil : expires))
    }

    /// A number; with T before it for a temporary address.
    private static func isAssociation(_ word: Substring) -> Bool {
        second(word.hasPrefix("T") ? word.dropFirst() : word) != nil
    }

    // MARK: ISC dhcpd

    /// What is between the braces of one lease.
    fileprivate struct Block {
        let address: IPAddress?
        var mac: MACAddress?
        var hostName: String?
        var expires: Int64?
        var isActive = true
        /// A statement that cannot be what the server wrote.
        var isBad = false
    }

    /// Reads `lease ADDRESS { … }`; of several for one address the last one counts (dhcpd.leases(5)).
    mutating func readDhcpd(_ lines: [String]) {
        var block: Block?
        // Braces of other declarations, such as host and failover.
        var depth = 0
        for line in lines {
            let text = Self.trimmed(line[...])
            if text.isEmpty || text.hasPrefix("#") { continue }
            if text.hasPrefix("lease "), text.hasSuffix("{"), depth == 0 {
                // The one before has no end: its writer was interrupted.
                if block != nil { skipped += 1 }
                block = Block(address: Self.address(Self.trimmed(text.dropFirst(6).dropLast())))
            } else if block != nil, depth == 0, text == "}" {
                if let ended = block { finish(ended) }
                block = nil
            } else if text.hasSuffix("{") {
                depth += 1
            } else if text == "}" {
                depth = max(0, depth - 1)
            } else if depth == 0 {
                block?.take(text)
            }
        }
        if block != nil { skipped += 1 }
    }

    private mutating func finish(_ block: Block) {
        guard let address = block.address, !block.isBad else {
            skipped += 1
            return
        }
        guard block.isActive, let mac = block.mac else {
            // The address is free again.
            found[address] = nil
            return
        }
        take(DHCPLease(address: address, mac: mac, hostName: block.hostName, expires: block.expires))
    }

    // MARK: Kea

    /// Reads lines under a head that names their columns; of several for one address the last one counts.
    mutating func readKea(_ lines: [String]) {
        var columns: [Substring: Int] = [:]
        for line in lines {
            let fields = Self.trimmed(line[...]).split(separator: ",", omittingEmptySubsequences: false)
            if fields.count < 2 && (fields.first ?? "").isEmpty { continue }
            // Files that are joined have a head each.
            if fields.first == "address" {
                columns = Dictionary(fields.enumerated().map { ($1, $0) }) { first, _ in first }
                continue
            }
            func field(_ name: Substring) -> Substring? {
                columns[name].flatMap { $0 < fields.count ? fields[$0] : nil }
            }
            guard let address = field("address").flatMap({ Self.address($0) }),
                let expires = field("expire").flatMap({ Self.second($0) }),
                let lifetime = field("valid_lifetime").flatMap({ Self.second($0) }), let hardware = field("hwaddr")
            else {
                skipped += 1
                continue
            }
            // 0 is the state of a lease that holds, and a lifetime of 0 takes the lease back.
            guard lifetime > 0, field("state") ?? "0" == "0" else {
                found[address] = nil
                continue
            }
            // A client may have no MAC, with an identifier alone.
            if hardware.isEmpty { continue }
            guard let mac = Self.mac(hardware) else {
                skipped += 1
                continue
            }
            let hostName = field("hostname").flatMap { Self.hostName($0) }
            // 2^32 − 1 is a lifetime without an end (RFC 2131, section 3.3).
            let isEndless = lifetime == 0xffff_ffff
            take(DHCPLease(address: address, mac: mac, hostName: hostName, expires: isEndless ? nil : expires))
        }
    }

    fileprivate static func trimmed(_ text: Substring) -> Substring {
        var text = text.drop { $0 == " " }
        while text.hasSuffix(" ") { text.removeLast() }
        return text
    }
}

extension LeaseFile.Block {
    /// Takes one statement of dhcpd's.
    fileprivate mutating func take(_ text: Substring) {
        // `ends epoch 1790000000; # Mon Sep …` has a comment behind it.
        guard let end = text.lastIndex(of: ";") else {
            isBad = true
            return
        }
        let statement = text[..<end]
        let words = statement.split(separator: " ")
        switch (words.first, words.dropFirst().first) {
        case ("ends", "never"): expires = nil
        case ("ends", "epoch"):
            expires = words.count > 2 ? LeaseFile.second(words[2].prefix { $0 != ";" }) : nil
            isBad = isBad || expires == nil
        case ("ends", _):
            expires = words.count == 4 ? Self.second(date: words[2], time: words[3]) : nil
            isBad = isBad || expires == nil
        case ("hardware", "ethernet"):
            mac = words.count == 3 ? LeaseFile.mac(words[2]) : nil
            isBad = isBad || mac == nil
        case ("binding", "state"): isActive = words.last == "active"
        case ("client-hostname", _): hostName = Self.quoted(LeaseFile.trimmed(statement.dropFirst(15)))
        default: break
        }
    }

    /// A text in quotes, if nothing in it is escaped.
    private static func quoted(_ text: Substring) -> String? {
        guard text.count >= 2, text.hasPrefix("\""), text.hasSuffix("\"") else { return nil }
        let inner = text.dropFirst().dropLast()
        return inner.contains("\\") || inner.contains("\"") ? nil : LeaseFile.hostName(inner)
    }

    /// `2026/09/21 14:13:20`, in UTC.
    private static func second(date: Substring, time: Substring) -> Int64? {
        let days = date.split(separator: "/", omittingEmptySubsequences: false).map { LeaseFile.second($0) ?? -1 }
        let clock = time.split(separator: ":", omittingEmptySubsequences: false).map { LeaseFile.second($0) ?? -1 }
        guard days.count == 3, clock.count == 3, (1970...9999).contains(days[0]), (1...12).contains(days[1]),
            (1...31).contains(days[2]), (0...23).contains(clock[0]), (0...59).contains(clock[1]),
            (0...60).contains(clock[2])
        else { return nil }
        // The year is taken to begin in March, as `UnixTime` takes it when it writes a date.
        let year = days[1] > 2 ? days[0] : days[0] - 1
        let month = (days[1] + 9) % 12
        let day = year * 365 + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + days[2] - 1 - 719_468
        return day * 86_400 + clock[0] * 3600 + clock[1] * 60 + clock[2]
    }
}
