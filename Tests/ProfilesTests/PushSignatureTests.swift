/// Signed requests: against the vectors and openssl, bit by bit, and in time (B212).

import Bytes
import Foundation
import Profiles
import TestSupport
import Testing

struct PushVectors: Decodable {
    struct Key: Decodable {
        let id: String
        let hex: String
    }

    struct Request: Decodable {
        let what: String
        var method: String
        var path: String
        var query: String
        var host: String
        var time: String
        var nonce: String
        var body: String
        let message: String
        var signature: String

        var signed: SignedRequest { SignedRequest(method: method, path: path, query: query, host: host) }
    }

    struct Answer: Decodable {
        let what: String
        let nonce: String
        let time: String
        let status: Int
        let body: String
        let message: String
        let signature: String
    }

    struct Refused: Decodable {
        let what: String
        let request: Int
        let error: String
        let method: String?
        let path: String?
        let query: String?
        let host: String?
        let key: String?
        let time: String?
        let nonce: String?
        let body: String?
        let signature: String?
    }

    let key: Key
    let gateway: String
    let now: Int64
    let requests: [Request]
    let answers: [Answer]
    let refused: [Refused]

    static func read() throws -> PushVectors {
        try JSONDecoder().decode(PushVectors.self, from: Data(example("links/push-vectors.json").utf8))
    }

    func linkKey(
        scope: Set<LinkKey.Scope> = [.push], until: Int64? = nil
    ) throws -> LinkKey {
        let digits = Array(key.hex.utf8)
        return try LinkKey(id: key.id, secret: try LinkKey.secret(file: digits.span), scope: scope, until: until)
    }

    func verifier(_ key: LinkKey? = nil, started: Int64? = nil) throws -> PushVerifier {
        PushVerifier(
            keys: [try key ?? linkKey()], gateway: gateway, built: now - 1_000_000, started: started ?? now - 1000)
    }

    func clock(_ offset: Int64 = 0) -> LinkVerifier.Clock {
        LinkVerifier.Clock(now: UnixTime(seconds: now + offset), isSynchronised: true)
    }

    func signature(of request: Request) -> PushSignature {
        PushSignature(key: key.id, time: request.time, nonce: request.nonce, signature: request.signature)
    }
}

extension PushVerifier {
    /// Why a request is refused; nil: it is not.
    mutating func refusal(
        _ request: SignedRequest, _ signature: PushSignature, body: String, at clock: LinkVerifier.Clock
    ) -> PushError? {
        let bytes = Array(body.utf8)
        do throws(PushError) {
            _ = try verify(request, signature, body: bytes.span, at: clock)
            return nil
        } catch {
            return error
        }
    }
}

struct PushSignatureTests {
    let vectors: PushVectors

    init() throws { vectors = try PushVectors.read() }

    @Test("openssl signs the messages of the vectors as they say")
    func openssl() throws {
        let scratch = try Scratch()
        let signed =
            vectors.requests.map { ($0.message, $0.signature) } + vectors.answers.map { ($0.message, $0.signature) }
        for (message, signature) in signed {
            let result = try Command.run(
                ["openssl", "dgst", "-sha256", "-mac", "HMAC", "-macopt", "hexkey:\(vectors.key.hex)", "-binary"],
                in: scratch.directory, input: Array(message.utf8))
            let text = Data(result.output).base64EncodedString()
            let urlSafe = text.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
            #expect(urlSafe == signature, "\(message): \(result.errors)")
        }
    }

