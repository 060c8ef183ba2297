/// The conversation with an HTTP proxy: CONNECT and what it says to that (RFC 9110, section 9.3.6).
///
/// One value is one request on one connection. It holds no socket and no clock.

public import Addresses
public import Wire

/// Who the client is, for proxies that are to know.
public struct ClientIdentity: Equatable, Sendable {
    public var address: IPAddress
    /// The name that people gave the device.
    public var name: String?

    public init(address: IPAddress, name: String? = nil) {
        self.address = address
        self.name = name
    }

    /// Appends the two field lines by which proxies, Whistle above all, keep their clients apart.
    func writeFields(into output: inout [UInt8]) {
        let name = name.map(Self.fieldText) ?? "\(address)"
        output.append(contentsOf: "X-Forwarded-For: \(address)\r\nX-Whistle-Client-Id: \(name)\r\n".utf8)
    }

    /// A name as a field value: what is not visible ASCII is percent-encoded, so it cannot end the line.
    private static func fieldText(_ name: String) -> String {
        var text = ""
        for octet in name.utf8.prefix(128) {
            if octet > 0x20, octet < 0x7f, octet != 0x25 {
                text.unicodeScalars.append(Unicode.Scalar(octet))
            } else {
                text += "%" + (octet < 16 ? "0" : "") + String(octet, radix: 16, uppercase: true)
            }
        }
        return text
    }
}

/// A CONNECT and its answer.
public struct ConnectDialogue: Sendable {
    /// What the bytes so far amount to.
    public enum Step: Equatable, Sendable {
        case needsMore
        /// The tunnel is open; these octets of the last input are the stream's already.
        case open(leftover: Range<Int>)
        case refused(status: Int, text: String)
        /// 407: what the proxy wants to be shown, and whether the same connection can be asked again.
        case challenged(HTTPChallenge, text: String, isReusable: Bool)
        case failed(HTTPError)
    }

    private enum Phase {
        case head
        /// Not a success: the beginning of the page is read for its words.
        case page(HTTPBody)
        case over
    }

    /// The longest page that is read to its end to use the connection again.
    private static let longestDrain = 65536

    private var phase = Phase.head
    private var reader = HTTPReplyReader()
    private var page = HTTPErrorText()
    private var drained = 0

    public init() {}

    /// The status of an answer that is no success, as soon as it is known.
    public var refusal: Int? {
        if case .page = phase { return reader.head.status }
        return nil
    }

    /// Appends the request: `Host` and nothing else, unless the profile says so.
    public static func writeRequest(
        to target: Target, identifying client: ClientIdentity?, credentials: BasicCredentials?,
        into output: inout [UInt8]
    ) {
        output.append(contentsOf: "CONNECT ".utf8)
        target.write(into: &output)
        output.append(contentsOf: " HTTP/1.1\r\nHost: ".utf8)
        target.write(into: &output)
        output.append(contentsOf: "\r\n".utf8)
        client?.writeFields(into: &output)
        credentials?.writeProxyAuthorization(into: &output)
        output.append(contentsOf: "\r\n".utf8)
    }

    /// Takes the next bytes of the proxy.
    public mutating func receive(_ input: Span<UInt8>) -> Step {
        var position = 0
        do throws(HTTPError) {
            while case .head = phase {
                guard let end = try reader.read(input.extracting(position..<input.count)) else { return .needsMore }
                position += end
                if reader.head.isInterim {
                    // 1xx announces the answer and is none (RFC 9110, section 15.2); 101 was not asked for.
                    reader.restart()
                } else if reader.head.isSuccess {
                    phase = .over
                    return .open(leftover: position..<input.count)
                } else {
                    phase = .page(reader.head.body(answeringHead: false))
                }
            }
        } catch {
            phase = .over
            return .failed(error)
        }
        return readPage(input.extracting(position..<input.count))
    }

    /// Takes the end of the connection, or of patience with a page that does not end.
    public mutating func end() -> Step? {
        guard case .page = phase else { return nil }
        return conclude(isReusable: false)
    }

    private mutating func readPage(_ input: Span<UInt8>) -> Step {
        guard case .page(var body) = phase else { return .needsMore }
        var position = 0
        do throws(HTTPError) {
            while position < input.count, !body.isComplete {
                let rest = input.extracting(position..<input.count)
                let piece = try body.take(rest)
                page.append(rest.extracting(piece.content))
                position += piece.end
            }
        } catch {
            return conclude(isReusable: false)
        }
        phase = .page(body)
        if body.isComplete { return conclude(isReusable: position == input.count) }
        drained += position
        let isChallenge = reader.head.status == 407 && reader.head.keepsAlive && body != .untilClose
        return (isChallenge ? drained > Self.longestDrain : page.isFull) ? conclude(isReusable: false) : .needsMore
    }

    private mutating func conclude(isReusable: Bool) -> Step {
        phase = .over
        let head = reader.head
        let text = page.text(of: head)
        guard head.status == 407 else { return .refused(status: head.status, text: text) }
        return .challenged(
            HTTPChallenge(head.challenges), text: text, isReusable: isReusable && head.keepsAlive)
    }
}
