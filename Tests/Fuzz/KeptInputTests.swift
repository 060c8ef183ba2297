/// Every seed, and everything that a fuzzer once found worth keeping, through the same functions without a fuzzer.
///
/// A claim that does not hold ends its process, so each target has one of its own.

import TestSupport
import Testing

/// The targets by the names of their files.
private let targets: [String: @Sendable ([UInt8]) -> Void] = [
    "api": fuzzAPI, "authority": fuzzAuthority, "capture-filter": fuzzCaptureFilter, "certificate": fuzzCertificate,
    "client-reply": fuzzClientReply, "configuration": fuzzConfiguration, "dhcp": fuzzDHCP, "dialogue": fuzzDialogue,
    "dns": fuzzDNS, "doctor": fuzzDoctor, "endpoint": fuzzEndpoint, "events": fuzzEvents, "fake-map": fuzzFakeMap,
    "http-reply": fuzzHTTPReply, "http-request": fuzzHTTPRequest, "inbound": fuzzInbound, "journal": fuzzJournal,
    "lab-state": fuzzLabState, "lease-file": fuzzLeaseFile, "link": fuzzLink, "netlink": fuzzNetlink,
    "packet": fuzzPacket, "page": fuzzPage, "page-answer": fuzzPageAnswer, "pages-list": fuzzPagesList,
    "peer-update": fuzzPeerUpdate, "push": fuzzPush, "report": fuzzReport, "resolver": fuzzResolver,
    "revision": fuzzRevision,
    "rule-list": fuzzRuleList, "saved-state": fuzzSavedState, "scan": fuzzScan, "sniffer": fuzzSniffer,
    "socks5": fuzzSOCKS5, "superpacket": fuzzSuperpacket, "system-verb": fuzzSystemVerb, "tcp": fuzzTCP,
    "tls": fuzzTLS, "tls-flight": fuzzTLSFlight,
]

@Suite struct KeptInputTests {
    @Test(arguments: targets.keys.sorted()) func kept(target: String) async throws {
        let inputs = try Kept.inputs(of: target)
        #expect(inputs.count >= 3, "a target without seeds or a corpus")
        await #expect(processExitsWith: .success, "scripts/fuzz \(target) begins with the same inputs") { [target] in
            guard let run = targets[target] else { preconditionFailure("no such target") }
            for input in try Kept.inputs(of: target) { run(input) }
        }
    }

    /// A target that nobody named here would be none of these tests.
    @Test func everyTargetIsNamed() throws {
        let files = try Kept.names(in: "").filter { $0.hasSuffix(".swift") && !$0.hasPrefix("KeptInput") }
        #expect(Set(files.map { String($0.dropLast(6)) }) == Set(targets.keys))
    }

    @Test func aLineOfACorpusIsOneInput() {
        #expect(Kept.unpacked(#"a\00\5cb\20"#) == [0x61, 0, 0x5c, 0x62, 0x20])
        #expect(Kept.unpacked("") == [])
    }
}
