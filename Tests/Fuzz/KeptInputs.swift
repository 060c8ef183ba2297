/// Where the inputs of the targets are, and how they are written.

import Foundation
import TestSupport

enum Kept {
    private static let here = URL(filePath: #filePath).deletingLastPathComponent()

    /// What stands in a folder beside this file.
    static func names(in folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: here.appending(path: folder).path()).sorted()
    }

    /// What a target begins with, as scripts/fuzz plants it: seeds, the examples of configurations, the kept corpus.
    static func inputs(of target: String) throws -> [[UInt8]] {
        var inputs: [[UInt8]] = []
        for name in try names(in: "Seeds") where name.hasPrefix("\(target).") {
            let octets = try read("Seeds/\(name)")
            // One packet a line.
            inputs += name.hasSuffix(".hex") ? octets.split(separator: 0x0a).map { hex(text($0)) } : [octets]
        }
        if target == "configuration" {
            for name in try names(in: "../../Configs") where name.hasSuffix(".json5") {
                inputs.append(try read("../../Configs/\(name)"))
            }
        }
        if try names(in: "Corpus").contains(target) {
            inputs += try read("Corpus/\(target)").split(separator: 0x0a).map { unpacked(text($0)) }
        }
        return inputs
    }

    /// One line of a corpus: `\xx` is an octet by its hexadecimal digits, everything else itself.
    static func unpacked(_ line: String) -> [UInt8] {
        var octets: [UInt8] = []
        var rest = Array(line.utf8)[...]
        while let octet = rest.popFirst() {
            guard octet == UInt8(ascii: "\\") else {
                octets.append(octet)
                continue
            }
            guard let value = UInt8(text(rest.prefix(2)), radix: 16) else { preconditionFailure("no such line") }
            octets.append(value)
            rest = rest.dropFirst(2)
        }
        return octets
    }

    private static func read(_ path: String) throws -> [UInt8] {
        Array(try Data(contentsOf: here.appending(path: path)))
    }

    private static func text(_ octets: ArraySlice<UInt8>) -> String { String(decoding: octets, as: UTF8.self) }
}
