/// Users and groups, beside what id(1) and getent(1) say.

import Glibc
import LinuxIO
import TestSupport
import Testing

@Suite struct UserNameTests {
    @Test func usersHaveTheNamesThatIdSays() throws {
        #expect(UserName.of(uid: 0) == "root")
        let own = try Command.run(["id", "-un"], in: "/tmp")
        #expect(UserName.of(uid: getuid()).map { "\($0)\n" } == String(decoding: own.output, as: UTF8.self))
    }

    @Test func groupsHaveTheNumbersThatGetentSays() throws {
        #expect(GroupName.id(of: "root") == 0)
        let daemon = try Command.run(["getent", "group", "daemon"], in: "/tmp")
        let fields = String(decoding: daemon.output, as: UTF8.self).split(separator: ":")
        try #require(fields.count >= 3)
        #expect(GroupName.id(of: "daemon").map(String.init) == String(fields[2]))
    }

    @Test func whatNobodyHasIsNil() {
        #expect(UserName.of(uid: 4_000_123_456) == nil)
        #expect(GroupName.id(of: "no-such-group") == nil)
        #expect(GroupName.id(of: "") == nil)
    }
}
