/// Any bytes as the file that says what was there before us, and as a plan's lines: what is read is written the same.

@testable import Network

func fuzzSavedState(_ bytes: [UInt8]) {
    let text = String(decoding: bytes, as: UTF8.self)
    do throws(NetworkError) {
        let state = try SavedState(parsing: text, path: "x")
        precondition((try? SavedState(parsing: state.text, path: "x")) == state, "written and read as another state")
        for setting in state.settings {
            let isOurs = setting.name.hasPrefix("net/ipv4/") || setting.name.hasPrefix("net/ipv6/")
            precondition(isOurs, "a setting of something else")
            precondition(!setting.name.contains("/../") && !setting.name.hasSuffix("/.."), "a way out of /proc/sys")
        }
    } catch {
        guard case .savedState(_, let line) = error else { preconditionFailure("another error") }
        precondition(line >= 1 && line <= bytes.count + 1, "a refusal without a place")
    }
    let lines = text.split(separator: "\n").map(String.init)
    if let plan = NetworkPlan(lines: lines) {
        guard let again = NetworkPlan(lines: plan.lines) else { preconditionFailure("a plan that cannot be read") }
        precondition(again.lines == plan.lines, "written and read as another plan")
    }
    _ = StandingConnections(reading: text).sets
}
