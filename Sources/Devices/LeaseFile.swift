/// The file in which a DHCP server writes down who has which address, and what they call themselves.
///
/// Three servers' files are read, told apart by what stands in them:
///
///     dnsmasq                1790000000 3c:28:6d:12:34:56 10.9.0.23 Pixel-7 01:3c:28:6d:12:34:56
///     ISC dhcpd (Kea's former)   lease 10.9.0.23 { … hardware ethernet 3c:28:6d:12:34:56; client-hostname "Pixel-7"; }
///     Kea's memfile          10.9.0.23,3c:28:6d:12:34:56,,3600,1790000000,1,0,0,pixel-7,0,…
///
/// The host name is the client's own word, and the file is read while its server writes it: whatever does not fit is
/// left out and counted, and nothing in the file is an error.

public import Addresses

/// One device's right to an address.
public struct DHCPLease: Equatable, Sendable {
    public var address: IPAddress
    public var mac: MACAddress
    /// As the device says it, in printable ASCII.
    public var hostName: String?
    /// The second, counted from 1970, at which it ends; nil: never.
    public var expires: Int64?

    public init(address: IPAddress, mac: MACAddress, hostName: String?, expires: Int64?) {
        self.address = address
        self.mac = mac
        self.hostName = hostName
        self.expires = expires
    }
}

/// What a lease file says.
public struct LeaseFile: Equatable, Sendable {
    /// Whose file it is.
    public enum Format: String, CaseIterable, Sendable { case dnsmasq, dhcpd, kea }

    /// The most octets of a file; a larger one is read up to here.
    public static let sizeLimit = 4 << 20
    /// The most leases; what stands behind them is counted as skipped.
    public static let leaseLimit = 8192
    /// The most octets of a line.
    static let lineLimit = 1024

    public let format: Format
    /// One for each address, sorted by address.
    public private(set) var leases: [DHCPLease] = []
    /// Lines that are no lease and nothing else that belongs there.
    public internal(set) var skipped = 0

    /// The last word about each address, as far as the file was read.
    var found: [IPAddress: DHCPLease] = [:]

    private init(_ format: Format) { self.format = format }

    /// Reads a file's octets.
    public static func parse(_ bytes: Span<UInt8>) -> LeaseFile {
        let (lines, overlong) = lines(of: bytes)
        var file = LeaseFile(format(of: lines))
        file.skipped = overlong
        switch file.format {
        case .dnsmasq: for line in lines { file.readDnsmasq(line) }
        case .dhcpd: file.readDhcpd(lines)
        case .kea: file.readKea(lines)
        }
        file.leases = file.found.values.sorted { ($0.address.high, $0.address.low) < ($1.address.high, $1.address.low) }
        file.found = [:]
        return file
    }

    /// Cuts the file up and leaves out what is too long or no ASCII; the last line may still be being written.
    private static func lines(of bytes: Span<UInt8>) -> (lines: [String], overlong: Int) {
        var lines: [String] = []
        var line: [UInt8] = []
        var (isBad, bad) = (false, 0)
        for index in 0..<min(bytes.count, sizeLimit) {
            switch bytes[index] {
            case 0x0a:
                if isBad { bad += 1 } else { lines.append(String(decoding: line, as: UTF8.self)) }
                line.removeAll(keepingCapacity: true)
                isBad = false
            case 0x0d, 0x09: line.append(0x20)
            case 0x20...0x7e: line.append(bytes[index])
            default: isBad = true
            }
            if line.count > lineLimit { isBad = true }
            if isBad { line.removeAll(keepingCapacity: true) }
        }
        return (lines, bad)
    }

    private static func format(of lines: [String]) -> Format {
        let first = lines.lazy.map { $0.drop { $0 == " " } }.first { !$0.isEmpty && !$0.hasPrefix("#") } ?? ""
        if first.hasPrefix("address,") { return .kea }
        let words = ["lease ", "server-duid ", "authoring-byte-order ", "failover ", "host ", "group ", "subgroup "]
        return words.contains(where: first.hasPrefix) ? .dhcpd : .dnsmasq
    }

    /// Keeps a lease, in place of a former one of the same address.
    mutating func take(_ lease: DHCPLease) {
        guard found.count < Self.leaseLimit || found[lease.address] != nil else {
            skipped += 1
            return
        }
        found[lease.address] = lease
    }

    // MARK: Parts that several formats have

    /// An address that one device can have.
    static func address(_ text: some StringProtocol) -> IPAddress? {
        guard let address = IPAddress(parsing: text), !address.isMulticast, !address.isUnspecified,
            !address.isLoopback, !address.isLimitedBroadcast
        else { return nil }
        return address
    }

    /// A MAC that one device can have.
    static func mac(_ text: some StringProtocol) -> MACAddress? {
        guard let mac = MACAddress(parsing: text), !mac.isGroup, mac.bits != 0 else { return nil }
        return mac
    }

    /// A whole number of at most 15 digits: seconds since 1970.
    static func second(_ text: some StringProtocol) -> Int64? {
        guard (1...15).contains(text.utf8.count), text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
        return Int64(text)
    }

    /// A host name as long as DHCP lets one be; nil for none.
    static func hostName(_ text: some StringProtocol) -> String? {
        (1...255).contains(text.utf8.count) && text != "*" ? String(text) : nil
    }
}

/// Leases by MAC and by address.
struct LeaseBook: Sendable {
    private var hostNames: [MACAddress: String] = [:]
    private var owners: [IPAddress: MACAddress] = [:]
    private var ofMAC: [MACAddress: [IPAddress]] = [:]

    init() {}

    /// Takes the names of all leases, and the addresses of those that have not ended.
    init(_ leases: [DHCPLease], at now: Int64) {
        for lease in leases.sorted(by: { $0.expires ?? .max < $1.expires ?? .max }) {
            if let hostName = lease.hostName { hostNames[lease.mac] = hostName }
            guard lease.expires ?? .max >= now else { continue }
            owners[lease.address] = lease.mac
        }
        for (address, mac) in owners { ofMAC[mac, default: []].append(address) }
    }

    var addresses: [IPAddress] { Array(owners.keys) }

    func mac(of address: IPAddress) -> MACAddress? { owners[address] }

    func addresses(of mac: MACAddress) -> [IPAddress] { ofMAC[mac] ?? [] }

    func hostName(of mac: MACAddress) -> String? { hostNames[mac] }
}
