/// # What a connectivity check is answered in the place of its host
///
/// A device that has joined a network asks a host of its vendor for a page that it knows, and stays only when it gets
/// it. In a lab without Internet the gateway answers in that host's place: `connectivity.answers` says what, and its
/// first comment how it is written.

public import Addresses

public struct CheckAnswers: Equatable, Sendable {
    /// What one path is answered.
    public struct Page: Equatable, Sendable {
        /// 200, or 204 without a body.
        public var status: Int
        public var body: String

        public init(status: Int, body: String = "") {
            self.status = status
            self.body = body
        }
    }

    /// What is known of one host.
    public struct Host: Equatable, Sendable {
        /// By path; `*` is every other one.
        public var pages: [String: Page] = [:]
        /// What its name is answered, for checks that look at the address alone.
        public var addresses: [IPAddress] = []
        /// It serves much else: what isn't a check goes where the rules say.
        public var isShared = false
        /// Where it stands first.
        public var line: Int

        /// The page of a path without its query.
        public func page(at path: String) -> Page? { pages[path] ?? pages["*"] }
    }

    /// The list's name in explanations.
    public static let name = "connectivity.answers"

    /// By their names.
    public private(set) var hosts: [String: Host] = [:]
    public let file: String?

    /// Reads the file, or says which line cannot be one of it; `shared` has the hosts that serve much else.
    public static func parse(
        _ bytes: Span<UInt8>, file: String? = nil, shared: RuleList? = nil
    ) throws(RoutingError) -> CheckAnswers {
        var answers = CheckAnswers(file: file)
        let text = [UInt8](capacity: bytes.count) { output in
            for index in bytes.indices { output.append(bytes[index]) }
        }
        var lines = ListLines(text)
        do throws(Misspelling) {
            while let line = try lines.next() {
                guard let first = line.first, first != UInt8(ascii: "#") else { continue }
                try answers.read(line, number: lines.number, shared)
            }
        } catch {
            throw error.at(list: name, file: file, line: lines.number)
        }
        return answers
    }

    private init(file: String?) { self.file = file }

    /// What decided about a check, in words: the list, and the line of the host.
    public func origin(of host: Host) -> String {
        "phones: \(Self.name), \(RuleOrigin.place(file: file, line: host.line))"
    }
}

extension CheckAnswers {
    private static let form = "HOST PATH STATUS BODY, or HOST dns ADDRESS"

    private mutating func read(_ line: ArraySlice<UInt8>, number: Int, _ shared: RuleList?) throws(Misspelling) {
        var rest = line
        let name = try Self.host(Self.column(&rest))
        let place = Self.column(&rest)
        var host = hosts[name] ?? Host(isShared: shared?.contains(RouteQuery(name: name)) ?? false, line: number)
        if place.elementsEqual("dns".utf8) {
            host.addresses.append(try Self.address(rest, knownAre: host.addresses))
        } else {
            let path = try Self.path(place)
            guard host.pages[path] == nil else {
                throw Misspelling(.ambiguous, found: "\(name) \(path) once more", expected: "each path once")
            }
            host.pages[path] = try Self.page(&rest)
        }
        hosts[name] = host
    }

    /// Takes what stands before the next blank, and the blanks behind it.
    private static func column(_ rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let column = rest.prefix { !isBlank($0) }
        rest = rest.dropFirst(column.count).drop(while: isBlank)
        return column
    }

    private static func isBlank(_ octet: UInt8) -> Bool { octet == 0x20 || octet == 0x09 }

    private static func host(_ text: ArraySlice<UInt8>) throws(Misspelling) -> String {
        let name = String(decoding: text, as: UTF8.self)
        guard let normal = try? DomainName.normalise(name), normal == name else {
            throw Misspelling(
                .name, found: text, expected: "the name of a host in lower case",
                hint: "a line is \(form); # begins a comment at the beginning of a line only")
        }
        return name
    }

    private static func path(_ text: ArraySlice<UInt8>) throws(Misspelling) -> String {
        let isPath = text.first == UInt8(ascii: "/") && text.allSatisfy { $0 > 0x20 && $0 < 0x7f }
        guard isPath && !text.contains(UInt8(ascii: "?")) || text.elementsEqual("*".utf8) else {
            throw Misspelling(
                .spelling, found: text, expected: "a path without a query, or *", hint: "a line is \(form)")
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func page(_ rest: inout ArraySlice<UInt8>) throws(Misspelling) -> Page {
        let status = column(&rest)
        let body = String(decoding: rest, as: UTF8.self)
        switch String(decoding: status, as: UTF8.self) {
        case "200" where !body.isEmpty: return Page(status: 200, body: body)
        case "204" where body.isEmpty: return Page(status: 204)
        default:
            throw Misspelling(.spelling, found: status, expected: "200 and a body, or 204 and none")
        }
    }

    private static func address(
        _ text: ArraySlice<UInt8>, knownAre known: [IPAddress]
    ) throws(Misspelling) -> IPAddress {
        guard let address = IPAddress(parsing: String(decoding: text, as: UTF8.self)) else {
            throw Misspelling(.prefix, found: text, expected: "an address")
        }
        guard !known.contains(address) else {
            throw Misspelling(.ambiguous, found: "\(address) once more", expected: "each address once")
        }
        return address
    }
}
