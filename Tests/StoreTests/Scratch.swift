/// A directory of its own for each test.

import Glibc

/// A new directory under /tmp, removed with its files at the end of the test.
struct Scratch: ~Copyable {
    let directory: String

    init() throws {
        var template = Array("/tmp/starship-store-XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else { throw ScratchError(number: errno) }
        directory = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        for name in Self.names(directory) { unsafe unlink("\(directory)/\(name)") }
        unsafe rmdir(directory)
    }

    /// The files of the directory, sorted.
    var names: [String] { Self.names(directory) }

    static func names(_ directory: String) -> [String] {
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

    /// Puts bytes into a file, the plain way.
    static func put(_ bytes: [UInt8], _ path: String) throws {
        guard let file = unsafe fopen(path, "w") else { throw ScratchError(number: errno) }
        defer { unsafe fclose(file) }
        guard unsafe fwrite(bytes, 1, bytes.count, file) == bytes.count else { throw ScratchError(number: errno) }
    }
}

struct ScratchError: Error {
    let number: CInt
}
