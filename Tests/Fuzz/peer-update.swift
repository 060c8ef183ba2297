/// Any bytes as what another gateway tells: what is read is written the same, and laid over a state it makes one that
/// is told again without anything new in it.

import Devices
import Profiles

func fuzzPeerUpdate(_ bytes: [UInt8]) {
    guard let update = try? SharedUpdate.parse(bytes.span) else { return }
    let written = [UInt8](update.json.text.utf8)
    precondition((try? SharedUpdate.parse(written.span)) == update, "what is written is read as another update")
    let now: Int64 = 1_798_700_000_000
    let merge = LabState().merging(update.lab, at: "here", now: now) { _, _ in nil }
    let state = merge.state.restamped(
        since: LabState(), by: "here", at: now, heard: merge.state, received: merge.taken)
    let again = state.merging(update.lab, at: "here", now: now) { _, _ in nil }
    precondition(again.state.assignments == state.assignments && again.state.active == state.active, "it changes twice")
    let kept = [UInt8](state.json.text.utf8)
    precondition((try? LabState.parse(kept.span)) == state, "a state that the store can't keep")
    _ = update.lab.units
    _ = state.words(for: state.sharedItems) { "\($0)" }
}