    @Test("requests and answers are put together, signed and checked as the vectors are")
    func agreed() throws {
        let key = try vectors.linkKey()
        var verifier = try vectors.verifier()
        for request in vectors.requests {
            let body = Array(request.body.utf8)
            let message = request.signed.message(
                gateway: vectors.gateway, key: key.id, time: request.time, nonce: request.nonce, body: body.span)
            #expect(message == Array(request.message.utf8), "\(request.what)")
            let time = UnixTime(seconds: try #require(Int64(request.time)))
            let signature = request.signed.signed(
                by: key, gateway: vectors.gateway, at: time, nonce: request.nonce, body: body.span)
            #expect(signature == vectors.signature(of: request), "\(request.what)")
            #expect(verifier.refusal(request.signed, signature, body: request.body, at: vectors.clock()) == nil)
        }
        for answer in vectors.answers {
            let body = Array(answer.body.utf8)
            let request = PushSignature(key: key.id, time: answer.time, nonce: answer.nonce, signature: "")
            let signed = SignedAnswer(status: answer.status)
            let message = signed.message(to: request, gateway: vectors.gateway, body: body.span)
            #expect(message == Array(answer.message.utf8), "\(answer.what)")
            let signature = signed.signature(to: request, by: key, gateway: vectors.gateway, body: body.span)
            #expect(signature == answer.signature, "\(answer.what)")
            let isOurs = signed.isSigned(signature, to: request, by: key, gateway: vectors.gateway, body: body.span)
            #expect(isOurs)
            let isOther = SignedAnswer(status: 200).isSigned(
                signature, to: request, by: key, gateway: vectors.gateway, body: body.span)
            #expect(!isOther)
        }
    }

    @Test("every refused vector is refused for its reason")
    func refused() throws {
        for row in vectors.refused {
            var request = vectors.requests[row.request]
            request.method = row.method ?? request.method
            request.path = row.path ?? request.path
            request.query = row.query ?? request.query
            request.host = row.host ?? request.host
            request.time = row.time ?? request.time
            request.nonce = row.nonce ?? request.nonce
            request.body = row.body ?? request.body
            request.signature = row.signature ?? request.signature
            var signature = vectors.signature(of: request)
            signature.key = row.key ?? signature.key
            var verifier = try vectors.verifier()
            let error = verifier.refusal(request.signed, signature, body: request.body, at: vectors.clock())
            #expect(error?.code == row.error, "\(row.what)")
        }
    }

    @Test("any changed bit is refused")
    func bits() throws {
        let request = vectors.requests[0]
        let signature = vectors.signature(of: request)
        var verifier = try vectors.verifier()
        let parts = [
            request.method, request.path, request.query, request.host, signature.key, signature.time, signature.nonce,
            signature.signature, request.body,
        ]
        var count = 0
        for (place, part) in parts.enumerated() {
            for index in 0..<(part.utf8.count * 8) {
                var bytes = Array(part.utf8)
                bytes[index / 8] ^= 1 << UInt8(index % 8)
                guard let text = String(validating: bytes, as: UTF8.self) else { continue }
                var changed = parts
                changed[place] = text
                let error = verifier.refusal(
                    SignedRequest(method: changed[0], path: changed[1], query: changed[2], host: changed[3]),
                    PushSignature(key: changed[4], time: changed[5], nonce: changed[6], signature: changed[7]),
                    body: changed[8], at: vectors.clock())
                #expect(error != nil, "bit \(index) of \(part)")
                count += 1
            }
        }
        #expect(count > 1300)
        // None of them has used the nonce up.
        #expect(verifier.refusal(request.signed, signature, body: request.body, at: vectors.clock()) == nil)
    }

    @Test("another gateway with the same key refuses it")
    func otherGateway() throws {
        let request = vectors.requests[0]
        var other = PushVerifier(keys: [try vectors.linkKey()], gateway: "lab-4", built: 0, started: 0)
        let error = other.refusal(
            request.signed, vectors.signature(of: request), body: request.body, at: vectors.clock())
        #expect(error == .wrongSignature)
    }

    @Test("texts that run into each other are other texts")
    func boundaries() {
        let none: [UInt8] = []
        let left = SignedRequest(method: "GET", path: "/a", query: "", host: "b\nc")
        let right = SignedRequest(method: "GET", path: "/a", query: "\nb", host: "c")
        var verifier = PushVerifier(keys: [], gateway: "g", built: 0, started: 0)
        // Both would be signed alike, and neither can have come by HTTP.
        for request in [left, right] {
            let signature = PushSignature(
                key: "k", time: "1", nonce: "0123456789abcdef", signature: String(repeating: "A", count: 43))
            #expect(verifier.refusal(request, signature, body: "", at: vectors.clock()) == .wrongSignature)
        }
        let texts = [left, right].map {
            $0.message(gateway: "g", key: "k", time: "1", nonce: "0123456789abcdef", body: none.span)
        }
        #expect(texts[0].count == texts[1].count)
    }
}

struct PushTimeTests {
    let vectors: PushVectors
    let request: SignedRequest

    init() throws {
        vectors = try PushVectors.read()
        request = vectors.requests[1].signed
    }

    private func signature(_ key: LinkKey, at offset: Int64, nonce: String = "0123456789abcdef") -> PushSignature {
        let none: [UInt8] = []
        return request.signed(
            by: key, gateway: vectors.gateway, at: UnixTime(seconds: vectors.now + offset), nonce: nonce,
            body: none.span)
    }

