/// A directory of its own for each test.

import Glibc

/// A new directory under /tmp, removed with its files at the end of the test.
struct Scratch: ~Copyable {
    let directory: String

    init() throws {
        var template = Array("/tmp/starship-names-XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else { throw ScratchError(number: errno) }
        directory = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { Self.remove(directory) }

    /// Removes a directory and its files.
    static func remove(_ directory: String) {
        if let handle = unsafe opendir(directory) {
            while let entry = unsafe readdir(handle) {
                let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                    unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
                }
                unsafe unlink("\(directory)/\(name)")
            }
            unsafe closedir(handle)
        }
        unsafe rmdir(directory)
    }

    /// Puts bytes into a file, the plain way.
    static func put(_ bytes: [UInt8], _ path: String) throws {
        guard let file = unsafe fopen(path, "w") else { throw ScratchError(number: errno) }
        defer { unsafe fclose(file) }
        guard unsafe fwrite(bytes, 1, bytes.count, file) == bytes.count else { throw ScratchError(number: errno) }
    }

    /// All bytes of a file.
    static func bytes(_ path: String) throws -> [UInt8] {
        guard let file = unsafe fopen(path, "r") else { throw ScratchError(number: errno) }
        defer { unsafe fclose(file) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = unsafe fread(&piece, 1, piece.count, file)
            if count == 0 { return bytes }
            bytes += piece.prefix(count)
        }
    }
}

struct ScratchError: Error {
    let number: CInt
}
