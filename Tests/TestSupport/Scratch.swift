/// A directory of its own for each test, and files as the plainest functions see them.

import Glibc

/// A new directory under /tmp, removed with its files at the end of the test.
public struct Scratch: ~Copyable {
    public let directory: String

    public init() throws {
        var template = Array("/tmp/starship-test-XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else { throw ScratchError(number: errno) }
        directory = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit { Self.remove(directory) }

    /// The files of the directory, sorted.
    public var names: [String] { Self.names(directory) }

    public func path(_ name: String) -> String { "\(directory)/\(name)" }

    /// Removes a directory and its files.
    public static func remove(_ directory: String) {
        for name in names(directory) { unsafe unlink("\(directory)/\(name)") }
        unsafe rmdir(directory)
    }

    public static func names(_ directory: String) -> [String] {
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
    public static func put(_ bytes: [UInt8], _ path: String) throws {
        guard let file = unsafe fopen(path, "w") else { throw ScratchError(number: errno) }
        defer { unsafe fclose(file) }
        guard unsafe fwrite(bytes, 1, bytes.count, file) == bytes.count else { throw ScratchError(number: errno) }
    }

    /// All bytes of a file.
    public static func bytes(_ path: String) throws -> [UInt8] {
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

public struct ScratchError: Error {
    public let number: CInt
}
