/// Names in a filter: those of hosts and networks would be looked up while the filter is compiled.
///
/// libpcap asks the system's resolver for them and waits for it, and who asked for the capture waits with everybody
/// else. So hosts and networks are addresses here. Services and protocols (`port https`, `ip proto \udp`) are looked up
/// in files of this machine, and stay.

internal import Addresses

extension CaptureFilter {
    /// The first name that would be looked up elsewhere; nil where there is none.
    static func lookedUpName(in text: String) -> String? {
        // What a word without a meaning of its own is follows from the words before it; at first it is a host.
        var isHost = true
        for run in text.utf8.split(whereSeparator: { !isOfWords($0) }) {
            let word = String(Substring(run))
            switch word {
            case "and", "or", "not": continue
            case "port", "portrange", "proto", "protochain": isHost = false
            case _ where isNumber(word) || fields.contains { word.hasPrefix($0) }: continue
            case _ where keywords.contains(word): isHost = true
            default: if isHost { return word }
            }
        }
        return nil
    }

    /// What names, numbers and addresses are made of (libpcap, scanner.l); a backslash makes a name of a keyword.
    private static func isOfWords(_ octet: UInt8) -> Bool {
        switch octet {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: true
        default: "-_.:\\".utf8.contains(octet) || octet >= 0x80
        }
    }

    /// What libpcap itself takes for a number or an address: `10.9` is the beginning of one, `1000.9` is a name.
    private static func isNumber(_ word: String) -> Bool {
        let (octets, places) = (word.utf8, "0123456789".utf8)
        if octets.starts(with: "0x".utf8) || octets.starts(with: "0X".utf8) {
            return octets.count > 2 && octets.dropFirst(2).allSatisfy(isHexDigit)
        }
        if octets.allSatisfy(places.contains) { return true }
        let parts = octets.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        if (2...4).contains(parts.count), parts.allSatisfy({ 1...3 ~= $0.count && $0.allSatisfy(places.contains) }) {
            return true
        }
        // `ip[2:2]`: a place and a length.
        let pair = octets.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        if pair.count == 2, pair.allSatisfy({ !$0.isEmpty && $0.allSatisfy(places.contains) }) { return true }
        return octets.contains(UInt8(ascii: ":")) && IPAddress(parsing: word) != nil
    }

    private static func isHexDigit(_ octet: UInt8) -> Bool {
        switch octet {
        case 0x30...0x39, 0x41...0x46, 0x61...0x66: true
        default: false
        }
    }

    /// The words of pcap-filter(7) that make sense for IP packets, and some that libpcap itself says no to.
    private static let keywords: Set<String> = [
        "host", "net", "gateway", "mask", "src", "dst", "ip", "ip6", "tcp", "udp", "icmp", "icmp6", "sctp", "igmp",
        "igrp", "pim", "vrrp", "carp", "ah", "esp", "arp",
        "rarp", "ether", "link", "vlan", "mpls", "and", "or", "not", "less", "greater", "byte", "len", "length",
        "broadcast", "multicast", "inbound", "outbound", "tcpflags", "icmptype", "icmpcode", "icmp6type", "icmp6code",
    ]

    /// How the names of bits and types begin: `tcp-syn`, `icmp-echoreply`.
    private static let fields = ["tcp-", "icmp-", "icmp6-"]
}
