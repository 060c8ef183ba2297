/// One request as a value: method, path, parameters and body, and who asks.

public import Addresses
internal import Bytes
public import LinuxIO
internal import Profiles
internal import Wire

/// A whole request.
public struct ControlRequest: Equatable, Sendable {
    /// Methods by their names; HEAD is a GET whose answer has no body.
    public enum Method: String, Sendable, CaseIterable {
        case get = "GET"
        case put = "PUT"
        case post = "POST"
        case delete = "DELETE"
        /// Any other: no path has it, and each path says which it has (RFC 9110, section 15.5.6).
        case other = "other"
    }

    /// Who asks.
    public enum Source: Equatable, Sendable {
        /// A process of this machine.
        case local(PeerCredentials)
        /// Somebody on the network, who has to sign.
        case remote(SocketAddress)
        /// Somebody on the network who may read the figures and nothing else.
        case collector(SocketAddress)
    }

    public var method: Method
    /// Path and query as they stand in the request line, for signatures.
    public var target: String
    /// Segment by segment, decoded.
    public var path: [String]
    /// In the order of the text, decoded; no name stands twice.
    public var parameters: [Parameter]
    public var host: String
    /// The fields of a signature, by their names in small letters.
    public var signature: [String: String]
    /// The last event that a client has seen (WHATWG HTML, section 9.2.4); nil where it says nothing of one.
    public var lastEvent: String?
    /// Whether the body is said to be JSON.
    public var isJSON: Bool
    public var body: [UInt8]
    public var source: Source

    /// One parameter of the query.
    public struct Parameter: Equatable, Sendable {
        public var name: String
        public var value: String
    }

    /// The value of a parameter.
    public func parameter(_ name: String) -> String? { parameters.first { $0.name == name }?.value }
}

/// What the head of a request says, before its body is there.
struct ControlHead {
    var request: ControlRequest
    var isHead = false
    var closes = false
    var expectsContinue = false
    var body: HTTPBody

    /// The longest path with its query.
    static let targetLimit = 8192

    /// Reads a head; the request's body is still empty.
    init(_ head: Span<UInt8>, from source: ControlRequest.Source) throws(ControlHeadError) {
        let parsed: HTTPRequestHead
        let fields: ControlFields
        do throws(HTTPError) {
            parsed = try HTTPRequestHead.parse(head)
            fields = try ControlFields(head, from: parsed.fieldsStart)
        } catch {
            throw .malformed(error)
        }
        let method = Self.text(head, parsed.methodRange)
        let target = Self.text(head, parsed.targetRange)
        isHead = method == "HEAD"
        closes = parsed.saysClose || !parsed.isVersion11
        // Who speaks 1.0 does not wait for it, and would take it for the answer (RFC 9110, section 10.1.1).
        expectsContinue = fields.expectsContinue && parsed.isVersion11
        body = parsed.body
        let known = isHead ? .get : ControlRequest.Method(rawValue: method) ?? .other
        request = ControlRequest(
            method: known, target: target, path: [], parameters: [],
            host: parsed.hostRange.map { Self.text(head, $0) } ?? "", signature: fields.signature,
            lastEvent: fields.lastEvent, isJSON: fields.isJSON, body: [], source: source)
        do throws(ControlError) {
            try request.readHost()
            try request.readTarget()
        } catch {
            throw .refused(error)
        }
    }

    private static func text(_ head: Span<UInt8>, _ range: Range<Int>) -> String {
        String(decoding: [UInt8](copying: head.extracting(range)), as: UTF8.self)
    }
}

/// What is wrong with a head: the message's end may be unknown then, so the connection ends with the answer.
enum ControlHeadError: Error {
    case malformed(HTTPError)
    case refused(ControlError)
}

/// The fields that a request may have, besides those of every message.
private struct ControlFields {
    private var types = 0
    private var isTyped = false
    private var isCoded = false
    var expectsContinue = false
    var signature: [String: String] = [:]
    var lastEvent: String?

