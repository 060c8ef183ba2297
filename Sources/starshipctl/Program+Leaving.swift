/// What devices have to undo before the gateway is removed.

import Commands
import Control
import Profiles

extension Program {
    /// Lists them with their steps; with `--json` it is the daemon's list of all devices.
    func showLeaving() throws(Failure) -> Int32 {
        let reply = try ask(.devices)
        if invocation.isJSON { return try show(reply, .devices) }
        let leaving = LeavingText(Found(try value(of: reply)), style: style, moment: moment)
        var kinds: [String: [Upstream.Kind]] = [:]
        // A profile that is gone meanwhile says nothing of its proxy.
        for id in leaving.profiles { kinds[id] = (try? self.kinds(of: id)) ?? [] }
        return print(leaving.text(kinds: kinds))
    }

    /// What a profile's proxies are: one, or those of a group's members.
    private func kinds(of profile: String) throws(Failure) -> [Upstream.Kind] {
        let upstream = try found(APIRequest("GET", ["profiles", profile]))["upstream"]
        var found: [String?] = [upstream["kind"].text]
        for member in upstream["members"].texts {
            found.append(try self.found(APIRequest("GET", ["profiles", member]))["upstream"]["kind"].text)
        }
        return found.compactMap { $0.flatMap(Upstream.Kind.init) }
    }
}
