/// A directory of its own for each test, and raw looks at pcap files.

import Glibc
import Testing

/// A new directory under /tmp, removed with its files at the end of the test.
struct Scratch: ~Copyable {
    let directory: String

    init() throws {
        var template = Array("/tmp/starship-capture-XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else { throw ScratchError(number: errno) }
        directory = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        for name in Self.names(directory) { unsafe unlink("\(directory)/\(name)") }
        unsafe rmdir(directory)
    }

    /// The files of the directory, sorted.
    var names: [String] { Self.names(directory) }

    func path(_ name: String) -> String { "\(directory)/\(name)" }

    /// All bytes of a file.
    static func bytes(_ path: String) throws -> [UInt8] {
        guard let file = unsafe fopen(path, "r") else { throw ScratchError(number: errno) }
        defer { unsafe fclose(file) }
        var bytes: [UInt8] = []
        while true {
            let octet = unsafe getc(file)
            if octet == EOF { return bytes }
            bytes.append(UInt8(octet))
        }
    }

    private static func names(_ directory: String) -> [String] {
        guard let handle = unsafe opendir(directory) else { return [] }
        defer { unsafe closedir(handle) }
        var names: [String] = []
        while let entry = unsafe readdir(handle) {
            let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names.sorted()
    }
}

struct ScratchError: Error {
    let number: CInt
}

extension [UInt8] {
    /// Four octets in the order of a little-endian machine, as the pcap files of this one have them.
    func word(at offset: Int) -> UInt32 {
        (0..<4).reduce(0) { $0 | UInt32(self[offset + $1]) << UInt32(8 * $1) }
    }

    /// The included and the original length of each record (draft-ietf-opsawg-pcap, section 5).
    var recordLengths: [[Int]] {
        var lengths: [[Int]] = []
        var offset = 24
        while offset + 16 <= count {
            lengths.append([Int(word(at: offset + 8)), Int(word(at: offset + 12))])
            offset += 16 + Int(word(at: offset + 8))
        }
        return lengths
    }
}
