/// Verbs and their outcomes as messages between the daemon and its companion.

import Bytes
import LinuxIO

extension SystemVerb {
    private enum Code {
        static let batch: UInt8 = 1
        static let load: UInt8 = 2
        static let list: UInt8 = 3
        static let legacy: UInt8 = 4
        static let connections: UInt8 = 5
        static let setting: UInt8 = 6
    }

    var message: [UInt8] {
        var message = SystemMessage()
        switch self {
        case .batch(let lines, let isIPv4, let isForced):
            message.add(Code.batch)
            message.add(isIPv4)
            message.add(isForced)
            for line in lines { message.add(line) }
        case .load(let text):
            message.add(Code.load)
            message.add(text)
        case .list(let part, let withElements):
            message.add(Code.list)
            message.add(part.rawValue)
            message.add(withElements)
        case .legacy(let tool):
            message.add(Code.legacy)
            message.add(tool.rawValue)
        case .connections: message.add(Code.connections)
        case .setting(let name, let value):
            message.add(Code.setting)
            message.add(name)
            message.add(value)
        }
        return message.bytes
    }

    /// Reads a message to its last octet; nil where it is none of ours.
    init?(reading bytes: [UInt8]) {
        var message = SystemMessageReader(bytes)
        switch message.octet() {
        case Code.batch:
            guard let isIPv4 = message.flag(), let isForced = message.flag() else { return nil }
            var lines: [String] = []
            while !message.isAtEnd {
                guard let line = message.text() else { return nil }
                lines.append(line)
            }
            self = .batch(lines, isIPv4: isIPv4, isForced: isForced)
        case Code.load:
            guard let text = message.text() else { return nil }
            self = .load(text)
        case Code.list:
            guard let part = message.octet().flatMap(ListedPart.init), let withElements = message.flag() else {
                return nil
            }
            self = .list(part, withElements: withElements)
        case Code.legacy:
            guard let tool = message.text().flatMap(LegacyTool.init) else { return nil }
            self = .legacy(tool)
        case Code.connections: self = .connections
        case Code.setting:
            guard let name = message.text(), let value = message.text() else { return nil }
            self = .setting(name, value: value)
        default: return nil
        }
        guard message.isAtEnd else { return nil }
    }
}

/// How a verb ended.
enum SystemAnswer {
    private static let done: UInt8 = 0
    private static let failed: UInt8 = 1

    static func message(_ outcome: Tool.Outcome) -> [UInt8] {
        var message = SystemMessage()
        message.add(done)
        message.add(UInt32(clamping: outcome.status))
        message.add(outcome.output)
        message.add(outcome.errors)
        return message.bytes
    }

    static func message(_ error: SystemCallError) -> [UInt8] {
        var message = SystemMessage()
        message.add(failed)
        message.add(UInt32(clamping: error.errno.rawValue))
        message.add(error.call)
        if let subject = error.subject { message.add(subject) }
        return message.bytes
    }

    /// Reads what came back.
    static func read(_ bytes: [UInt8]) throws(SystemCallError) -> Tool.Outcome {
        var message = SystemMessageReader(bytes)
        let kind = message.octet()
        if let number = message.number() {
            if kind == done, let output = message.text(), let errors = message.text(), message.isAtEnd {
                return Tool.Outcome(status: Int(number), output: output, errors: errors)
            }
            if kind == failed, let call = message.text() {
                throw SystemCallError(call, message.text(), errno: ErrorNumber(rawValue: CInt(clamping: number)))
            }
        }
        throw SystemCallError("ask the companion", errno: .invalidArgument)
    }
}

/// Octets, numbers in network order, and texts behind their lengths.
private struct SystemMessage {
    private(set) var bytes: [UInt8] = []

    mutating func add(_ octet: UInt8) { bytes.append(octet) }

    mutating func add(_ flag: Bool) { bytes.append(flag ? 1 : 0) }

    mutating func add(_ number: UInt32) {
        for shift in [24, 16, 8, 0] { bytes.append(UInt8(truncatingIfNeeded: number >> shift)) }
    }

    mutating func add(_ text: String) {
        add(UInt32(text.utf8.count))
        bytes += text.utf8
    }
}

/// The same, read; nil wherever something is missing.
private struct SystemMessageReader {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { position == bytes.count }

    mutating func octet() -> UInt8? {
        guard position < bytes.count else { return nil }
        defer { position += 1 }
        return bytes[position]
    }

    mutating func flag() -> Bool? {
        switch octet() {
        case 0: false
        case 1: true
        default: nil
        }
    }

    mutating func number() -> UInt32? {
        guard bytes.count - position >= 4 else { return nil }
        defer { position += 4 }
        return bytes[position..<position + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }

    mutating func text() -> String? {
        guard let length = number(), Int(length) <= bytes.count - position else { return nil }
        defer { position += Int(length) }
        return String(decoding: bytes[position..<position + Int(length)], as: UTF8.self)
    }
}
