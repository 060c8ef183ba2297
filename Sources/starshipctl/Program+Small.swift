/// Commands of a few lines: version, confirm, keygen, and what completion asks.

import Commands
import Control
import LinuxIO
import Profiles

extension Program {
    /// Both versions, as far as there is a daemon.
    func version() -> Int32 {
        let daemon = (try? found(.status))?["version"].text
        if invocation.isJSON {
            return print(
                JSON.members(["starshipctl": .string(ProgramVersion.text), "starshipd": daemon.map(JSON.string)]).text
                    + "\n")
        }
        return print(
            "starshipctl \(ProgramVersion.text)\n"
                + (daemon.map { "starshipd \($0), at \(client.socket)\n" } ?? "no daemon at \(client.socket)\n"))
    }

    /// Keeps what waits for it.
    func confirm() throws(Failure) -> Int32 {
        guard let revision = try found(.status)["pending"]["revision"].integer else {
            throw Failure("found nothing that waits for it; expected a push or a switch with --confirm")
        }
        return try show(try ask(.confirm(revision)), .confirmed)
    }

    /// Has the pages of a file tried; the first that answers is printed as the profile's setting.
    func choosePage(_ profile: String?, _ file: String) throws(Failure) -> Int32 {
        let octets: [UInt8]
        do throws(FileError) {
            octets = try SmallFile.read(file, limit: 65_536)
        } catch {
            throw Failure("\(error)")
        }
        let pages: [HealthOptions.Page]
        do throws(PageListError) {
            pages = try PageList.read(String(decoding: octets, as: UTF8.self))
        } catch {
            throw Failure("\(file): \(error)")
        }
        return try show(try ask(.probe(profile, pages: pages.map(\.line))), .pageChosen(pages))
    }

    /// Shows the certificate of a profile's proxy, once it is in the file that is wanted.
    func showAuthority(of profile: String, _ file: String?) throws(Failure) -> Int32 {
        let reply = try ask(.authority(profile))
        if let file {
            guard let text = Found(try value(of: reply))["pem"].raw else {
                throw Failure("\(client.socket): found an answer without a certificate; is this starshipd's socket?")
            }
            do throws(SystemCallError) {
                try SmallFile.replace(file, with: Array(text.utf8), mode: 0o644)
            } catch {
                throw Failure("\(error)")
            }
        }
        return try show(reply, .authority)
    }

    /// Makes a key in a new file; the key itself is never shown.
    func makeKey(_ file: String?) throws(Failure) -> Int32 {
        var random = SystemRandom()
        let octets = (0..<KeyFile.octets).map { _ in UInt8.random(in: 0...255, using: &random) }
        // The name is drawn apart: it must say nothing of the key.
        let path = file ?? KeyFile.name((0..<4).map { _ in UInt8.random(in: 0...255, using: &random) })
        guard let id = KeyFile.id(of: path) else { preconditionFailure("a key without an id") }
        do throws(SystemCallError) {
            try SmallFile.create(path, with: Array(KeyFile.text(octets).utf8), mode: 0o600)
        } catch {
            guard error.errno == .fileExists else { throw Failure("\(error)") }
            throw Failure("\(path): found a file; expected a new name: a key is never overwritten")
        }
        let whole = SmallFile.wholePath(path)
        if invocation.isJSON {
            return print(JSON.members(["id": .string(id), "file": .string(whole)]).text + "\n")
        }
        return print("key \(id), in \(whole) (mode 0600)\n\(KeyFile.line(id: id, file: whole))\n")
    }

    /// Whether a shell can't take a word for anything but a word: bash expands what it is told to offer.
    private static func isPlain(_ word: String) -> Bool {
        word.utf8.allSatisfy { octet in
            0x61...0x7a ~= octet | 0x20 || 0x30...0x3a ~= octet
                || [0x2d, 0x2e, 0x40, 0x5f].contains(octet)
        }
    }

    /// One word a line; without a daemon none, and no complaint in the middle of somebody's typing.
    func offer(_ kind: Candidates) -> Int32 {
        let words: [String]
        switch kind {
        case .profiles: words = ((try? found(.profiles))?["profiles"].elements ?? []).compactMap { $0["id"].text }
        case .devices: words = ((try? found(.devices))?["devices"].elements ?? []).compactMap { $0["id"].text }
        case .none, .files, .words: words = []
        }
        return print(words.filter(Self.isPlain).map { $0 + "\n" }.joined())
    }
}
