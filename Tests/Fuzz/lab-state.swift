/// Any bytes as what the store keeps, and as the bodies that the control API takes: whatever is read is written the
/// same.

import Devices
import Profiles

func fuzzLabState(_ bytes: [UInt8]) {
    if let state = try? LabState.parse(bytes.span) {
        let written = [UInt8](state.json.text.utf8)
        precondition((try? LabState.parse(written.span)) == state, "what is written is read as another state")
        lay(state)
    }
    if let overlay = try? Overlay.parse(bytes.span) {
        let written = [UInt8](overlay.laid(over: LabState()).overlay.text.utf8)
        precondition((try? Overlay.parse(written.span)) != nil, "an overlay that can't be read again")
    }
    if let profile = try? Profile.parse(bytes.span, id: nil) {
        let written = [UInt8](profile.json.text.utf8)
        precondition((try? Profile.parse(written.span, id: profile.id)) == profile, "another profile")
    }
}

/// Over any file the state is laid whole, or as far as it fits.
private func lay(_ state: LabState) {
    let file = Configuration(profiles: [
        Profile(id: "file", name: "file", upstream: Upstream(type: .direct, server: nil))
    ])
    guard let (effective, resolved) = try? EffectiveConfiguration.fitting(file: file, lab: state) else {
        preconditionFailure("what the lab has stored keeps the gateway from starting")
    }
    for profile in effective.configuration.profiles { _ = resolved.rules(of: profile.id) }
    precondition(effective.configuration.profile(effective.configuration.active) != nil, "no profile is active")
}
