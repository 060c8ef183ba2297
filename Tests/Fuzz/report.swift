/// Any bytes as what goes into a bug report, as text and as a document: a secret is told nowhere, wherever it stood.
///
/// The first octet says where the secret stands in the bytes.

@testable import Doctor

private let secret = "correcthorsebattery"

func fuzzReport(_ input: [UInt8]) {
    guard let first = input.first else { return }
    var bytes = Array(input.dropFirst())
    bytes.insert(contentsOf: secret.utf8, at: Int(first) * bytes.count / 255)
    var report = BugReport()
    report.secrets = [secret]
    report.names = ["pixel-7"]
    report.add("tool", String(decoding: bytes, as: UTF8.self))
    report.add("file", document: bytes)
    let written = report.text
    // Octets, not characters: an accent behind a secret makes another character of its last letter.
    precondition(written.utf8.split(separator: secret.utf8, maxSplits: 1).count == 1, "a secret is told")
    precondition(written.hasPrefix("== tool ==\n"), "a section without its head")
    precondition(written.utf8.count < 16 * bytes.count + 256, "more is told than there was")
}
