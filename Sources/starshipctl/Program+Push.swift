/// Pushing a document: from a file, standard input, or the web.

import Addresses
import Bytes
import Commands
import Control
import LinuxIO
import Profiles

extension Program {
    /// The longest document, which is the longest that JSON5Reader reads.
    private static let limit = JSON5Reader.sizeLimit

    /// Reads a document, says what it is, and hands it to the daemon.
    func push(_ document: Document, confirm: Int?) throws(Failure) -> Int32 {
        let (octets, place) = try read(document)
        let kind: PushDocument
        do throws(PushDocumentError) {
            kind = try PushDocument.kind(of: octets)
        } catch {
            throw Failure("\(place): \(error)")
        }
        if !invocation.isJSON { print(kind.announcement(from: place) + "\n") }
        var id: String?
        if case .profile(let name) = kind { id = name }
        return try show(try ask(.push(profile: id, octets, confirm: confirm), about: place), .pushed)
    }

    private func read(_ document: Document) throws(Failure) -> (octets: [UInt8], place: String) {
        switch document {
        case .standardInput:
            guard let octets = Terminal.readAll(limit: Self.limit) else {
                throw Failure("standard input: found more than \(Self.limit >> 10) KiB; expected a configuration")
            }
            return (octets, "standard input")
        case .file(let path):
            do throws(FileError) {
                return (try SmallFile.read(path, limit: Self.limit), path)
            } catch {
                throw Failure("\(error)")
            }
        case .web(let address):
            return (try fetch(address), address.shown)
        }
    }

    /// Fetches a document past the tunnel: by the resolvers and with the mark that the daemon names.
    private func fetch(_ address: WebAddress) throws(Failure) -> [UInt8] {
        let status = try found(.status)
        var fetch = Fetch(address, limit: Self.limit)
        fetch.resolvers = status["resolvers"].elements.compactMap { $0.raw.flatMap(Fetch.resolver) }
        if let mark = status["mark"].integer.flatMap(UInt32.init(exactly:)), Socket.mayMark() { fetch.mark = mark }
        do throws(FetchError) {
            return try fetch.run()
        } catch {
            throw Failure("\(address.shown): \(error)")
        }
    }
}
