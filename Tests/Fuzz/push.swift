/// Any bytes as a signed request of another machine: only what our key has signed is taken, once, whatever the headers
/// say. Headers stand in lines of their own, the body behind them.

import Bytes
import Profiles

private let clock = LinkVerifier.Clock(now: UnixTime(seconds: 1_798_700_000), isSynchronised: true)

func fuzzPush(_ bytes: [UInt8]) {
    let lines = bytes.split(separator: 0x0a, maxSplits: 7, omittingEmptySubsequences: false).map {
        String(decoding: $0, as: UTF8.self)
    }
    guard lines.count == 8 else { return }
    let body = Array(lines[7].utf8)
    let request = SignedRequest(method: lines[0], path: lines[1], query: lines[2], host: lines[3])
    let headers = PushSignature(key: lines[4], time: lines[5], nonce: lines[6], signature: String(lines[0].prefix(43)))
    let secret = Array("a key of the lab only".utf8)
    guard let key = try? LinkKey(id: "beetle", secret: secret, scope: [.push]) else { preconditionFailure("no key") }
    var verifier = PushVerifier(keys: [key], gateway: "lab-3", built: 0, started: 0)
    precondition(!takes(&verifier, request, headers, body), "a request that nobody signed is taken")
    let letters = lines[6].unicodeScalars.filter { $0.isASCII && $0.properties.isAlphabetic }
    let nonce = String(letters.prefix(40).map(Character.init))
    guard nonce.utf8.count >= 16 else { return }
    let signed = request.signed(by: key, gateway: "lab-3", at: clock.now, nonce: nonce, body: body.span)
    let isOneLine = !lines[..<4].joined().unicodeScalars.contains { $0.properties.generalCategory == .control }
    let isTaken = takes(&verifier, request, signed, body)
    precondition(isTaken == isOneLine, isTaken ? "a text of several lines is taken" : "our own signature is refused")
    precondition(!takes(&verifier, request, signed, body), "it is taken twice")
    precondition(!takes(&verifier, request, signed, body + [0]), "another body is taken")
}

/// Whether a request is let in; a refusal is one short line.
private func takes(
    _ verifier: inout PushVerifier, _ request: SignedRequest, _ headers: PushSignature, _ body: [UInt8]
) -> Bool {
    do throws(PushError) {
        return try verifier.verify(request, headers, body: body.span, at: clock).id == "beetle"
    } catch {
        let words = "\(error)"
        precondition(!words.isEmpty && words.utf8.count < 1000, "a refusal of no length, or without end")
        return false
    }
}
