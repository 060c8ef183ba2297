/// What a peer answers to what it was told, and why it may not count.

import Control
import Profiles

/// Why a peer has not taken what it was told.
enum PeerError: Error, CustomStringConvertible {
    case exchange(ExchangeError)
    case refused(status: Int, String)
    case unsigned
    case unreadable

    var description: String {
        switch self {
        case .exchange(let error): "\(error)"
        case .refused(let status, let words): "found status \(status): \(words)"
        case .unsigned: "found an answer that is not signed with its key; expected one by the gateway of this name"
        case .unreadable: "found an answer that can't be read; is it of another version?"
        }
    }
}

/// What a peer says to what it was told.
struct PeerAnswer {
    var life: Int64
    var refused: [String]

    init(
        _ reply: Result<ControlReply, ExchangeError>, to request: PushSignature, _ keys: [LinkKey], _ peer: PeerOptions
    ) throws(PeerError) {
        let reply = try Self.received(reply)
        let body = reply.body
        let isSigned =
            keys.first { $0.id == peer.key }.map { key in
                SignedAnswer(status: reply.status).isSigned(
                    reply.signature, to: request, by: key, gateway: peer.id, body: body.span)
            } ?? false
        guard reply.isSuccess else { throw .refused(status: reply.status, Self.words(body)) }
        guard isSigned else { throw .unsigned }
        guard let value = try? JSON5Reader.read(body.span), case .object(let members) = value.content,
            case .number(let life)? = members.first(where: { $0.key == "life" })?.value.content,
            let number = life.integer
        else { throw .unreadable }
        self.life = Int64(number)
        refused = []
        guard case .array(let list)? = members.first(where: { $0.key == "refused" })?.value.content else { return }
        refused = list.compactMap { element in
            if case .string(let text) = element.content { Self.plain(text) } else { nil }
        }
    }

    private static func received(_ reply: Result<ControlReply, ExchangeError>) throws(PeerError) -> ControlReply {
        switch reply {
        case .success(let reply): return reply
        case .failure(let error): throw .exchange(error)
        }
    }

    /// The message of a refusal; whoever has answered may have written it.
    private static func words(_ body: [UInt8]) -> String {
        guard let value = try? JSON5Reader.read(body.span), case .object(let members) = value.content,
            case .object(let error)? = members.first(where: { $0.key == "error" })?.value.content,
            case .string(let text)? = error.first(where: { $0.key == "message" })?.value.content
        else { return "no reason" }
        return plain(text)
    }

    private static func plain(_ text: String) -> String {
        String(text.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7f }.prefix(240).map(Character.init))
    }
}