    /// A type that is said twice is none, and what is compressed is no JSON yet.
    var isJSON: Bool { types == 1 && isTyped && !isCoded }

    init(_ head: Span<UInt8>, from start: Int) throws(HTTPError) {
        var cursor = HTTPFieldCursor(at: start)
        while let field = try cursor.next(in: head) {
            let name = Self.text(head, field.name).lowercased()
            switch name {
            case "content-type":
                types += 1
                isTyped = Self.isJSON(Self.text(head, field.value))
            case "content-encoding": isCoded = isCoded || Self.text(head, field.value).lowercased() != "identity"
            case "expect": expectsContinue = Self.text(head, field.value).lowercased() == "100-continue"
            case "last-event-id": lastEvent = Self.text(head, field.value)
            case let name where name.hasPrefix("starship-"):
                // Said twice it is said by two.
                guard signature.updateValue(Self.text(head, field.value), forKey: name) == nil else { throw .badField }
            default: break
            }
        }
    }

    /// RFC 8259, section 11: the type has no parameter that means anything.
    private static func isJSON(_ value: String) -> Bool {
        let type = value.prefix { $0 != ";" && $0 != " " && $0 != "\t" }
        return type.lowercased() == "application/json"
    }

    private static func text(_ head: Span<UInt8>, _ range: Range<Int>) -> String {
        String(decoding: [UInt8](copying: head.extracting(range)), as: UTF8.self)
    }
}

extension ControlRequest {
    /// Takes the host out of a target that names it: Host does not count then (RFC 9112, section 3.2.2).
    fileprivate mutating func readHost() throws(ControlError) {
        let scheme = "http://"
        if target.prefix(scheme.count).lowercased() == scheme {
            let rest = target.dropFirst(scheme.count)
            let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
            guard end > rest.startIndex else { throw Self.badHost }
            host = String(rest[..<end])
            target = (rest[end...].first == "/" ? "" : "/") + rest[end...]
        }
        guard host.utf8.allSatisfy(Self.isOfHosts) else { throw Self.badHost }
    }

    private static var badHost: ControlError {
        ControlError(.badRequest, "Host: found no host; expected a name or an address, with a port", path: "Host")
    }

    /// What `uri-host [ ":" port ]` is made of (RFC 3986, section 3.2.2).
    private static func isOfHosts(_ octet: UInt8) -> Bool {
        switch octet {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: true
        default: "-._~%!$&'()*+,;=:[]".utf8.contains(octet)
        }
    }

    /// Takes the target apart: `/v1/profiles/whistle-qa?confirm=60`.
    fileprivate mutating func readTarget() throws(ControlError) {
        guard target.hasPrefix("/"), target.utf8.count <= ControlHead.targetLimit else {
            throw ControlError(.badRequest, "found a request target that is no path; expected one such as /v1/status")
        }
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        for segment in parts[0].dropFirst().split(separator: "/", omittingEmptySubsequences: false) {
            path.append(try Self.decode(segment, "the path"))
        }
        guard parts.count == 2, !parts[1].isEmpty else { return }
        for pair in parts[1].split(separator: "&", omittingEmptySubsequences: false) {
            let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = try Self.decode(sides[0], "the query")
            let value = sides.count == 2 ? try Self.decode(sides[1], "the query") : ""
            guard parameter(name) == nil else {
                throw ControlError(
                    .badRequest, "found a parameter twice; expected each once", path: String(name.prefix(64)))
            }
            parameters.append(Parameter(name: name, value: value))
        }
    }

    private static func decode(_ text: Substring, _ place: String) throws(ControlError) -> String {
        do throws(PercentCodingError) {
            return try PercentCoding.decode(text)
        } catch {
            throw ControlError(
                .badRequest, "found an escape in \(place) that means no text; expected UTF-8, percent-encoded once")
        }
    }
}
