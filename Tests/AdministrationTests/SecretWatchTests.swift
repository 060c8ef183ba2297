/// Files with secrets that change while the gateway runs.

import Bytes
import Foundation
import Profiles
import TestSupport
import Testing

@testable import Administration

struct SecretWatchTests {
    private func at(_ seconds: Int64) -> Instant { Instant(nanoseconds: 0) + .seconds(seconds) }

    @Test("a file that is written to or replaced is noticed once, within seconds")
    func notices() throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let file = directory.appending(path: "pw")
        try Data("one".utf8).write(to: file)
        let text = """
            { profiles: [{ id: "a",
                upstream: { type: "http", host: "192.0.2.1", port: 8080, user: "qa", passwordFile: "\(file.path)" } }] }
            """
        let configuration = try Configuration.parse(Array(text.utf8))
        var watch = SecretWatch()
        func look(_ second: Int64) -> Bool { watch.look(at: configuration, besides: "/etc/x", now: at(second)) }
        let found = [look(0), look(6)]
        #expect(found == [false, false])
        try Data("second".utf8).write(to: file)
        let written = [look(7), look(12), look(18)]
        #expect(written == [false, true, false], "at 7 s it is not yet time to look")
        try Data("third!".utf8).write(to: file, options: .atomic)
        let replaced = [look(24), look(30)]
        #expect(replaced == [true, false])
        try FileManager.default.removeItem(at: file)
        let gone = look(36)
        #expect(!gone, "what is gone is told by the next reload")
    }

    @Test("without such files nobody wakes up")
    func none() throws {
        let configuration = try Configuration.parse(
            Array(#"{ profiles: [{ id: "a", upstream: { type: "direct" } }] }"#.utf8))
        var watch = SecretWatch()
        let found = watch.look(at: configuration, besides: "/etc/x", now: at(1))
        #expect(!found && watch.dueAt == .never)
        watch.lookSoon()
        #expect(watch.dueAt < at(1))
    }
}