    @Test("clocks may differ by 60 seconds, either way")
    func leeway() throws {
        let key = try vectors.linkKey()
        for (offset, isGood) in [(-61, false), (-60, true), (0, true), (60, true), (61, false)] as [(Int64, Bool)] {
            var verifier = try vectors.verifier()
            let error = verifier.refusal(request, signature(key, at: offset), body: "", at: vectors.clock())
            #expect((error == nil) == isGood && (error == nil || error?.code == "time"), "\(offset)")
        }
    }

    @Test("a request is taken once, as long as its time could be right")
    func replay() throws {
        let key = try vectors.linkKey()
        for offset in [-60, 0, 60] as [Int64] {
            var verifier = try vectors.verifier()
            let signed = signature(key, at: offset)
            let taken = verifier.refusal(request, signed, body: "", at: vectors.clock())
            #expect(taken == nil)
            for later in 0...240 as ClosedRange<Int64> {
                let error = verifier.refusal(request, signed, body: "", at: vectors.clock(later))
                #expect(error != nil, "\(later) s later")
            }
        }
    }

    @Test("the same nonce under another key is another one")
    func otherKey() throws {
        let key = try vectors.linkKey()
        let other = try LinkKey(id: "wasp", secret: [UInt8](repeating: 7, count: 32), scope: [.push])
        var verifier = try vectors.verifier()
        verifier.keys.append(other)
        #expect(verifier.refusal(request, signature(key, at: 0), body: "", at: vectors.clock()) == nil)
        #expect(verifier.refusal(request, signature(other, at: 0), body: "", at: vectors.clock()) == nil)
    }

    @Test("what was signed before the start is refused, because its nonce could have been used")
    func start() throws {
        let key = try vectors.linkKey()
        var verifier = try vectors.verifier(started: vectors.now - 10)
        let before = verifier.refusal(request, signature(key, at: -11), body: "", at: vectors.clock())
        #expect(before == .beforeStart)
        let after = verifier.refusal(request, signature(key, at: -10), body: "", at: vectors.clock())
        #expect(after == nil)
    }

    @Test("a key that is revoked, over or for links alone pushes nothing")
    func rights() throws {
        var revoked = try vectors.linkKey()
        revoked.isRevoked = true
        let rows: [(LinkKey, PushError?)] = [
            (revoked, .revokedKey), (try vectors.linkKey(until: vectors.now - 1), .expiredKey),
            (try vectors.linkKey(until: vectors.now), nil), (try vectors.linkKey(scope: [.links]), .scope),
            (try vectors.linkKey(scope: [.links, .push]), nil),
        ]
        for (key, expected) in rows {
            var verifier = try vectors.verifier(key)
            let error = verifier.refusal(request, signature(key, at: 0), body: "", at: vectors.clock())
            #expect(error == expected)
        }
    }

    @Test("with a clock that isn't set the clock is the reason")
    func clock() throws {
        let key = try vectors.linkKey()
        var clock = vectors.clock()
        clock.isSynchronised = false
        var verifier = try vectors.verifier()
        let unset = verifier.refusal(request, signature(key, at: 0), body: "", at: clock)
        #expect(unset?.code == "clock")
        let early = vectors.clock(-2_000_000)
        let old = verifier.refusal(request, signature(key, at: -2_000_000), body: "", at: early)
        #expect(old?.code == "clock")
    }

    @Test("the memory of nonces is bounded: what can't be remembered is not taken")
    func bounded() throws {
        let key = try vectors.linkKey()
        var verifier = try vectors.verifier()
        for number in 0..<PushVerifier.nonceLimit {
            let signed = signature(key, at: 0, nonce: "nonce-0123456789-\(number)")
            #expect(verifier.refusal(request, signed, body: "", at: vectors.clock()) == nil)
        }
        let more = verifier.refusal(request, signature(key, at: 0), body: "", at: vectors.clock())
        #expect(more == .busy)
        let first = signature(key, at: 0, nonce: "nonce-0123456789-0")
        #expect(verifier.refusal(request, first, body: "", at: vectors.clock()) == .replayed)
        let later = verifier.refusal(request, signature(key, at: 130), body: "", at: vectors.clock(121))
        #expect(later == nil)
    }

    @Test("no refusal shows a signature, and each is one line")
    func words() throws {
        let errors: [PushError] = [
            .header(PushSignature.timeName), .unknownKey, .revokedKey, .expiredKey, .wrongSignature, .scope,
            .clock(now: UnixTime(seconds: 0)), .time(given: UnixTime(seconds: 0), now: UnixTime(seconds: 9)),
            .beforeStart, .replayed, .busy,
        ]
        #expect(Set(errors.map(\.code)).count == errors.count)
        for error in errors {
            #expect(!error.description.contains("\n") && error.description.contains("; expected "))
        }
    }
}
